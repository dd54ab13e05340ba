"""Restore and maintain datasets, with the target's lease held and dead stage runs settled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from goldsmith.catalog.datasets import Target
from goldsmith.engine import faults
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.lake.table_states import State, find, states
from goldsmith.engine.maintenance import compaction, purge_quarantine
from goldsmith.engine.publish import recover, restore_record
from goldsmith.engine.publish.leases import HeldLease, TargetBusy
from goldsmith.engine.read import as_of
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.stage_target import destination_of
from goldsmith.engine.write.destinations.destination import Destination
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.engine.write.destinations.warehouse import WarehouseDestination
from goldsmith.journal import events, leases
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Restore
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import history
from goldsmith.planning.locations import lease_resource
from goldsmith.planning.past_state import NOT_WRITTEN, CannotRestore
from goldsmith.planning.resolved_stage import is_lake, stage_id
from goldsmith.planning.stage_context import Dataset, StageContext
from goldsmith.storage.storage import Storage


@dataclass(frozen=True, kw_only=True, slots=True)
class Restoration:
    """The plan of a restore."""

    context: StageContext
    dataset: Dataset
    before: State
    after: State
    #: The states that the restore undoes, newest first.
    taken_back: tuple[State, ...]
    #: Downstream datasets, nearest first.
    downstream: tuple[str, ...]

    @property
    def is_lake(self) -> bool:
        return is_lake(self.dataset.target)

    def as_plain(self) -> dict[str, Any]:
        return {
            "dataset_id": self.dataset.dataset_id,
            "from": self.before.snapshot,
            "to": self.after.snapshot,
            "to_at": None if self.after.at is None else self.after.at.isoformat(),
            "by": "rollback" if self.is_lake else "rebuilding it from what it had read",
            "taken_back": [
                {"snapshot": s.snapshot, "stage_run_id": s.stage_run_id, "rows": s.rows}
                for s in self.taken_back
            ],
            "downstream": list(self.downstream),
        }


def plan_restore(
    catalog_index: CatalogIndex,
    dataset: Dataset,
    to: str,
    journal: Journal,
    increments: Increments,
    storage: Storage,
) -> Restoration:
    """Plan the restore of a dataset to a state; raise if it is not possible."""
    name = dataset.dataset_id
    if not dataset.writers:
        raise CannotRestore(dataset=name, reason=NOT_WRITTEN)
    known = states(dataset, journal, storage)
    after = find(dataset, known, to)
    context = catalog_index.stages[stage_id(dataset.writers[0])]
    if not is_lake(dataset.target):
        as_of.consumed_by(context, after.snapshot, journal, increments, storage)
    return Restoration(
        context=context,
        dataset=dataset,
        before=known[0],
        after=after,
        taken_back=tuple(known[: known.index(after)]),
        downstream=downstream(catalog_index, name),
    )


def downstream(catalog_index: CatalogIndex, dataset_id: str) -> tuple[str, ...]:
    """Every downstream dataset, nearest first, each once."""
    found: dict[str, None] = {}
    waiting = [dataset_id]
    while waiting:
        reads = waiting.pop(0)
        for stage in catalog_index.dependents.get(("dataset", reads), ()):
            context = catalog_index.stages[stage]
            target_id = context.stage.target_id
            fed = any(dataset.dataset_id == reads for dataset in context.inputs)
            if fed and target_id is not None and target_id not in found and target_id != dataset_id:
                found[target_id] = None
                waiting.append(target_id)
    return tuple(found)


@contextmanager
def _leased(resources: WorkerResources, target: Target) -> Iterator[HeldLease]:
    resource = lease_resource(target, resources.storage.settings.warehouses)
    lease = leases.acquire(resources.journal, resource, resources.owner)
    if lease is None:
        holder = leases.holder(resources.journal, resource)
        raise TargetBusy(resource=resource, holder=str(holder and holder.owner))
    held_lease = HeldLease(resources.journal, lease)
    try:
        yield held_lease
    finally:
        held_lease.release()


@contextmanager
def holding(resources: WorkerResources, context: StageContext) -> Iterator[Destination]:
    """The destination of a stage, with its lease held and dead stage runs settled."""
    dataset, target = _target_of(context)
    with (
        _leased(resources, target) as held_lease,
        _destination(resources, context, target) as destination,
    ):
        recover.settle(resources, destination, dataset.dataset_id)
        restore_record.settle(resources, dataset)
        held_lease.ensure_held()
        yield destination


@contextmanager
def settled(resources: WorkerResources, context: StageContext) -> Iterator[None]:
    """Hold the lease and settle dead stage runs; start Spark only if there are any."""
    dataset, target = _target_of(context)
    with _leased(resources, target) as held_lease:
        if recover.unsettled(resources, dataset.dataset_id):
            with _destination(resources, context, target) as destination:
                recover.settle(resources, destination, dataset.dataset_id)
        restore_record.settle(resources, dataset)
        held_lease.ensure_held()
        yield


def _target_of(context: StageContext) -> tuple[Dataset, Target]:
    # Integrity refuses a stage without a target.
    assert context.target is not None
    assert context.target.target is not None
    return context.target, context.target.target


@contextmanager
def _destination(
    resources: WorkerResources, context: StageContext, target: Target
) -> Iterator[Destination]:
    """The destination of a stage; a warehouse needs no Spark."""
    if is_lake(target):
        with own_session(resources.spark()) as spark:
            yield destination_of(spark, context, resources)
    else:
        yield WarehouseDestination(resources.storage, target, resources.warehouse(str(target.type)))


def restore_table(resources: WorkerResources, restoration: Restoration, asked_by: str) -> None:
    """Roll a lake table back, and restore the ledgers of the stages that write it."""
    context, dataset = restoration.context, restoration.dataset
    with holding(resources, context) as destination:
        assert isinstance(destination, LakeDestination)
        table = destination.table
        if table.current_snapshot() != restoration.before.snapshot:
            reason = "it was written meanwhile; look again"
            raise CannotRestore(dataset=dataset.dataset_id, reason=reason)
        meant = restore_record.intend(
            resources.journal,
            Restore(
                restore_id=new_id("restore"),
                dataset_id=dataset.dataset_id,
                from_snapshot=restoration.before.snapshot,
                to_snapshot=restoration.after.snapshot,
                taken_back=_stage_runs(restoration.taken_back),
                asked_by=asked_by,
            ),
        )
        faults.reach("restore-intended")
        table.roll_back(restoration.after.snapshot)
        faults.reach("rolled-back")
        restore_record.finish(resources.journal, meant)
        faults.reach("restored")


def _stage_runs(taken_back: Sequence[State]) -> tuple[str, ...]:
    return tuple(state.stage_run_id for state in taken_back if state.stage_run_id is not None)


def maintain(
    resources: WorkerResources, catalog_index: CatalogIndex, context: StageContext, asked_by: str
) -> dict[str, Any]:
    """Maintain the target of a stage; return what was done."""
    dataset = context.target
    assert dataset is not None  # integrity refuses a stage without one
    assert dataset.target is not None
    with holding(resources, context) as destination:
        # Plan with the lease held, so that nothing is published meanwhile.
        now = datetime.now(UTC)
        if isinstance(destination, LakeDestination):
            planned = compaction.plan_maintenance(
                dataset, catalog_index, resources.journal, resources.storage, now
            )
            done: dict[str, Any] = {}
            if planned is not None:
                done = dict(compaction.maintain(destination.table, planned))
        else:
            assert isinstance(destination, WarehouseDestination)
            done = {"statements": destination.warehouse.maintain(destination.location)}
        look = partial(history, dataset, resources.storage) if is_lake(dataset.target) else None
        before = now - compaction.retention(dataset.target)
        done["purged_rows"] = purge_quarantine.purge(resources, dataset.dataset_id, look, before)
        event = events.DatasetMaintained(
            actor=asked_by, dataset_id=dataset.dataset_id, did="maintained", details=done
        )
        resources.journal.record(event)
    return done
