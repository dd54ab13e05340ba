"""`datasets move`: move a target's rows to its new id, layer or location.

A move renames the table, its quarantine, and the dataset in the journal. Each step is skipped if
it is already done; the journal changes last, in one transaction. Moving again completes a move
that was killed; until then every run of the target is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.datasets import Target
from goldsmith.engine import faults
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.publish import recover
from goldsmith.engine.publish.leases import HeldLease, TargetBusy
from goldsmith.engine.quarantine import quarantine_table as quarantine
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.engine.write.destinations.warehouse import WarehouseDestination
from goldsmith.errors import GoldsmithError
from goldsmith.journal import definitions as d
from goldsmith.journal import events, leases
from goldsmith.journal.tables_of_ledgers import StageLedger
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.ledgers import Ledgers, location_of, stage_of
from goldsmith.planning.locations import (
    is_other_table,
    is_same_table,
    lease_resource,
    table_name,
)
from goldsmith.planning.resolved_stage import LAYERS, is_lake, lake_name, stage_id
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage.lake_tables import drop_name, metadata_at, rename

#: The journal columns that hold a dataset id.
_NAMED = (
    d.stage_runs.c.target_id,
    d.input_files.c.dataset_id,
    d.input_snapshots.c.dataset_id,
    d.stage_ledgers.c.source_id,
    d.verdicts.c.dataset_id,
    d.restores.c.dataset_id,
    d.files_aside.c.dataset_id,
)


@dataclass(eq=False, kw_only=True)
class CannotMove(GoldsmithError):
    """A dataset's rows cannot be moved to the id, layer or location of its row."""

    old: str
    new: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.old}' cannot be moved to '{self.new}': {self.reason}."

    @property
    def hint(self) -> str:
        return (
            "Change the rows of the catalog first: the target's new id, layer or location. "
            f"`goldsmith run dataset:{self.new} --full-refresh` loads everything again instead."
        )


@dataclass(eq=False, kw_only=True)
class MoveClashes(GoldsmithError):
    """A dataset cannot be moved because its new name is taken."""

    old: str
    new: str
    taken: str

    def __str__(self) -> str:
        return f"'{self.old}' cannot be moved to '{self.new}': {self.taken} is there already."

    @property
    def hint(self) -> str:
        return "Give the dataset another id, or move or drop what is there. Nothing was changed."


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """The plan of a move."""

    old: str
    new: str
    #: A stage that writes the dataset now.
    context: StageContext
    ledgers: tuple[StageLedger, ...]
    table: tuple[str, str]
    #: The table already has its new name, from an earlier move that was killed.
    is_renamed: bool
    quarantine: tuple[str, str] | None

    @property
    def target(self) -> Target:
        assert self.context.target is not None
        assert self.context.target.target is not None
        return self.context.target.target

    def as_plain(self) -> dict[str, Any]:
        return {
            "from": self.old,
            "to": self.new,
            "table": {"from": self.table[0], "to": self.table[1], "done": self.is_renamed},
            "quarantine": self.quarantine
            and {"from": self.quarantine[0], "to": self.quarantine[1]},
            "ledgers": [stage_of(ledger) for ledger in self.ledgers],
        }


def plan_move(
    catalog_index: CatalogIndex, ledgers: Ledgers, resources: WorkerResources, old: str, new: str
) -> Move:
    """Plan a move; raise if it is not possible."""
    writers = catalog_index.rows.writers_of.get(new, ())
    target = catalog_index.rows.get(Target, new)
    if not writers or target is None:
        raise CannotMove(old=old, new=new, reason=f"no stage writes '{new}'")
    context = catalog_index.stages[stage_id(writers[0])]
    loaded_ledgers = [ledger for ledger in ledgers.of_target(old) if ledger.published_by]
    if not loaded_ledgers:
        raise CannotMove(old=old, new=new, reason=f"nothing was loaded to '{old}'")
    if old != new:
        unclaimed = {ledger.ledger_id for ledger in ledgers.unclaimed(old)}
        still = [stage_of(ledger) for ledger in loaded_ledgers if ledger.ledger_id not in unclaimed]
        if still or catalog_index.rows.writers_of.get(old):
            raise CannotMove(old=old, new=new, reason=f"stages write '{old}' still")
        if any(ledger.published_by for ledger in ledgers.of_target(new)):
            raise MoveClashes(old=old, new=new, taken=f"what was loaded to '{new}'")
    to = table_name(target, context.resolved.layer)
    before = _old_table(loaded_ledgers, resources, old, new)
    if before.startswith("lake.") != to.startswith("lake."):
        raise CannotMove(old=old, new=new, reason="one is in the lake, the other in a warehouse")
    is_renamed = _is_renamed(loaded_ledgers, resources, target, (before, to), (old, new))
    if (is_same_table(before, to) or not is_renamed) and _is_made_anew(
        loaded_ledgers, resources, target, before
    ):
        raise CannotMove(old=old, new=new, reason=f"its table {before} was made anew")
    return Move(
        old=old,
        new=new,
        context=context,
        ledgers=tuple(loaded_ledgers),
        table=(before, to),
        is_renamed=is_renamed,
        quarantine=_quarantine(resources, old, new),
    )


