"""A stage's SQL is an INSERT OVERWRITE or CREATE OR REPLACE TABLE, and the stage's write mode is
not overwrite."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def sql_overwrites(context: StageContext) -> Iterator[FoundProblem]:
    facts, mode = context.facts, context.resolved.write_mode
    if facts is None or not facts.overwrites or not context.resolved.replaces.keeps_rows:
        return
    yield FoundProblem(
        context.stage,
        f"The SQL of stage {context.stage_id} replaces everything in '{facts.writes}', and the"
        f" stage's write mode is {mode}.",
        "Set write_mode: overwrite, or leave only the SELECT: the write mode of the stage says how"
        " rows are written.",
    )
