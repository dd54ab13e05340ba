"""A pipeline has no stages, so running it does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.WARNING, reads=(Pipeline, Stage))
def pipeline_without_stages(rows: CatalogRows) -> Iterator[FoundProblem]:
    with_stages = rows.stages_of
    for pipeline in rows.rows(Pipeline):
        if pipeline.pipeline_id not in with_stages:
            yield FoundProblem(
                pipeline,
                f"Pipeline '{pipeline.pipeline_id}' has no stages.",
                "Add rows to stages, or remove the pipeline.",
            )
