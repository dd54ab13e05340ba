"""What is done to a dataset beside writing it: with its lease held, and everything settled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.datasets import Target
from goldsmith.engine import as_of, faults, maintenance, recover, restoring
from goldsmith.engine.destinations.destination import Destination
from goldsmith.engine.destinations.lake import LakeDestination
from goldsmith.engine.destinations.warehouse import WarehouseDestination
from goldsmith.engine.leasing import Held, TargetBusy, place_of
from goldsmith.engine.session import own_session
from goldsmith.engine.stage import destination_of
from goldsmith.engine.states import CannotRestore, State, find, states
from goldsmith.engine.work import Tools
from goldsmith.journal import events, leases
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Restore
from goldsmith.planning.increments import Increments
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.places import Places
from goldsmith.planning.survey import Survey
from goldsmith.planning.words import is_lake, stage_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Restoration:
    """What going back means, before anything is done."""

    near: Neighbourhood
    dataset: Dataset
    before: State
    after: State
    #: The states that are taken back, newest first.
    taken_back: tuple[State, ...]
    #: Datasets that are made of this one, nearest first.
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
    survey: Survey,
    dataset: Dataset,
    to: str,
    journal: Journal,
    increments: Increments,
    places: Places,
) -> Restoration:
    """What going back to a state means; raises where it cannot be done."""
    name = dataset.dataset_id
    if not dataset.writers:
        raise CannotRestore(dataset=name, reason="no stage writes it")
    known = states(dataset, journal, places)
    after = find(dataset, known, to)
    near = survey.stages[stage_id(dataset.writers[0])]
    if not is_lake(dataset.target):
        as_of.consumed_by(near, after.snapshot, journal, increments, places)
    return Restoration(
        near=near,
        dataset=dataset,
        before=known[0],
        after=after,
        taken_back=tuple(known[: known.index(after)]),
        downstream=downstream(survey, name),
    )


def downstream(survey: Survey, dataset_id: str) -> tuple[str, ...]:
    """Every dataset made of this one, nearest first, each once."""
    found: dict[str, None] = {}
    waiting = [dataset_id]
    while waiting:
        reads = waiting.pop(0)
        for stage in survey.dependents.get(("dataset", reads), ()):
            near = survey.stages[stage]
            made = near.stage.target_id
            fed = any(dataset.dataset_id == reads for dataset in near.inputs)
            if fed and made is not None and made not in found and made != dataset_id:
                found[made] = None
                waiting.append(made)
    return tuple(found)


@contextmanager
def holding(tools: Tools, near: Neighbourhood) -> Iterator[Destination]:
    """The place a stage writes, with its lease held and nothing of the dead left in it."""
    dataset = near.target
    # Integrity refuses a stage without a target.
    assert dataset is not None
    assert dataset.target is not None
    place = place_of(dataset.target)
    lease = leases.acquire(tools.journal, place, tools.owner)
    if lease is None:
        holder = leases.holder(tools.journal, place)
        raise TargetBusy(resource=place, holder=str(holder and holder.owner))
    held = Held(tools.journal, lease)
    try:
        with _destination(tools, near, dataset.target) as destination:
            recover.settle(tools, destination, dataset.dataset_id)
            restoring.settle(tools, dataset)
            held.still_mine()
            yield destination
    finally:
        held.let_go()


@contextmanager
def _destination(tools: Tools, near: Neighbourhood, target: Target) -> Iterator[Destination]:
    """The place a stage writes; for one in a warehouse Spark need not be started."""
    if is_lake(target):
        with own_session(tools.spark()) as spark:
            yield destination_of(spark, near, tools)
    else:
        yield WarehouseDestination(tools.places, target, tools.warehouse(str(target.type)))


def restore_table(tools: Tools, restoration: Restoration, asked_by: str) -> None:
    """Take a lake table back, with the ledgers of those who write it."""
    near, dataset = restoration.near, restoration.dataset
    with holding(tools, near) as destination:
        assert isinstance(destination, LakeDestination)
        table = destination.table
        if table.current_snapshot() != restoration.before.snapshot:
            reason = "it was written meanwhile; look again"
            raise CannotRestore(dataset=dataset.dataset_id, reason=reason)
        meant = restoring.intend(
            tools.journal,
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
        restoring.finish(tools.journal, meant)
        faults.reach("restored")


def _stage_runs(taken_back: Sequence[State]) -> tuple[str, ...]:
    return tuple(state.stage_run_id for state in taken_back if state.stage_run_id is not None)


def maintain(tools: Tools, survey: Survey, near: Neighbourhood, asked_by: str) -> dict[str, Any]:
    """Keep the place a stage writes well; what was done."""
    dataset = near.target
    assert dataset is not None  # integrity refuses a stage without one
    with holding(tools, near) as destination:
        if isinstance(destination, LakeDestination):
            # Looked at with the lease held: nobody publishes meanwhile.
            now = datetime.now(UTC)
            planned = maintenance.plan_maintenance(
                dataset, survey, tools.journal, tools.places, now
            )
            done: dict[str, Any] = {}
            if planned is not None:
                done = dict(maintenance.maintain(destination.table, planned))
        else:
            assert isinstance(destination, WarehouseDestination)
            done = {"statements": destination.warehouse.maintain(destination.location)}
        happened = events.DatasetMaintained(
            actor=asked_by, dataset_id=dataset.dataset_id, did="maintained", details=done
        )
        tools.journal.record(happened)
    return done
