"""The target of a stage: what it writes to, what it leases, and what dead runs left there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.publish import recover, restore_record
from goldsmith.engine.read.inputs import remove_unloaded
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.write.destinations.destination import Destination
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.engine.write.destinations.warehouse import WarehouseDestination
from goldsmith.planning.locations import lease_resource
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage import staging

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def destination_of(
    spark: SparkSession, context: StageContext, resources: WorkerResources
) -> Destination:
    """The lake table or warehouse table that a stage writes."""
    assert context.target is not None  # integrity refuses a stage without one
    target = context.target.target
    assert target is not None
    if is_lake(target):
        return LakeDestination(spark, resources.storage, target, context.resolved.layer)
    return WarehouseDestination(resources.storage, target, resources.warehouse(str(target.type)))


def resource_of(context: StageContext, resources: WorkerResources) -> str:
    """The resource that a stage leases: the location it writes, whatever the target's id."""
    target = context.target.target if context.target is not None else None
    assert target is not None
    return lease_resource(target, resources.storage.settings.warehouses)


def settle_dead(attempt: Attempt, resources: WorkerResources) -> None:
    """Settle stage runs and restores of this target whose process died, before reading inputs."""
    target = str(attempt.context.stage.target_id)
    for left in (dead := recover.unsettled(resources, target)):
        remove_unloaded(attempt.context, resources, left.stage_run_id)
        staging.remove(resources.storage, staging.scratch(resources.storage, left.stage_run_id))
    if dead:
        with own_session(resources.spark()) as spark:
            recover.settle(resources, destination_of(spark, attempt.context, resources), target)
        faults.reach("settled")
    restore_record.settle(resources, attempt.context.target)
