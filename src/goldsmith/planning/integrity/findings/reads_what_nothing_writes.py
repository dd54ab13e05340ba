"""A stage reads a dataset that no stage writes and that has no row in sources."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.WARNING)
def reads_what_nothing_writes(context: StageContext) -> Iterator[FoundProblem]:
    for dataset in context.inputs:
        if not dataset.writers and dataset.source is None and dataset.target is not None:
            yield FoundProblem(
                context.stage,
                f"Stage {context.stage_id} reads '{dataset.dataset_id}', which no stage writes; it"
                " has a row in targets and none in sources.",
                "Add the stage that writes it, or a row in sources saying where its files lie;"
                " nothing to do if others fill that table.",
            )
