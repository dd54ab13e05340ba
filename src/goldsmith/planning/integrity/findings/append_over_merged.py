"""A stage appends the new rows of an input whose writer does not append: a changed row would be
appended again."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.write_modes import Replaces
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.stage_questions import part_read
from goldsmith.planning.resolved_stage import mode_of, stage_id, write_mode_of
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def append_over_merged(context: StageContext) -> Iterator[FoundProblem]:
    if not context.resolved.appends:
        return
    dataset = part_read(context)
    if dataset is None:
        return
    for writer in dataset.writers:
        replaces = mode_of(writer).replaces(writer.options)
        if replaces is not Replaces.NOTHING and writer.enabled and writer is not context.stage:
            yield FoundProblem(
                context.stage,
                f"Stage {context.stage_id} appends from '{dataset.dataset_id}', which stage"
                f" {stage_id(writer)} writes by {write_mode_of(writer)}: changed rows would come"
                " twice.",
                "Merge by keys (write_mode: merge), overwrite, or append all of it each time"
                " (options.read: all).",
            )
            return
