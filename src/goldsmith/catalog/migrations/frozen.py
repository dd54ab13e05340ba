"""Frozen SQL of migrations: the tables as they were when the migration was written.

A migration must never change after its release, while the definitions do. So a migration that
creates tables or indexes runs the SQL that was generated from the definitions when it was
written, from `versions/<revision>.<database>.sql`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable

FOLDER = Path(__file__).parent / "versions"
_BREAK = ";\n\n"


def run(connection: sa.Connection, revision: str) -> None:
    """Run the frozen statements of a revision for this database."""
    # Executed without parameters: psycopg would take a percent sign for a placeholder.
    connection.execution_options(no_parameters=True)
    for statement in _file(revision, connection.dialect.name).read_text("utf-8").split(_BREAK):
        if statement.strip():
            connection.exec_driver_sql(statement)


def freeze(
    revision: str,
    made: Iterable[sa.Table | sa.Index],
    more: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write the CREATE statements of these, and the `more` statements of each database."""
    from sqlalchemy.dialects import postgresql, sqlite

    kept = list(made)
    for dialect in (sqlite.dialect(), postgresql.dialect()):  # type: ignore[no-untyped-call]
        statements = [*_statements(kept, dialect), *(more or {}).get(dialect.name, ())]
        if any(_BREAK in statement for statement in statements):
            raise ValueError("A statement holds an empty line after a semicolon: it would be cut.")
        text = "".join(f"{statement}{_BREAK}" for statement in statements)
        _file(revision, dialect.name).write_text(text, encoding="utf-8")


def _statements(made: Iterable[sa.Table | sa.Index], dialect: sa.Dialect) -> Iterator[str]:
    for item in made:
        if isinstance(item, sa.Table):
            yield str(CreateTable(item).compile(dialect=dialect)).strip()
            yield from _statements(sorted(item.indexes, key=lambda i: str(i.name)), dialect)
        else:
            yield str(CreateIndex(item).compile(dialect=dialect)).strip()


def _file(revision: str, database: str) -> Path:
    return FOLDER / f"{revision}.{database}.sql"
