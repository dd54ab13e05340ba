"""A stage has no source_id and its SQL reads no dataset, so it has no input."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def stage_without_source(context: StageContext) -> Iterator[FoundProblem]:
    if not context.inputs and (context.facts is None or context.facts.error is None):
        yield FoundProblem(
            context.stage,
            f"Stage {context.stage_id} reads nothing: it names no source"
            f"{'' if context.facts is None else ' and its SQL reads no dataset'}.",
            "Set source_id to the id of a dataset, or name one in the FROM of transform_sql.",
        )
