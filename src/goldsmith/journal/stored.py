"""Writing rows of the journal down: what runs, stage runs, requests and leases share.

A statement is built once for each set of columns and then only given values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog.columns import Kind
from goldsmith.catalog.definitions import storable, table_of
from goldsmith.catalog.prepared import Prepared
from goldsmith.catalog.rows import Row
from goldsmith.journal.fitting import fit

R = TypeVar("R", bound=Row)
#: Columns the database works out itself.
Expressions = tuple[tuple[str, Any], ...]


def insert(connection: sa.Connection, row: R, **instead: Any) -> R:
    """Store a row, some of its columns said otherwise, and give back what is stored."""
    values = fitting(type(row), storable(row)) | instead
    said, expressions = _apart(values)
    [stored] = _inserting(table_of(type(row)), expressions).rows(connection, said)
    return type(row).from_storage(stored)


def update(
    connection: sa.Connection, kind: type[R], where: Mapping[str, Any], **values: Any
) -> R | None:
    """Change the row that is as `where` says, in one statement; None where none is.

    A list in `where` is for: one of these; None for: empty.
    """
    said, expressions = _apart(fitting(kind, values))
    among = {name: _several(value) for name, value in where.items()}
    for name, several in among.items():
        said |= {_place(name, number): value for number, value in enumerate(several)}
    matches = tuple((name, len(several)) for name, several in among.items())
    changed = _updating(table_of(kind), matches, expressions).first(connection, said)
    return None if changed is None else kind.from_storage(changed)


def select(
    connection: sa.Connection,
    kind: type[R],
    asked: sa.Select[Any] | Prepared,
    given: Mapping[str, Any] | None = None,
) -> list[R]:
    found: Any
    if isinstance(asked, Prepared):
        found = asked.rows(connection, given or {})
    else:
        found = connection.execute(asked, given)
    return [kind.from_storage(row) for row in found]


def fitting(kind: type[Row], values: dict[str, Any]) -> dict[str, Any]:
    """Values both databases take; expressions and moments go as they are."""
    return {
        name: value
        if isinstance(value, sa.ClauseElement) or kind.table.by_name[name].kind is Kind.MOMENT
        else fit(value)
        for name, value in values.items()
    }


def _apart(values: Mapping[str, Any]) -> tuple[dict[str, Any], Expressions]:
    said = {
        name: value for name, value in values.items() if not isinstance(value, sa.ClauseElement)
    }
    return said, tuple((name, value) for name, value in values.items() if name not in said)


def _several(value: Any) -> list[Any]:
    """The values a column may have; none for: empty."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _place(name: str, number: int) -> str:
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
        places = [
            sa.bindparam(_place(name, number), type_=column.type) for number in range(several)
        ]
        where.append(sa.or_(*(column == place for place in places)) if places else column.is_(None))
    return Prepared(sa.update(table).where(*where).values(dict(expressions)).returning(table))
