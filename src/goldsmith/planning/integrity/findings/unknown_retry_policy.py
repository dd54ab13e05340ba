"""A stage or a pipeline names a retry policy that has no row in retry_policies."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage, Pipeline, RetryPolicy))
def unknown_retry_policy(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = rows.table(RetryPolicy)
    for stage in rows.rows(Stage):
        if stage.retry_id is not None and (stage.retry_id,) not in known:
            yield _wrong(rows, stage, f"Stage {stage_id(stage)}", "retry_id", stage.retry_id)
    for pipeline in rows.rows(Pipeline):
        name = pipeline.default_retry_id
        if name is not None and (name,) not in known:
            whose = f"Pipeline '{pipeline.pipeline_id}'"
            yield _wrong(rows, pipeline, whose, "default_retry_id", name)


def _wrong(rows: CatalogRows, row: Row, whose: str, column: str, name: str) -> FoundProblem:
    guess = did_you_mean(name, [key[0] for key in rows.table(RetryPolicy)])
    return FoundProblem(
        row,
        f"{whose} names the retry policy '{name}', which has no row in retry_policies.",
        f"{guess}Add the policy, or correct {column}.",
    )
