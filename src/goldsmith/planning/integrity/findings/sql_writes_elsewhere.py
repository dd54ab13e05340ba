"""A stage's SQL is an INSERT or CREATE TABLE for another table than the stage's target."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def sql_writes_elsewhere(context: StageContext) -> Iterator[FoundProblem]:
    facts = context.facts
    if facts is None or facts.writes is None or context.target is None:
        return
    row = context.target.target
    names = [context.target.dataset_id, *((row.location,) if row and row.location else ())]
    known = {name.lower() for name in names}
    known |= {name.rpartition(".")[2] for name in known}
    if facts.writes.lower() not in known:
        yield FoundProblem(
            context.stage,
            f"The SQL of stage {context.stage_id} writes '{facts.writes}', and the stage's target"
            f" is '{context.target.dataset_id}'.",
            "Give the stage that target, or leave only the SELECT: a stage writes its target.",
        )
