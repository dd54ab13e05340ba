"""The database's clock: leases, waits and durations are measured by it, never by our own."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from goldsmith.catalog.definitions import Moment

_SQLITE = "strftime('%Y-%m-%d %H:%M:%f000', 'now'{later})"


class Now(FunctionElement[datetime]):
    """This moment."""

    name = "goldsmith_now"
    type = Moment()
    inherit_cache = True


class Later(FunctionElement[datetime]):
    """So many seconds from now."""

    name = "goldsmith_later"
    type = Moment()
    inherit_cache = True


class Seconds(FunctionElement[float]):
    """How long it took from one moment to another."""

    name = "goldsmith_seconds"
    type = sa.Double()
    inherit_cache = True


#: One for all: a statement is built once for each expression in it.
_NOW = Now()


def now() -> Now:
    return _NOW


def moment(at: datetime | None) -> Any:
    """The moment somebody chose, or else this one."""
    return now() if at is None else at


@lru_cache(maxsize=64)
def later(seconds: float) -> Later:
    return Later(sa.literal(float(seconds)))


def seconds(start: sa.ColumnElement[Any], end: sa.ColumnElement[Any]) -> Seconds:
    return Seconds(start, end)


def read_clock(connection: sa.Connection) -> datetime:
    """What the database's clock says."""
    return connection.execute(sa.select(now())).scalar_one()


@compiles(Now, "sqlite")
def _now_sqlite(_element: Now, _compiler: Any, **_: Any) -> str:
    return _SQLITE.format(later="")


# Not now(): it stands still during a transaction.
@compiles(Now, "postgresql")
def _now_postgresql(_element: Now, _compiler: Any, **_: Any) -> str:
    return "clock_timestamp()"


@compiles(Later, "sqlite")
def _later_sqlite(element: Later, compiler: Any, **more: Any) -> str:
    return _SQLITE.format(later=f", {compiler.process(element.clauses, **more)} || ' seconds'")


@compiles(Later, "postgresql")
def _later_postgresql(element: Later, compiler: Any, **more: Any) -> str:
    span = f"CAST({compiler.process(element.clauses, **more)} AS double precision)"
    return f"clock_timestamp() + make_interval(secs => {span})"


@compiles(Seconds, "sqlite")
def _seconds_sqlite(element: Seconds, compiler: Any, **more: Any) -> str:
    start, end = (compiler.process(part, **more) for part in element.clauses)
    return f"(julianday({end}) - julianday({start})) * 86400.0"


@compiles(Seconds, "postgresql")
def _seconds_postgresql(element: Seconds, compiler: Any, **more: Any) -> str:
    start, end = (compiler.process(part, **more) for part in element.clauses)
    return f"CAST(extract(epoch FROM {end} - {start}) AS double precision)"
