"""The transaction of a load, the same on every warehouse: check token, write, fill the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.write_modes import WRITE_MODES
from goldsmith.engine.warehouses import statements
from goldsmith.engine.warehouses.exact_values import refuse_changed
from goldsmith.engine.warehouses.landing import Landing, WarehouseTable
from goldsmith.engine.warehouses.warehouse import Fenced, Load, Loaded, LoadRefused
from goldsmith.engine.warehouses.warehouse_write import Session, WarehouseWrite
from goldsmith.errors import GoldsmithError
from goldsmith.planning.locations import is_other_table, warehouse_table
from goldsmith.planning.provenance import SOURCE_FILE
from goldsmith.planning.rewritten_files import NO_FILE, SOME_WITHOUT_FILE, FileRewritten

#: Bound values per statement; servers have a limit.
_FILES_AT_ONCE = 500


@dataclass(eq=False, kw_only=True)
class LoadGivenUp(Fenced):
    """Another process took a load for dead and cleaned it up, so it cannot be published."""

    seen: int = 0

    def __str__(self) -> str:
        return (
            f"The load of {self.location} was taken for dead, and another process cleaned it up: "
            "nothing was published."
        )


@dataclass(eq=False, kw_only=True)
class TableMissing(GoldsmithError):
    """A stage reads a warehouse table that does not exist."""

    exit_code = 1

    location: str
    where: str

    def __str__(self) -> str:
        return f"There is no table {self.location} in {self.where}."

    @property
    def hint(self) -> str:
        return "Run the stage that writes it first."


@dataclass(eq=False, kw_only=True)
class TableExists(GoldsmithError):
    """A table cannot be renamed to the name of an existing table."""

    exit_code = 1

    location: str

    def __str__(self) -> str:
        return f"There is a table {self.location} already."

    @property
    def hint(self) -> str:
        return "Give the target a location of its own, or rename that table."


@dataclass(eq=False, kw_only=True)
class TableReplaced(GoldsmithError):
    """A table was dropped and created again during a load."""

    exit_code = 1

    location: str

    def __str__(self) -> str:
        return (
            f"The table {self.location} was made anew while it was loaded: it would be filled with"
            " only what is new. Nothing was published."
        )

    @property
    def hint(self) -> str:
        return "Put the table back as it was, or load everything again: `run --full-refresh`."


def columns(session: Session, table: WarehouseTable) -> dict[str, str] | None:
    """A table's columns and types; None if there is no table."""
    found = session.run(session.dialect.columns_of, table.schema, table.table)
    return {str(name): str(type_) for name, type_ in found} or None


def loaded(session: Session, location: str, stage_run_id: str) -> Loaded | None:
    """The result of a published load, from the ledger; None if it was not published."""
    if columns(session, statements.ledger(session.dialect)) is None:
        return None
    found = _ledger_row(session, stage_run_id, location)
    if not found or found[0][0] is None:
        return None
    now = session.dialect.table_id(session.run, WarehouseTable.at(location, session.dialect))
    return Loaded(stage_run_id=stage_run_id, rows=int(found[0][0]), table_id=now)


def _ledger_row(session: Session, stage_run_id: str, location: str) -> list[tuple[Any, ...]]:
    """The ledger rows of a stage run for a table, whatever spelling its location has."""
    found = session.run(statements.ledger_row(session.dialect), stage_run_id)
    table = warehouse_table(location)
    return [row for row in found if warehouse_table(str(row[1])) == table]


def move(session: Session, old: str, new: str) -> None:
    """Rename a table, and its location in the ledger, inside an open transaction."""
    before, after = WarehouseTable.at(old, session.dialect), WarehouseTable.at(new, session.dialect)
    if warehouse_table(old) != warehouse_table(new):
        if columns(session, after) is not None:
            raise TableExists(location=new)
        _make_schema(session, after)
        write_table_id = session.dialect.carry_table_id(session.run, before, after)
        for sql in statements.move_table(before, after):
            session.run(sql)
        write_table_id()
    make_ledger(session)
    for (location,) in session.run(statements.ledger_locations(session.dialect)):
        if warehouse_table(str(location)) == warehouse_table(old):
            session.run(statements.move_ledger(session.dialect), new, location)


def make_ledger(session: Session) -> None:
    """Create the ledger table if it does not exist."""
    ledger = statements.ledger(session.dialect)
    for is_last in (False, False, True):
        if columns(session, ledger) is not None:
            return
        try:
            _make_schema(session, ledger)
            session.run(statements.create_ledger(session.dialect))
        except LoadRefused:
            # Two first loads may create it at once, and then even IF NOT EXISTS fails.
            if is_last:
                raise