def _old_table(ledgers: list[StageLedger], resources: WorkerResources, old: str, new: str) -> str:
    """The table that was loaded."""
    known = {ledger.table_name for ledger in ledgers if ledger.table_name}
    if not known:  # loaded by a version that did not record it
        names = [lake_name(old, layer) for layer in LAYERS]
        known = {name for name in names if metadata_at(resources.storage, _parts(name)) is not None}
    if len(known) != 1:
        raise CannotMove(old=old, new=new, reason=f"its table is not known ({len(known)} fit)")
    [name] = known
    return str(name)


def _is_renamed(
    ledgers: list[StageLedger],
    resources: WorkerResources,
    target: Target,
    table: tuple[str, str],
    ids: tuple[str, str],
) -> bool:
    """Whether the table already has its new name; raise if the name is taken or no table exists."""
    before, to = table
    if is_same_table(before, to):
        return True
    if is_lake(target):
        first = metadata_at(resources.storage, _parts(before))
        second = metadata_at(resources.storage, _parts(to))
        same = {ledger.table_uuid for ledger in ledgers if ledger.table_uuid}
        if first is not None:
            same = {str(first.get("table-uuid"))}
        is_ours = second is not None and second.get("table-uuid") in same
        is_there, is_taken = first is not None, second is not None and not is_ours
    else:
        type_, _, old_table = before.partition(":")
        if type_ != target.type:
            raise CannotMove(old=ids[0], new=ids[1], reason="its type is another")
        warehouse = resources.warehouse(str(target.type))
        location = target.location or target.target_id
        is_there = warehouse.columns(old_table) is not None
        second_there = warehouse.columns(location) is not None
        is_ours = second_there and any(
            warehouse.loaded(location, str(ledger.published_by)) for ledger in ledgers
        )
        is_taken = second_there and (is_there or not is_ours)
    if is_taken:
        raise MoveClashes(old=ids[0], new=ids[1], taken=f"a table {to}")
    if not is_there and not is_ours:
        raise CannotMove(old=ids[0], new=ids[1], reason=f"its table {before} is gone")
    return not is_there


def _is_made_anew(
    mine: list[StageLedger], resources: WorkerResources, target: Target, table_name: str
) -> bool:
    """Whether the table was recreated, so that it lacks the loaded rows."""
    if is_lake(target):
        metadata = metadata_at(resources.storage, _parts(table_name)) or {}
        found = {
            str(ledger.table_uuid): metadata.get("table-uuid")
            for ledger in mine
            if ledger.table_uuid
        }
    else:
        warehouse, location = resources.warehouse(str(target.type)), table_name.partition(":")[2]
        loaded = {
            str(ledger.table_uuid): warehouse.loaded(location, str(ledger.published_by))
            for ledger in mine
            if ledger.table_uuid
        }
        found = {noted: load.table_id for noted, load in loaded.items() if load is not None}
    return any(is_other_table(noted, now) for noted, now in found.items())


def _quarantine(resources: WorkerResources, old: str, new: str) -> tuple[str, str] | None:
    before, to = lake_name(old, quarantine.LAYER), lake_name(new, quarantine.LAYER)
    if before == to or metadata_at(resources.storage, _parts(before)) is None:
        return None
    there, taken = (metadata_at(resources.storage, _parts(name)) for name in (before, to))
    # An interrupted rename leaves one table under both names.
    if taken is not None and there is not None and not _is_one(there, taken):
        raise MoveClashes(old=old, new=new, taken=f"a quarantine {to}")
    return before, to


