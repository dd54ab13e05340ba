"""A stage has no target_id, so it has nowhere to write."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def stage_without_target(context: StageContext) -> Iterator[FoundProblem]:
    if context.stage.target_id is None:
        yield FoundProblem(
            context.stage,
            f"Stage {context.stage_id} names no target.",
            "Set target_id to the id of a row in targets.",
        )
