"""A stage uses a window function over an input of which it reads only what is new, so a window sees
only the new rows."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.nearby import part_read
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.WARNING)
def window_over_parts(near: Neighbourhood) -> Iterator[Wrong]:
    facts = near.facts
    if facts is None or not facts.windows:
        return
    dataset = part_read(near)
    if dataset is not None and near.stage.options.get("partial") != "ok":
        yield Wrong(
            near.stage,
            f"Stage {near.stage_id} uses a window over '{dataset.dataset_id}', of which it"
            " reads only what is new.",
            "Read everything (options.read: all) if the window needs older rows;"
            " options.partial: ok says that it does not.",
        )
