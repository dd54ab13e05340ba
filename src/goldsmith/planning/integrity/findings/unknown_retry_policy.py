"""A stage or a pipeline names a retry policy that has no row."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.ERROR, reads=(Stage, Pipeline, RetryPolicy))
def unknown_retry_policy(rows: Snapshot) -> Iterator[Wrong]:
    known = rows.table(RetryPolicy)
    for stage in rows.rows(Stage):
        if stage.retry_id is not None and (stage.retry_id,) not in known:
            yield _wrong(rows, stage, f"Stage {stage_id(stage)}", "retry_id", stage.retry_id)
    for pipeline in rows.rows(Pipeline):
        name = pipeline.default_retry_id
        if name is not None and (name,) not in known:
            whose = f"Pipeline '{pipeline.pipeline_id}'"
            yield _wrong(rows, pipeline, whose, "default_retry_id", name)


def _wrong(rows: Snapshot, row: Row, whose: str, column: str, name: str) -> Wrong:
    guess = did_you_mean(name, [key[0] for key in rows.table(RetryPolicy)])
    return Wrong(
        row,
        f"{whose} names the retry policy '{name}', which has no row in retry_policies.",
        f"{guess}Add the policy, or correct {column}.",
    )
