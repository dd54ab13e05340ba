"""Writing rows of the journal down: what runs, stage runs, requests and leases share."""

from __future__ import annotations

from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog.columns import Kind
from goldsmith.catalog.definitions import storable, table_of
from goldsmith.catalog.rows import Row
from goldsmith.journal.fitting import fit

R = TypeVar("R", bound=Row)


def insert(connection: sa.Connection, row: R, **instead: Any) -> R:
    """Store a row, some of its columns said otherwise, and give back what is stored."""
    table = table_of(type(row))
    values = fitting(type(row), storable(row)) | instead
    stored = connection.execute(sa.insert(table).values(**values).returning(table)).one()
    return type(row).from_storage(stored)


def update(connection: sa.Connection, kind: type[R], *where: Any, **values: Any) -> R | None:
    """Change the row that matches, in one statement; None where none does."""
    table = table_of(kind)
    changed = connection.execute(
        sa.update(table).where(*where).values(**fitting(kind, values)).returning(table)
    ).one_or_none()
    return None if changed is None else kind.from_storage(changed)


def select(connection: sa.Connection, kind: type[R], asked: sa.Select[Any]) -> list[R]:
    return [kind.from_storage(row) for row in connection.execute(asked)]


def fitting(kind: type[Row], values: dict[str, Any]) -> dict[str, Any]:
    """Values both databases take; expressions and moments go as they are."""
    return {
        name: value
        if isinstance(value, sa.ClauseElement) or kind.table.by_name[name].kind is Kind.MOMENT
        else fit(value)
        for name, value in values.items()
    }
