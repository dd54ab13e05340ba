"""Insert, update and select rows of the journal.

Each statement is built once for each set of columns and then reused with new values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog.columns import ColumnKind
from goldsmith.catalog.definitions import storable, table_of
from goldsmith.catalog.prepared import Prepared
from goldsmith.catalog.rows import Row
from goldsmith.journal.storable_values import fit

R = TypeVar("R", bound=Row)
#: Columns whose value is an SQL expression.
Expressions = tuple[tuple[str, Any], ...]


def insert(connection: sa.Connection, row: R, **instead: Any) -> R:
    """Insert a row, with some columns replaced by `instead`, and return the stored row."""
    values = fitting(type(row), storable(row)) | instead
    plain, expressions = _apart(values)
    [stored] = _inserting(table_of(type(row)), expressions).rows(connection, plain)
    return type(row).from_storage(stored)


def update(
    connection: sa.Connection, kind: type[R], where: Mapping[str, Any], **values: Any
) -> R | None:
    """Update the row that matches `where`, in one statement; None if no row matches.

    A list in `where` means one of these values; None means NULL.
    """
    plain, expressions = _apart(fitting(kind, values))
    among = {name: _several(value) for name, value in where.items()}
    for name, several in among.items():
        plain |= {_parameter_name(name, number): value for number, value in enumerate(several)}
    matches = tuple((name, len(several)) for name, several in among.items())
    changed = _updating(table_of(kind), matches, expressions).first(connection, plain)
    return None if changed is None else kind.from_storage(changed)


def select(
    connection: sa.Connection,
    kind: type[R],
    query: sa.Select[Any] | Prepared,
    given: Mapping[str, Any] | None = None,
) -> list[R]:
    found: Any
    if isinstance(query, Prepared):
        found = query.rows(connection, given or {})
    else:
        found = connection.execute(query, given)
    return [kind.from_storage(row) for row in found]


def fitting(kind: type[Row], values: dict[str, Any]) -> dict[str, Any]:
    """Values both databases accept; expressions and times are passed on unchanged."""
    return {
        name: value
        if isinstance(value, sa.ClauseElement) or kind.table.by_name[name].kind is ColumnKind.MOMENT
        else fit(value)
        for name, value in values.items()
    }


def _apart(values: Mapping[str, Any]) -> tuple[dict[str, Any], Expressions]:
    plain = {
        name: value for name, value in values.items() if not isinstance(value, sa.ClauseElement)
    }
    return plain, tuple((name, value) for name, value in values.items() if name not in plain)


def _several(value: Any) -> list[Any]:
    """The values a column may have; an empty list means NULL."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _parameter_name(name: str, number: int) -> str:
    return f"is_{name}_{number}"


@lru_cache(maxsize=512)
def _inserting(table: sa.Table, expressions: Expressions) -> Prepared:
    return Prepared(sa.insert(table).values(dict(expressions)).returning(table))


@lru_cache(maxsize=512)
def _updating(
    table: sa.Table, matches: tuple[tuple[str, int], ...], expressions: Expressions
) -> Prepared:
    where: list[sa.ColumnElement[bool]] = []
    for name, several in matches:
        column = table.c[name]
        parameters = [
            sa.bindparam(_parameter_name(name, number), type_=column.type)
            for number in range(several)
        ]
        where.append(
            sa.or_(*(column == parameter for parameter in parameters))
            if parameters
            else column.is_(None)
        )
    return Prepared(sa.update(table).where(*where).values(dict(expressions)).returning(table))
