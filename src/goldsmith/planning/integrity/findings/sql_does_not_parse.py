"""A stage's SQL cannot be run: it does not parse, or it is not one SELECT."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.known import is_dialect
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def sql_does_not_parse(context: StageContext) -> Iterator[FoundProblem]:
    facts = context.facts
    if facts is None or facts.error is None or not is_dialect(context.resolved.dialect or ""):
        return
    if facts.hint is not None:
        return  # `sql_not_translated`
    own = context.stage.transform_sql is not None or context.edge is None
    yield FoundProblem(
        context.stage if own or context.edge is None else context.edge,
        f"The SQL of stage {context.stage_id} cannot be run:"
        f" line {facts.line or 1}: {facts.error}.",
        f"Correct {'transform_sql' if own else 'transformation_sql of its edge'}; it is read as"
        f" {context.resolved.dialect or 'spark'} SQL (transform_dialect).",
    )
