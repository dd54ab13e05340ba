"""Write rows of the gateway: insert them, or update existing ones."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from goldsmith.journal.journal import Journal

_AT_ONCE = 400
#: SQLite has one writer. Threads of one process wait here: its own waiting sleeps too long.
_WRITER = threading.Lock()


@contextmanager
def accepting(journal: Journal) -> Iterator[sa.Connection]:
    """A transaction that stores a request; on PostgreSQL senders do not wait for each other."""
    if journal.engine.dialect.name == "postgresql":
        with journal.engine.begin() as connection:
            yield connection
        return
    with _WRITER, journal.writing() as connection:
        yield connection


@contextmanager
def processing(journal: Journal) -> Iterator[sa.Connection]:
    """A transaction that applies a request, one at a time.

    A power cut undoes the mark of the request together with its rows: nothing need be synced.
    """
    with _WRITER, journal.writing(lasts=False) as connection:
        yield connection


def storable(value: Any) -> Any:
    """JSON whose texts both databases store: no NUL, no half surrogate pairs; nothing is cut."""
    if isinstance(value, str):
        text = value.replace("\x00", "�")
        return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {storable(name): storable(inner) for name, inner in value.items()}
    return [storable(inner) for inner in value] if isinstance(value, list) else value


def upsert(
    connection: sa.Connection,
    table: sa.Table,
    rows: Iterable[Mapping[str, Any]],
    *,
    keep: Sequence[str] = (),
) -> None:
    """Insert rows by primary key; existing rows get the new values, except in the kept columns."""
    by_key = {tuple(row[column.name] for column in table.primary_key): dict(row) for row in rows}
    # In the order of their keys: two writers cannot wait for each other.
    found = [by_key[key] for key in sorted(by_key)]
    insert = postgres_insert if connection.dialect.name == "postgresql" else sqlite_insert
    keys = [column.name for column in table.primary_key]
    for start in range(0, len(found), _AT_ONCE):
        batch = found[start : start + _AT_ONCE]
        statement = insert(table)
        changed = {
            name: statement.excluded[name]
            for name in batch[0]
            if name not in keys and name not in keep
        }
        if changed:
            statement = statement.on_conflict_do_update(index_elements=keys, set_=changed)
        else:
            statement = statement.on_conflict_do_nothing(index_elements=keys)
        connection.execute(statement, batch)
