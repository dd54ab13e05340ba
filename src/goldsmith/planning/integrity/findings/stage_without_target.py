"""A stage names no target, so it has nowhere to write."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def stage_without_target(near: Neighbourhood) -> Iterator[Wrong]:
    if near.stage.target_id is None:
        yield Wrong(
            near.stage,
            f"Stage {near.stage_id} names no target.",
            "Set target_id to the id of a row in targets.",
        )
