"""The database's clock: it measures leases, waits and durations, never this machine's clock."""

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
    """The current time."""

    name = "goldsmith_now"
    type = Moment()
    inherit_cache = True


class Later(FunctionElement[datetime]):
    """The current time plus a number of seconds."""

    name = "goldsmith_later"
    type = Moment()
    inherit_cache = True


class Seconds(FunctionElement[float]):
    """The seconds between two times."""

    name = "goldsmith_seconds"
    type = sa.Double()
    inherit_cache = True


#: One shared instance: `row_storage` caches statements by the expressions in them.
_NOW = Now()


def now() -> Now:
    return _NOW


def moment(at: datetime | None) -> Any:
    """The given time, or the current time if none is given."""
    return now() if at is None else at


@lru_cache(maxsize=64)
def later(seconds: float) -> Later:
    return Later(sa.literal(float(seconds)))


def seconds(start: sa.ColumnElement[Any], end: sa.ColumnElement[Any]) -> Seconds:
    return Seconds(start, end)


def read_clock(connection: sa.Connection) -> datetime:
    """The current time by the database's clock."""
    return connection.execute(sa.select(now())).scalar_one()


@compiles(Now, "sqlite")
def _now_sqlite(_element: Now, _compiler: Any, **_: Any) -> str:
    return _SQLITE.format(later="")


# Not now(), which stays at the start of the transaction.
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
