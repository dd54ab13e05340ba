"""A stage belongs to a pipeline that has no row, so nothing would ever run it."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.ERROR, reads=(Pipeline, Stage))
def unknown_pipeline(rows: Snapshot) -> Iterator[Wrong]:
    known = rows.pipeline_ids
    for name, stages in rows.stages_of.items():
        if name in known:
            continue
        for stage in stages:
            yield Wrong(
                stage,
                f"Stage {stage_id(stage)} belongs to pipeline '{name}', which has no row in"
                " pipelines.",
                f"{did_you_mean(name, known)}Add the pipeline, or correct pipeline_id.",
            )
