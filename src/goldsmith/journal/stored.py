"""Writing rows of the journal down: what runs, stage runs, requests and leases share.

A statement is built once for each set of columns and then only given values: to build one takes
SQLAlchemy ten times as long as to carry it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog.columns import Kind
from goldsmith.catalog.definitions import storable, table_of
from goldsmith.catalog.rows import Row
from goldsmith.journal.fitting import fit

R = TypeVar("R", bound=Row)
#: Columns the database works out itself.
Expressions = tuple[tuple[str, Any], ...]


def insert(connection: sa.Connection, row: R, **instead: Any) -> R:
    """Store a row, some of its columns said otherwise, and give back what is stored."""
    values = fitting(type(row), storable(row)) | instead
    said, expressions = _apart(values)
    stored = connection.execute(_inserting(table_of(type(row)), expressions), said).one()
    return type(row).from_storage(stored)


def update(
    connection: sa.Connection, kind: type[R], where: Mapping[str, Any], **values: Any
) -> R | None:
    """Change the row that is as `where` says, in one statement; None where none is.

    A list in `where` is for: one of these; None for: empty.
    """
    said, expressions = _apart(fitting(kind, values))
    matches = tuple((name, _how(value)) for name, value in where.items())
    wanted = {f"is_{name}": value for name, value in where.items() if value is not None}
    changing = _updating(table_of(kind), matches, expressions)
    changed = connection.execute(changing, said | wanted).one_or_none()
    return None if changed is None else kind.from_storage(changed)


def select(
    connection: sa.Connection,
    kind: type[R],
    asked: sa.Select[Any],
    given: Mapping[str, Any] | None = None,
) -> list[R]:
    return [kind.from_storage(row) for row in connection.execute(asked, given)]


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


def _how(value: Any) -> str:
    if value is None:
        return "empty"
    return "among" if isinstance(value, list) else "equal"


@lru_cache(maxsize=512)
def _inserting(table: sa.Table, expressions: Expressions) -> Any:
    return sa.insert(table).values(dict(expressions)).returning(table)


@lru_cache(maxsize=512)
def _updating(
    table: sa.Table, matches: tuple[tuple[str, str], ...], expressions: Expressions
) -> Any:
    where: list[sa.ColumnElement[bool]] = []
    for name, how in matches:
        column = table.c[name]
        match how:
            case "empty":
                where.append(column.is_(None))
            case "among":
                where.append(column.in_(sa.bindparam(f"is_{name}", expanding=True)))
            case _:
                where.append(column == sa.bindparam(f"is_{name}"))
    return sa.update(table).where(*where).values(dict(expressions)).returning(table)
