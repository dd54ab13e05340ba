"""A stage belongs to a pipeline that has no row in pipelines, so the stage would never run."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Pipeline, Stage))
def unknown_pipeline(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = rows.pipeline_ids
    for name, stages in rows.stages_of.items():
        if name in known:
            continue
        for stage in stages:
            yield FoundProblem(
                stage,
                f"Stage {stage_id(stage)} belongs to pipeline '{name}', which has no row in"
                " pipelines.",
                f"{did_you_mean(name, known)}Add the pipeline, or correct pipeline_id.",
            )
