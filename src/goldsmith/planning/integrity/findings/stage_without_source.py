"""A stage names no source and its SQL reads no dataset, so it has nothing to read."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def stage_without_source(near: Neighbourhood) -> Iterator[Wrong]:
    if not near.inputs and (near.facts is None or near.facts.error is None):
        yield Wrong(
            near.stage,
            f"Stage {near.stage_id} reads nothing: it names no source"
            f"{'' if near.facts is None else ' and its SQL reads no dataset'}.",
            "Set source_id to the id of a dataset, or name one in the FROM of transform_sql.",
        )