def check_count(session: Session, load: Load, landing: Landing) -> None:
    """Raise if the staging table has another number of rows than the staged files."""
    found = session.run(statements.count(landing.staging))[0][0]
    if found != load.rows:
        cause = f"{load.rows} rows were staged and {found} arrived"
        raise LoadRefused(location=load.location, cause=cause)


def publish(session: Session, load: Load, landing: Landing, reach: Callable[[str], None]) -> Loaded:
    """Publish staged rows and write the ledger, in an open transaction that locks the ledger."""
    before = _ledger_row(session, load.stage_run_id, load.location)
    if before:
        return _settled(session, before[0][0], load)
    seen = session.run(statements.highest_token(session.dialect), load.location)[0][0]
    if seen is not None and seen > load.token:
        raise Fenced(location=load.location, token=load.token, seen=int(seen))
    table_columns = _make_target(session, landing, load.location)
    now = session.dialect.table_id(session.run, landing.target)
    if load.table_id is not None and is_other_table(load.table_id, now):
        raise TableReplaced(location=load.location)
    if load.from_scratch:
        session.run(statements.empty(landing))
    if load.replaced is not None:
        column, *between = load.replaced
        moments = [f"{at:%Y-%m-%d %H:%M:%S.%f}" for at in between]
        session.run(statements.delete_between(landing, column), *moments)
    if load.replaced_files:
        _delete_of_files(session, load, landing, table_columns)
    write = WarehouseWrite(session=session, landing=landing, table_columns=table_columns)
    rows = WRITE_MODES.get(landing.mode).write_to_warehouse(write)
    reach("warehouse-merged")
    session.run(
        statements.write_ledger(session.dialect), load.stage_run_id, load.location, load.token, rows
    )
    now = session.dialect.ensure_table_id(session.run, landing.target)
    reach("warehouse-ledger-written")
    return Loaded(stage_run_id=load.stage_run_id, rows=rows, table_id=now)


def _delete_of_files(
    session: Session, load: Load, landing: Landing, table_columns: Sequence[str]
) -> None:
    """Delete the rows of the replaced files; raises if some rows have no source file."""
    reason = None
    if SOURCE_FILE not in {column.lower() for column in table_columns}:
        reason = NO_FILE
    elif session.run(statements.rows_without(landing, SOURCE_FILE))[0][0]:
        reason = SOME_WITHOUT_FILE
    if reason is not None:
        raise FileRewritten(target=load.location, files=load.replaced_files, reason=reason)
    for start in range(0, len(load.replaced_files), _FILES_AT_ONCE):
        files = load.replaced_files[start : start + _FILES_AT_ONCE]
        session.run(statements.delete_among(landing, SOURCE_FILE, len(files)), *files)


def give_up(session: Session, location: str, stage_run_id: str) -> None:
    """Record that an unpublished load must never be published; the ledger is locked."""
    # Otherwise a process that hangs before it creates its staging table could publish later.
    if not _ledger_row(session, stage_run_id, location):
        session.run(statements.give_up(session.dialect), stage_run_id, location)


def is_given_up(session: Session, load: Load) -> bool:
    found = _ledger_row(session, load.stage_run_id, load.location)
    return bool(found) and found[0][0] is None


def _settled(session: Session, rows: int | None, load: Load) -> Loaded:
    if rows is None:
        raise LoadGivenUp(location=load.location, token=load.token)
    now = session.dialect.table_id(session.run, WarehouseTable.at(load.location, session.dialect))
    return Loaded(stage_run_id=load.stage_run_id, rows=int(rows), table_id=now)


def _make_schema(session: Session, table: WarehouseTable) -> None:
    if not session.run(statements.schema_there(session.dialect), table.schema):
        session.run(statements.create_schema(table))


def _make_target(session: Session, landing: Landing, location: str) -> list[str]:
    """Create the target or add missing columns; return its column names in order."""
    table_columns = columns(session, landing.target)
    if table_columns is None:
        _make_schema(session, landing.target)
        session.run(statements.create_target(landing))
        return [column.name for column in landing.columns]
    refuse_changed(session.run, landing, table_columns, location)
    # DuckDB ignores the case of names; elsewhere the landing has the table's spelling.
    known = {name.lower() for name in table_columns}
    added = [column for column in landing.columns if column.name.lower() not in known]
    for column in added:
        session.run(statements.add_column(landing, column))
    return [*table_columns, *(column.name for column in added)]


def vacuum(session: Session, location: str) -> list[str]:
    """Vacuum and analyze a table; return the statements that ran."""
    table = WarehouseTable.at(location, session.dialect)
    if columns(session, table) is None:
        return []
    done = session.dialect.maintenance(table)
    for sql in done:
        session.run(sql)
    return done
