"""Check that a table still holds what its ledger lists.

If somebody dropped, recreated or rolled back the table, an incremental load would add only new
rows to it. An Iceberg table is checked by its uuid and its snapshots, a warehouse table by its id
and the ledger table in the warehouse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables_of_ledgers import StageLedger
from goldsmith.planning.lake import RUN_PROPERTY, current_of
from goldsmith.planning.ledgers import LedgerMatch
from goldsmith.planning.locations import is_other_table
from goldsmith.planning.resolved_stage import is_lake, lake_name
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage.lake_tables import metadata_at
from goldsmith.storage.storage import Storage


class WarehouseLookup(Protocol):
    """The part of a warehouse connection that is used here."""

    def columns(self, location: str) -> Mapping[str, str] | None:
        """The table's columns; None where there is no table."""

    def loaded(self, location: str, stage_run_id: str) -> Any | None:
        """The warehouse ledger's row of a stage run; None where the run was not published."""


@dataclass(eq=False, kw_only=True)
class TargetGone(GoldsmithError):
    """The table that a stage has loaded does not exist any more."""

    exit_code = 1

    stage: str
    target: str
    table: str

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} has loaded '{self.target}', and its table {self.table} is gone:"
            " it would be filled with only what is new."
        )

    @property
    def hint(self) -> str:
        return (
            "Put the table back, or load everything again: "
            f"`goldsmith run dataset:{self.target} --full-refresh`."
        )


@dataclass(eq=False, kw_only=True)
class TargetReplaced(GoldsmithError):
    """The table of a target was recreated or rolled back by another writer after it was loaded."""

    exit_code = 1

    stage: str
    target: str
    table: str
    reason: str

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} has loaded '{self.target}', and {self.table} does not hold that"
            f" any more: {self.reason}."
        )

    @property
    def hint(self) -> str:
        return (
            "Put the table back as it was, or load everything again: "
            f"`goldsmith run dataset:{self.target} --full-refresh`."
        )


def lost(
    context: StageContext,
    match: LedgerMatch,
    storage: Storage,
    warehouse: Callable[[str], WarehouseLookup],
) -> GoldsmithError | None:
    """Why the table does not hold what the ledger lists; None where it does or is not known."""
    target = context.target.target if context.target is not None else None
    ledger = match.ledger
    if target is None or ledger is None or ledger.published_by is None:
        return None
    about = {"stage": context.stage_id, "target": target.target_id}
    if is_lake(target):
        table = lake_name(target.target_id, context.resolved.layer)
        _lake, *name = table.split(".")
        found = metadata_at(storage, tuple(name))
        reason = None if found is None else _why_other(found, ledger)
    else:
        location = target.location or target.target_id
        table = f"{target.type}:{location}"
        connection = warehouse(str(target.type))
        found = connection.columns(location)
        reason = None
        if found is not None:
            reason = _why_other_there(connection.loaded(location, ledger.published_by), ledger)
    if found is None:
        return TargetGone(**about, table=table)
    return None if reason is None else TargetReplaced(**about, table=table, reason=reason)


def _why_other_there(loaded: Any | None, ledger: StageLedger) -> str | None:
    """Why a warehouse table is not the one that was loaded, or None."""
    if loaded is None:
        return f"the warehouse's own ledger does not list {ledger.published_by}"
    if ledger.table_uuid is None or not is_other_table(ledger.table_uuid, loaded.table_id):
        return None
    if loaded.table_id is None:
        mark = ledger.table_uuid
        return f"it was made anew, or the mark '{mark}' was taken out of its comment"
    return "it was made anew"


def _why_other(metadata: Mapping[str, Any], ledger: StageLedger) -> str | None:
    """Why an Iceberg table is not the one that was loaded, or None."""
    if ledger.table_uuid is not None and metadata.get("table-uuid") != ledger.table_uuid:
        return "it was made anew"
    known = {str(snapshot["snapshot-id"]): snapshot for snapshot in metadata.get("snapshots", ())}
    at = current_of(metadata)
    while at is not None:
        if at not in known:
            return None  # older snapshots have expired: not known
        if known[at].get("summary", {}).get(RUN_PROPERTY) == ledger.published_by:
            return None
        parent = known[at].get("parent-snapshot-id")
        at = None if parent is None else str(parent)
    return f"no snapshot of {ledger.published_by} is part of it"
