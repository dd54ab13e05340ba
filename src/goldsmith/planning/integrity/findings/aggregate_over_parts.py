"""A stage counts, groups or takes DISTINCT over an input of which it reads only what is new, so its
totals would be totals of a part."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.nearby import part_read
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def aggregate_over_parts(near: Neighbourhood) -> Iterator[Wrong]:
    facts = near.facts
    if facts is None or not facts.aggregates:
        return
    dataset = part_read(near)
    if dataset is not None and near.stage.options.get("partial") != "ok":
        yield Wrong(
            near.stage,
            f"Stage {near.stage_id} aggregates (GROUP BY, DISTINCT or a total) over"
            f" '{dataset.dataset_id}', of which it reads only what is new.",
            "Read everything (write_mode: overwrite, or options.read: all); options.partial: ok"
            " says that totals of a part are meant.",
        )
