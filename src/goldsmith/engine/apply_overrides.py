"""Apply retry overrides: what an attempt at a stage does differently after a failed attempt.

The catalog rows do not change. Healing stores the overrides in the request; this module applies
them to the stage context, the Spark session and the target.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from goldsmith.catalog.rules import RuleSet
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.pace.stage_pace import lower_rates
from goldsmith.engine.retry_overrides import RetryOverrides
from goldsmith.engine.shape.latest_per_key import rank_in_key
from goldsmith.engine.write.destinations.destination import Destination
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.engine.write.destinations.warehouse import WarehouseDestination
from goldsmith.journal import events
from goldsmith.planning.resolved_stage import policy_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from goldsmith.planning.stage_context import Dataset, StageContext


def context(context: StageContext, adjust: RetryOverrides) -> StageContext:
    """The stage context with the overrides of this attempt."""
    if adjust == RetryOverrides():
        return context
    from copy import copy

    seen = copy(context)
    if adjust.schema_policy is not None:
        seen.resolved = context.resolved._replace(schema_policy=policy_of(adjust.schema_policy))
    if adjust.quarantine:
        seen.rules = None if context.rules is None else _quarantining(context.rules)
        seen.inputs = tuple(_permissive(dataset) for dataset in context.inputs)
    return seen


def _quarantining(rules: RuleSet) -> RuleSet:
    """The same checks; those with on_fail `fail` quarantine broken rows instead."""
    checks = tuple(
        {**check, "on_fail": "quarantine"}
        if isinstance(check, Mapping) and check.get("on_fail", "fail") == "fail"
        else check
        for check in rules.check_def
    )
    return rules.with_(check_def=checks)


def _permissive(dataset: Dataset) -> Dataset:
    """The same dataset without mode FAILFAST; malformed records are quarantined instead."""
    source = dataset.source
    if source is None or str(source.options.get("mode", "")).upper() != "FAILFAST":
        return dataset
    options = {name: value for name, value in source.options.items() if name != "mode"}
    return dataset._replace(source=source.with_(options=options))


def prepare(
    spark: SparkSession, destination: Destination, attempt: Attempt, resources: WorkerResources
) -> None:
    """Apply overrides to the session and the target; the caller holds the target's lease."""
    adjust = attempt.adjust
    if adjust.lower_rate is not None:
        lower_rates(attempt, resources, adjust.lower_rate)
    for name, value in adjust.spark.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
    if isinstance(destination, WarehouseDestination):
        destination.lock = adjust.lock
    elif (
        isinstance(destination, LakeDestination)
        and (adjust.rebuild or adjust.roll_back)
        and destination.table.exists()
    ):
        if adjust.rebuild:
            for branch in destination.table.branches():
                destination.table.drop_branch(branch)
        if adjust.roll_back:
            _roll_back(destination, attempt, resources)


def _roll_back(destination: LakeDestination, attempt: Attempt, resources: WorkerResources) -> None:
    before, good = destination.table.roll_back_to_ours()
    if before == good:
        return
    restored = events.DatasetRestored(
        run_id=attempt.run_id,
        pipeline_id=attempt.context.stage.pipeline_id,
        dataset_id=str(attempt.context.stage.target_id),
        to_snapshot=str(good),
        from_snapshot=before,
        because="the newest state was not published by Goldsmith, and is broken",
    )
    resources.journal.record(restored)


def repeats(shaped: DataFrame, attempt: Attempt) -> Column | None:
    """A condition for the rows to drop as duplicates: all but the newest of each key."""
    keys = attempt.adjust.deduplicate
    if not keys or attempt.run_options.replay is not None:
        return None
    newest_by = attempt.context.stage.watermark_column
    return rank_in_key(shaped, keys=list(keys), newest_by=newest_by) > 1
