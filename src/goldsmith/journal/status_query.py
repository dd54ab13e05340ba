"""Read the catalog and the journal quickly, through the plain database driver.

`status` and `why` must answer at once: importing SQLAlchemy alone takes longer than they may.
They only read, with constant SQL over the documented views.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from goldsmith.catalog.columns import FROM_STORAGE, ColumnKind
from goldsmith.catalog.errors import (
    CatalogDamaged,
    CatalogTooNew,
    CatalogTooOld,
    CatalogUnreachable,
    is_damaged,
)
from goldsmith.catalog.postgresql_url import libpq_url
from goldsmith.catalog.version import VERSION

_BUSY_SECONDS = 10
_NO_VERSION = "none"
#: LIKE patterns of the options of special runs, which do not count for the state of their
#: pipeline: replays of quarantined rows, and trial runs (`--limit`).
SPECIAL_RUNS = {"replay": '%"replay":%', "trial": '%"limit":%'}
#: SQL condition: the request `q` asks for a special run.
IS_SPECIAL = "(CAST(q.options AS TEXT) LIKE :replay OR CAST(q.options AS TEXT) LIKE :trial)"

#: Converters by column name: SQLite has no type for times, booleans or JSON.
_READ: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        ("at", "since", "until", "now", "asked_at", "not_before", "started_at", "ended_at"),
        FROM_STORAGE[ColumnKind.MOMENT],
    ),
    **dict.fromkeys(("enabled", "is_due"), FROM_STORAGE[ColumnKind.FLAG]),
    **dict.fromkeys(("selection", "pipelines", "run_ids"), FROM_STORAGE[ColumnKind.LIST]),
    "facts": FROM_STORAGE[ColumnKind.MAP],
}


class StatusConnection:
    """A read-only connection that sees one consistent state of the database."""

    def __init__(self, connection: Any, *, is_sqlite: bool) -> None:
        self._connection = connection
        self._is_sqlite = is_sqlite

    def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """The rows of a query as dicts; parameters are written `:name`."""
        statement = sql if self._is_sqlite else re.sub(r":(\w+)", r"%(\1)s", sql)
        cursor = self._connection.execute(statement, values)
        names = [column[0] for column in cursor.description]
        return [
            {name: _read(name, value) for name, value in zip(names, row, strict=True)}
            for row in cursor.fetchall()
        ]

    def row(self, sql: str, **values: Any) -> dict[str, Any] | None:
        """The first row; None if there is none."""
        return next(iter(self.rows(sql, **values)), None)

    def version(self) -> str | None:
        """The version of the catalog's tables; None if there are no tables."""
        found = self.row(
            "SELECT name FROM sqlite_master WHERE name = 'alembic_version'"
            if self._is_sqlite
            else "SELECT table_name FROM information_schema.tables"
            " WHERE table_name = 'alembic_version' AND table_schema = current_schema()"
        )
        row = self.row("SELECT version_num FROM alembic_version") if found else None
        return None if row is None else str(row["version_num"])


@contextmanager
def open_status_connection(url: str) -> Iterator[StatusConnection]:
    """Connect to a catalog of this version; raises CatalogTooNew or CatalogTooOld for another."""
    with _connected(url) as look:
        found = look.version()
        if found is not None and found > VERSION:
            raise CatalogTooNew(found=found, known=VERSION)
        if found != VERSION:
            raise CatalogTooOld(found=found or _NO_VERSION, known=VERSION)
        yield look


@contextmanager
def _connected(url: str) -> Iterator[StatusConnection]:
    is_sqlite = url.startswith("sqlite")
    connected = _sqlite(url) if is_sqlite else _postgresql(url)
    with _reachable(url, is_sqlite=is_sqlite), connected as connection:
        yield StatusConnection(connection, is_sqlite=is_sqlite)


@contextmanager
def _sqlite(url: str) -> Iterator[Any]:
    file = Path(url.partition(":///")[2].partition("?")[0])
    # Reading must never create the file.
    address = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


@contextmanager
def _postgresql(url: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(libpq_url(url), connect_timeout=_BUSY_SECONDS) as connection:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield connection


@contextmanager
def _reachable(url: str, *, is_sqlite: bool) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not isinstance(error, _unreachable(is_sqlite=is_sqlite)):
            raise
        found = CatalogDamaged if is_damaged(error) else CatalogUnreachable
        raise found.of(url, error) from error


def _unreachable(*, is_sqlite: bool) -> type[Exception]:
    if is_sqlite:
        return sqlite3.DatabaseError
    import psycopg

    return psycopg.OperationalError


def _read(name: str, value: Any) -> Any:
    read = _READ.get(name)
    return value if read is None or value is None else read(value)
