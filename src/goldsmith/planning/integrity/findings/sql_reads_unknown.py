"""A stage's SQL reads a table that is no dataset of the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def sql_reads_unknown(near: Neighbourhood) -> Iterator[Wrong]:
    for dataset in near.inputs:
        if dataset.exists or dataset.dataset_id == near.stage.source_id:
            continue
        guess = did_you_mean(dataset.dataset_id, near.rows.dataset_ids)
        yield Wrong(
            near.stage,
            f"The SQL of stage {near.stage_id} reads '{dataset.dataset_id}', which has no row in"
            " sources or targets.",
            f"{guess}Name datasets by their ids, or add a row for this one.",
        )
