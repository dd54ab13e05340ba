"""The one transaction of a load, alike on every warehouse: fence, shape, write, ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from goldsmith.engine.warehouses import statements
from goldsmith.engine.warehouses.landing import Landing, Table
from goldsmith.engine.warehouses.warehouse import Fenced, Load, Loaded, LoadRefused
from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import WarehouseKind


class Session(Protocol):
    """An open connection to a warehouse; what it raises are errors of ours."""

    kind: WarehouseKind

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Carry a statement out with bound values; the rows it gives."""


@dataclass(eq=False, kw_only=True)
class LoadGivenUp(Fenced):
    """A load was taken for dead and cleaned up, so it must not be published any more."""

    seen: int = 0

    def __str__(self) -> str:
        return (
            f"The load of {self.location} was taken for dead, and another process cleaned it up: "
            "nothing was published."
        )


@dataclass(eq=False, kw_only=True)
class TableMissing(GoldsmithError):
    """A stage reads a warehouse table that is not there."""

    exit_code = 1

    location: str
    where: str

    def __str__(self) -> str:
        return f"There is no table {self.location} in {self.where}."

    @property
    def hint(self) -> str:
        return "Run the stage that writes it first."


def columns(session: Session, table: Table) -> dict[str, str] | None:
    """A table's columns and types; None where there is no table."""
    found = session.run(statements.columns_of(session.kind), table.schema, table.table)
    return {str(name): str(type_) for name, type_ in found} or None


def loaded(session: Session, location: str, stage_run_id: str) -> Loaded | None:
    """What the ledger says of a load that was published."""
    if columns(session, statements.ledger(session.kind)) is None:
        return None
    found = session.run(statements.ledger_row(session.kind), stage_run_id, location)
    if not found or found[0][0] is None:
        return None
    return Loaded(stage_run_id=stage_run_id, rows=int(found[0][0]))


def make_ledger(session: Session) -> None:
    """Make the ledger where there is none yet."""
    ledger = statements.ledger(session.kind)
    for is_last in (False, False, True):
        if columns(session, ledger) is not None:
            return
        try:
            _make_schema(session, ledger)
            session.run(statements.create_ledger(session.kind))
        except LoadRefused:
            # The first loads of a warehouse may make it at once, and IF NOT EXISTS fails then.
            if is_last:
                raise


def check_count(session: Session, load: Load, landing: Landing) -> None:
    """What was copied is what was staged."""
    found = session.run(statements.count(landing.staging))[0][0]
    if found != load.rows:
        cause = f"{load.rows} rows were staged and {found} arrived"
        raise LoadRefused(location=load.location, cause=cause)


def publish(session: Session, load: Load, landing: Landing, reach: Callable[[str], None]) -> Loaded:
    """Publish staged rows and write the ledger; a transaction that holds the ledger is open."""
    before = session.run(statements.ledger_row(session.kind), load.stage_run_id, load.location)
    if before:
        return _settled(before[0][0], load)
    seen = session.run(statements.highest_token(session.kind), load.location)[0][0]
    if seen is not None and seen > load.token:
        raise Fenced(location=load.location, token=load.token, seen=int(seen))
    there = _make_target(session, landing)
    if load.from_scratch:
        session.run(statements.empty(landing))
    if load.replaced is not None:
        column, *between = load.replaced
        moments = [f"{at:%Y-%m-%d %H:%M:%S.%f}" for at in between]
        session.run(statements.delete_between(landing, column), *moments)
    rows = _write(session, landing, there)
    reach("warehouse-merged")
    session.run(
        statements.write_ledger(session.kind), load.stage_run_id, load.location, load.token, rows
    )
    reach("warehouse-ledger-written")
    return Loaded(stage_run_id=load.stage_run_id, rows=rows)


def give_up(session: Session, location: str, stage_run_id: str) -> None:
    """See to it that a load which was not published never will be; the ledger is held."""
    # A process that sleeps before it makes its staging table would else publish when it wakes.
    if not session.run(statements.ledger_row(session.kind), stage_run_id, location):
        session.run(statements.give_up(session.kind), stage_run_id, location)


def is_given_up(session: Session, load: Load) -> bool:
    found = session.run(statements.ledger_row(session.kind), load.stage_run_id, load.location)
    return bool(found) and found[0][0] is None


def _settled(rows: int | None, load: Load) -> Loaded:
    if rows is None:
        raise LoadGivenUp(location=load.location, token=load.token)
    return Loaded(stage_run_id=load.stage_run_id, rows=int(rows))


def _make_schema(session: Session, table: Table) -> None:
    if not session.run(statements.schema_there(session.kind), table.schema):
        session.run(statements.create_schema(table))


def _make_target(session: Session, landing: Landing) -> list[str]:
    """The table with all columns of the load; the names of its columns in order."""
    there = columns(session, landing.target)
    if there is None:
        _make_schema(session, landing.target)
        session.run(statements.create_target(landing))
        return [column.name for column in landing.columns]
    # DuckDB finds a column by any case; on the others the landing took the table's spelling.
    known = {name.lower() for name in there}
    added = [column for column in landing.columns if column.name.lower() not in known]
    for column in added:
        session.run(statements.add_column(landing, column))
    return [*there, *(column.name for column in added)]


def _write(session: Session, landing: Landing, there: Sequence[str]) -> int:
    """Change the target; how many rows were written."""
    if landing.mode in ("append", "overwrite"):
        write = statements.append if landing.mode == "append" else statements.overwrite
        return _run(session, write(landing), landing.staging)
    found = session.run(statements.key_patterns(landing))
    patterns = [tuple(bool(is_null) for is_null in row) for row in found]
    if not patterns:
        return 0
    if landing.mode == "merge":
        return _run(session, statements.merge(landing, patterns), landing.staging)
    made = statements.versions(landing)
    rows = _run(session, statements.scd2(landing, patterns, there), made)
    session.run(statements.drop(made))
    return rows


def _run(session: Session, changes: Any, counted: Table) -> int:
    for sql in changes:
        session.run(sql)
    return int(session.run(statements.count(counted))[0][0])
