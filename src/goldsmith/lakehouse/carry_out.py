"""Carry out waiting loads: all records of a load become visible in one snapshot, or none do.

A process owns the load it carries out for a minute at a time. One that is killed leaves the row
RUNNING; another process takes it over, and the snapshot's summary says whether it was committed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.errors import GoldsmithError
from goldsmith.journal import row_storage
from goldsmith.journal.clock import later, now
from goldsmith.journal.definitions import lakehouse_loads
from goldsmith.journal.journal import Journal
from goldsmith.journal.lakehouse_tables import LoadMode, LoadStatus, RawLoad
from goldsmith.journal.owners import Owner, is_gone
from goldsmith.lakehouse import applications, objects, records
from goldsmith.lakehouse.commit import CommittedLoad, StagedRecords, committed_load
from goldsmith.lakehouse.raw_tables import ensure_table, find_table
from goldsmith.lakehouse.records import BadRecords, RecordRules
from goldsmith.storage.files import ListedFile, list_files
from goldsmith.storage.storage import Storage

_LOG = logging.getLogger(__name__)
_OWNED_SECONDS = 60.0
#: How often a load whose error may pass is tried, with twice the wait each time.
_MOST_ATTEMPTS = 8
_OPEN = (LoadStatus.ACCEPTED.value, LoadStatus.RUNNING.value)


@dataclass(eq=False, kw_only=True)
class CommitUnclear(GoldsmithError):
    """The lake did not answer whether a load was committed."""

    transient = True
    exit_code = 1

    load_id: str
    cause: str

    def __str__(self) -> str:
        return f"Whether the load {self.load_id} was committed is not known: {self.cause}."

    @property
    def hint(self) -> str:
        return "The service looks it up in the table and goes on by itself."


class _Lost(Exception):
    """Another process carries the load out."""


def process_waiting(
    catalog: Catalog, journal: Journal, storage: Storage, *, owner: str | None = None
) -> int:
    """Carry out the waiting loads in their order; returns how many were begun."""
    me = owner or str(Owner.this_process())
    begun = 0
    for load_id in _waiting(journal):
        load = _take(journal, load_id, me)
        if load is not None:
            begun += 1
            _carry_out(catalog, journal, storage, load, me)
    return begun


def _waiting(journal: Journal) -> list[str]:
    columns = lakehouse_loads.c
    query = (
        sa.select(
            columns.load_id,
            columns.owner,
            columns.owned_until,
            (columns.owned_until <= now()).label("expired"),
        )
        .where(columns.status.in_(_OPEN))
        .order_by(columns.submitted_at, columns.load_id)
        .limit(200)
    )
    with journal.reading() as connection:
        found = connection.execute(query).all()
    return [row.load_id for row in found if _is_free(row)]


def _is_free(row: Any) -> bool:
    return row.owned_until is None or bool(row.expired) or is_gone(row.owner)


def _take(journal: Journal, load_id: str, me: str) -> RawLoad | None:
    columns = lakehouse_loads.c
    query = sa.select(lakehouse_loads, (columns.owned_until <= now()).label("expired")).where(
        columns.load_id == load_id, columns.status.in_(_OPEN)
    )
    with journal.writing() as connection:
        found = connection.execute(query).first()
        if found is None or not _is_free(found):
            return None
        began = {} if found.started_at is not None else {"started_at": now()}
        return row_storage.update(
            connection,
            RawLoad,
            {"load_id": load_id},
            status=LoadStatus.RUNNING.value,
            owner=me,
            owned_until=later(_OWNED_SECONDS),
            attempt_count=found.attempt_count + 1,
            **began,
        )


def _carry_out(
    catalog: Catalog, journal: Journal, storage: Storage, load: RawLoad, me: str
) -> None:
    def renew() -> None:
        held = {"load_id": load.load_id, "owner": me, "status": LoadStatus.RUNNING.value}
        with journal.writing(lasts=False) as connection:
            kept = row_storage.update(connection, RawLoad, held, owned_until=later(_OWNED_SECONDS))
        if kept is None:
            raise _Lost

    try:
        committed = _store(catalog, storage, load, renew)
    except _Lost:
        _LOG.warning("another process carries out the load %s", load.load_id)
    except CommitUnclear as error:
        _LOG.exception("whether the load %s was committed is looked up again", load.load_id)
        _try_later(journal, load, me, str(error))
    except GoldsmithError as error:
        if error.transient and load.attempt_count < _MOST_ATTEMPTS:
            _LOG.warning("the load %s is tried again: %s", load.load_id, error)
            _try_later(journal, load, me, str(error))
        else:
            _fail(journal, load, me, f"{error} {error.hint}".strip())
    except Exception as error:
        _LOG.exception("the load %s failed", load.load_id)
        problem = f"An unexpected error, see the log: {type(error).__name__}."
        if load.attempt_count < _MOST_ATTEMPTS:
            _try_later(journal, load, me, problem)
        else:
            _fail(journal, load, me, problem)
    else:
        _end(
            journal,
            load,
            me,
            status=LoadStatus.COMPLETED,
            rows_loaded=committed.rows,
            snapshot_id=committed.snapshot_id,
        )


def _store(
    catalog: Catalog, storage: Storage, load: RawLoad, renew: Callable[[], None]
) -> CommittedLoad:
    """Commit the load unless it was before."""
    name = str(load.table_name)
    table = find_table(storage, name)
    if table is not None and (before := committed_load(table, load.load_id)) is not None:
        return before
    application = applications.find_active(catalog, name)
    table = ensure_table(storage, name)
    keys = applications.upsert_keys(application) if load.mode == LoadMode.UPSERT else ()
    staged = StagedRecords(table=table, upsert_keys=keys)
    try:
        for file in load.files:
            _stage(storage, load, file, staged, renew)
        for file in load.files:
            _refuse_changed(storage, file)
        renew()
    except BaseException:
        staged.discard()
        raise
    if staged.rows == 0:
        return CommittedLoad()
    try:
        return staged.commit(load.load_id)
    except GoldsmithError:
        raise
    except Exception as error:
        # It may have been committed: its files stay, and the next attempt looks.
        raise CommitUnclear(load_id=load.load_id, cause=type(error).__name__) from error


def _stage(
    storage: Storage,
    load: RawLoad,
    file: Mapping[str, Any],
    staged: StagedRecords,
    renew: Callable[[], None],
) -> None:
    _refuse_changed(storage, file)
    rules = RecordRules(
        tenant=str(load.tenant_id), largest_record=storage.settings.lakehouse.largest_record
    )
    path = str(file["path"])
    name = path.removeprefix(f"{objects.tenant_location(storage, rules.tenant)}/")
    with storage.lake_io().new_input(storage.address(path)).open() as opened:
        for chunk in records.read(name, opened, rules):
            staged.add(chunk)
            renew()


def _refuse_changed(storage: Storage, file: Mapping[str, Any]) -> None:
    path = str(file["path"])
    there: list[ListedFile] = [each for each in list_files(path, storage) if each.path == path]
    if not there or there[0].etag != file["etag"]:
        what = "changed" if there else "was deleted"
        raise BadRecords(file=path, problem=f"it {what} after the load was submitted.")


def _fail(journal: Journal, load: RawLoad, me: str, problem: str) -> None:
    _end(journal, load, me, status=LoadStatus.FAILED, problem=problem, content_hash=None)


def _try_later(journal: Journal, load: RawLoad, me: str, problem: str) -> None:
    wait = later(min(600.0, 5.0 * 2**load.attempt_count))
    _end(journal, load, me, status=LoadStatus.ACCEPTED, problem=problem, owned_until=wait)


def _end(journal: Journal, load: RawLoad, me: str, *, status: LoadStatus, **values: Any) -> None:
    """Record the end of an attempt, if the process still owns the load."""
    more = {"problem": None, "owned_until": None, "owner": None} | values
    if status is not LoadStatus.ACCEPTED:
        more |= {"ended_at": now()}
    held = {"load_id": load.load_id, "owner": me, "status": LoadStatus.RUNNING.value}
    with journal.writing() as connection:
        row_storage.update(connection, RawLoad, held, status=status.value, **more)
