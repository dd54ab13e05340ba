"""Statements every stage executes: compiled once, then passed straight to the driver.

SQLAlchemy takes five times as long to execute a statement as the database itself. SQLAlchemy
still makes the text for each database and converts the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog import database

_NOTHING: Mapping[str, Any] = {}


class Prepared:
    """A statement for both databases. Rows come back as the driver returns them."""

    def __init__(self, statement: Any) -> None:
        self._statement = statement
        #: By database, and by the names of the given values.
        self._ready: dict[tuple[str, tuple[str, ...]], _Ready] = {}

    def rows(
        self, connection: sa.Connection, values: Mapping[str, Any] = _NOTHING
    ) -> list[tuple[Any, ...]]:
        """Every row the statement returns."""
        found: list[tuple[Any, ...]] = self._execute(connection, values).fetchall()
        return found

    def first(
        self, connection: sa.Connection, values: Mapping[str, Any] = _NOTHING
    ) -> tuple[Any, ...] | None:
        found = self.rows(connection, values)
        return found[0] if found else None

    def glance(
        self, engine: sa.Engine, values: Mapping[str, Any] = _NOTHING
    ) -> list[tuple[Any, ...]]:
        """Every row the statement returns, executed without a transaction."""
        ready = self._for(engine.dialect, values)
        return database.glance(engine, ready.text, ready.bound(values))

    def run(self, connection: sa.Connection, values: Mapping[str, Any] = _NOTHING) -> int:
        """Execute the statement and return the number of rows affected."""
        cursor = self._execute(connection, values)
        number = int(cursor.rowcount)
        cursor.close()
        return number

    def run_all(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute the statement for each of the rows, which all have the same names."""
        if rows:
            dialect = connection.dialect
            ready = self._for(dialect, rows[0])
            try:
                cursor = connection.connection.cursor()
                cursor.executemany(ready.text, [ready.bound(values) for values in rows])
                cursor.close()
            except dialect.loaded_dbapi.Error as error:
                raise _as_sqlalchemy_error(error, ready, dialect) from error

    def _execute(self, connection: sa.Connection, values: Mapping[str, Any]) -> Any:
        dialect = connection.dialect
        ready = self._for(dialect, values)
        try:
            cursor = connection.connection.cursor()
            cursor.execute(ready.text, ready.bound(values))
        except dialect.loaded_dbapi.Error as error:
            raise _as_sqlalchemy_error(error, ready, dialect) from error
        return cursor

    def _for(self, dialect: sa.Dialect, values: Mapping[str, Any]) -> _Ready:
        key = (dialect.name, tuple(values))
        ready = self._ready.get(key)
        if ready is None:
            ready = self._ready[key] = _compile(self._statement, dialect, key[1])
        return ready


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    """The compiled text for one database, and its parameters."""

    text: str
    #: Each parameter: its name, its default, and the function that converts its value.
    parameters: tuple[tuple[str, Any, Callable[[Any], Any] | None], ...]
    by_name: bool

    def bound(self, values: Mapping[str, Any]) -> Any:
        stored = [
            values.get(name, default) if store is None else store(values.get(name, default))
            for name, default, store in self.parameters
        ]
        if not self.by_name:
            return stored
        return {
            parameter[0]: value for parameter, value in zip(self.parameters, stored, strict=True)
        }


def _as_sqlalchemy_error(error: Exception, ready: _Ready, dialect: sa.Dialect) -> BaseException:
    """The driver's error as SQLAlchemy's, so that callers catch the same errors either way."""
    return sa.exc.DBAPIError.instance(
        ready.text, None, error, dialect.loaded_dbapi.Error, dialect=dialect
    )


def _compile(statement: Any, dialect: sa.Dialect, names: tuple[str, ...]) -> _Ready:
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    types = {name: bound.type for bound, name in compiled.bind_names.items()}
    defaults = compiled.params
    in_order = compiled.positiontup if compiled.positional else list(types)
    return _Ready(
        text=str(compiled),
        parameters=tuple(
            (name, defaults.get(name), types[name].dialect_impl(dialect).bind_processor(dialect))
            for name in in_order
        ),
        by_name=not compiled.positional,
    )
