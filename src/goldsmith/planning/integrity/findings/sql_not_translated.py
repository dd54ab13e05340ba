"""A stage's SQL has an expression of its dialect that cannot be translated to Spark."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def sql_not_translated(context: StageContext) -> Iterator[FoundProblem]:
    facts = context.facts
    if facts is None or facts.error is None or facts.hint is None:
        return
    own = context.stage.transform_sql is not None or context.edge is None
    yield FoundProblem(
        context.stage if own or context.edge is None else context.edge,
        f"The SQL of stage {context.stage_id} cannot be translated from {context.resolved.dialect}:"
        f" line {facts.line or 1}: {facts.error}.",
        facts.hint,
    )
