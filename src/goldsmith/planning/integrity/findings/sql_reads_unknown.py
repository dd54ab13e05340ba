"""A stage's SQL reads a table that is not a dataset of the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.stage_context import StageContext


@stage_rule(FindingSeverity.ERROR)
def sql_reads_unknown(context: StageContext) -> Iterator[FoundProblem]:
    for dataset in context.inputs:
        if dataset.exists or dataset.dataset_id == context.stage.source_id:
            continue
        guess = did_you_mean(dataset.dataset_id, context.rows.dataset_ids)
        yield FoundProblem(
            context.stage,
            f"The SQL of stage {context.stage_id} reads '{dataset.dataset_id}', which has no row in"
            " sources or targets.",
            f"{guess}Name datasets by their ids, or add a row for this one.",
        )
