"""A stage writes by merge or scd2 and has no keys, so it cannot match rows."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def keys_missing(context: StageContext) -> Iterator[FoundProblem]:
    if not context.stage.keys and context.resolved.mode.needs_keys:
        yield FoundProblem(
            context.stage,
            f"Stage {context.stage_id} writes by {context.resolved.write_mode} and names no keys.",
            "Set keys to the columns that tell rows apart, or choose append or overwrite.",
        )
