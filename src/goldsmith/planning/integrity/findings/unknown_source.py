"""A stage's source_id has no row in sources or targets."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage, Source, Target))
def unknown_source(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = rows.dataset_ids
    for stage in rows.rows(Stage):
        name = stage.source_id
        if name is not None and name not in known:
            yield FoundProblem(
                stage,
                f"Stage {stage_id(stage)} reads '{name}', which has no row in sources or targets.",
                f"{did_you_mean(name, known)}Add the dataset to sources, or correct source_id.",
            )
