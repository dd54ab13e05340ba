"""A stage's SQL is an INSERT or CREATE TABLE for another table than the stage's target."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def sql_writes_elsewhere(near: Neighbourhood) -> Iterator[Wrong]:
    facts = near.facts
    if facts is None or facts.writes is None or near.target is None:
        return
    row = near.target.target
    names = [near.target.dataset_id, *((row.location,) if row and row.location else ())]
    known = {name.lower() for name in names}
    known |= {name.rpartition(".")[2] for name in known}
    if facts.writes.lower() not in known:
        yield Wrong(
            near.stage,
            f"The SQL of stage {near.stage_id} writes '{facts.writes}', and the stage's target is"
            f" '{near.target.dataset_id}'.",
            "Give the stage that target, or leave only the SELECT: a stage writes its target.",
        )