def _is_one(table: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return table.get("table-uuid") == other.get("table-uuid")


def move(resources: WorkerResources, planned: Move, asked_by: str) -> None:
    """Move the dataset, with leases on the old and the new location."""
    with _held(resources, planned) as held_leases:
        _settle(resources, planned)
        _write_down(resources, planned)
        faults.reach("move-noted")
        for lease in held_leases:
            lease.ensure_held()
        if not planned.is_renamed:
            _rename(resources, planned)
        faults.reach("move-renamed")
        if planned.quarantine is not None:
            before, to = planned.quarantine
            _rename_in_lake(resources, before, to)
        faults.reach("move-quarantine-renamed")
        _record(resources, planned, asked_by)
    faults.reach("moved")


@contextmanager
def _held(resources: WorkerResources, planned: Move) -> Iterator[list[HeldLease]]:
    """Lease the old and the new location."""
    locations = {lease_resource(planned.target, resources.storage.settings.warehouses)}
    for ledger in planned.ledgers:
        was = planned.target.with_(location=ledger.location or planned.target.location)
        locations.add(lease_resource(was, resources.storage.settings.warehouses))
    with ExitStack() as stack:
        held_leases: list[HeldLease] = []
        for resource in sorted(locations):
            lease = leases.acquire(resources.journal, resource, resources.owner)
            if lease is None:
                holder = leases.holder(resources.journal, resource)
                raise TargetBusy(resource=resource, holder=str(holder and holder.owner))
            held_leases.append(HeldLease(resources.journal, lease))
            stack.callback(held_leases[-1].release)
        yield held_leases


def _settle(resources: WorkerResources, planned: Move) -> None:
    """Settle dead stage runs of the old target; raise if a restore of it is unfinished."""
    unfinished = sa.select(d.restores.c.restore_id).where(
        d.restores.c.dataset_id == planned.old, d.restores.c.ended_at.is_(None)
    )
    with resources.journal.reading() as connection:
        if connection.execute(unfinished).first() is not None:
            reason = "a restore of it is unfinished: give it its old row back and run it once"
            raise CannotMove(old=planned.old, new=planned.new, reason=reason)
    if recover.unsettled(resources, planned.old):
        was = planned.target.with_(target_id=planned.old)
        with own_session(resources.spark()) as spark:
            if is_lake(was):
                layer = planned.context.resolved.layer
                recover.settle(
                    resources, LakeDestination(spark, resources.storage, was, layer), planned.old
                )
            else:
                warehouse = resources.warehouse(str(was.type))
                destination = WarehouseDestination(resources.storage, was, warehouse)
                recover.settle(resources, destination, planned.old)


def _write_down(resources: WorkerResources, planned: Move) -> None:
    """Record the table's name and UUID, which identify the table after the rename."""
    metadata = metadata_at(resources.storage, _parts(planned.table[0]))
    values: dict[str, Any] = {"table_name": planned.table[0]}
    if metadata is not None and is_lake(planned.target):
        values["table_uuid"] = metadata.get("table-uuid")
    with resources.journal.writing() as connection:
        connection.execute(
            sa.update(d.stage_ledgers)
            .where(
                d.stage_ledgers.c.ledger_id.in_([ledger.ledger_id for ledger in planned.ledgers])
            )
            .values(**values)
        )


def _rename(resources: WorkerResources, planned: Move) -> None:
    before, to = planned.table
    if not is_lake(planned.target):
        location = planned.target.location or planned.target.target_id
        resources.warehouse(str(planned.target.type)).move(before.partition(":")[2], location)
    else:
        _rename_in_lake(resources, before, to)


def _rename_in_lake(resources: WorkerResources, before: str, to: str) -> None:
    if metadata_at(resources.storage, _parts(to)) is None:
        rename(resources.storage, _parts(before), _parts(to))
    else:  # an interrupted rename left the table under both names
        drop_name(resources.storage, _parts(before))


def _record(resources: WorkerResources, planned: Move, asked_by: str) -> None:
    """Rename the dataset in the journal."""
    ledger_ids = [ledger.ledger_id for ledger in planned.ledgers]
    now: dict[str, Any] = {
        "target_id": planned.new,
        "table_name": planned.table[1],
        "location": location_of(planned.context),
    }
    if not is_lake(planned.target):
        now["table_uuid"] = _table_id(resources, planned)
    moved = events.DatasetMaintained(
        actor=asked_by, dataset_id=planned.new, did="moved", details=planned.as_plain()
    )
    with resources.journal.writing() as connection:
        connection.execute(
            sa.update(d.stage_ledgers)
            .where(d.stage_ledgers.c.ledger_id.in_(ledger_ids))
            .values(**now)
        )
        if planned.old != planned.new:
            for column in _NAMED:
                connection.execute(
                    sa.update(column.table)
                    .where(column == planned.old)
                    .values({column.name: planned.new})
                )
        resources.journal.record(moved, connection=connection)


def _table_id(resources: WorkerResources, planned: Move) -> str | None:
    """The warehouse's id of the moved table; a copy into another schema has a new id."""
    warehouse = resources.warehouse(str(planned.target.type))
    location = planned.target.location or planned.target.target_id
    found = (warehouse.loaded(location, str(ledger.published_by)) for ledger in planned.ledgers)
    return next((loaded.table_id for loaded in found if loaded is not None), None)


def _parts(name: str) -> tuple[str, ...]:
    """The namespace and name of a table in the Iceberg catalog."""
    return tuple(name.split(".")[1:])
