"""A stage has `options.overwrite: partitions` but no partitions to replace: another write mode, a
warehouse target, or no partition_by."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def no_partitions_to_replace(context: StageContext) -> Iterator[FoundProblem]:
    stage = context.stage
    if stage.options.get("overwrite") != "partitions":
        return
    whose = f"Stage {context.stage_id} has options.overwrite: partitions and"
    if all(option.name != "overwrite" for option in context.resolved.mode.options):
        yield FoundProblem(
            stage,
            f"{whose} writes by {context.resolved.write_mode}.",
            "Set write_mode to overwrite, or take the option away.",
        )
    elif context.target is not None and not is_lake(context.target.target):
        yield FoundProblem(
            stage,
            f"{whose} writes to '{stage.target_id}', a table of a warehouse.",
            "Only tables of the lake have partitions. Merge by keys, or replace the whole table.",
        )
    elif not stage.partition_by:
        yield FoundProblem(
            stage,
            f"{whose} no partition_by.",
            "Set partition_by, as in [days(at)], or take the option away to replace all rows.",
        )
