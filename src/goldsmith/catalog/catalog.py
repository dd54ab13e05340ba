"""An open catalog: its revision, its rows, and the only way to change them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import sqlalchemy as sa

from goldsmith.catalog import database, migrate
from goldsmith.catalog.context import begin_change, end_change
from goldsmith.catalog.definitions import revision_table, storable, table_of
from goldsmith.catalog.errors import CatalogTooOld, RowRefused
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.snapshot import CatalogRows, load, refresh

R = TypeVar("R", bound=Row)


class Catalog:
    """The declared rows in one database."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._snapshot: CatalogRows | None = None

    @classmethod
    def open(cls, url: str, *, create: bool = False) -> Catalog:
        """Open a catalog of this version; `create` creates or migrates it first."""
        engine = database.connect(url)
        try:
            with database.reading(engine) as connection:
                found = migrate.version(connection)
            migrate.refuse_newer(found)
            if found != migrate.VERSION:
                if not create:
                    raise CatalogTooOld(found=found or "none", known=migrate.VERSION)
                migrate.migrate(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    def close(self) -> None:
        self.engine.dispose()

    def revision(self) -> int:
        """The catalog's revision, which increases with every change."""
        with database.reading(self.engine) as connection:
            return int(connection.execute(sa.select(revision_table.c.revision)).scalar_one())

    def snapshot(self) -> CatalogRows:
        """All declared rows at one revision; reads only rows changed since the last snapshot."""
        with database.reading(self.engine) as connection:
            kept = self._snapshot
            self._snapshot = load(connection) if kept is None else refresh(kept, connection)
        return self._snapshot

    @contextmanager
    def change(self, *, actor: str, reason: str | None = None) -> Iterator[Change]:
        """One transaction and one revision, recorded with actor and reason."""
        try:
            with database.writing(self.engine) as connection:
                revision = begin_change(connection, actor=actor, reason=reason)
                yield Change(connection=connection, revision=revision)
                end_change(connection)
        except _Abandoned:
            pass


class _Abandoned(Exception):
    """Rolls back the transaction of a change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """An open transaction that changes rows."""

    connection: sa.Connection
    revision: int

    def abandon(self) -> NoReturn:
        """Roll back the transaction."""
        raise _Abandoned

    def put(self, rows: Iterable[Row], *, exact: bool = False) -> None:
        """Insert rows, or replace those with the same keys.

        Columns the database fills in keep their value if the row leaves them empty. With `exact`
        the row is stored as it is, as an undo needs.
        """
        for kind, alike in _by_kind(rows).items():
            for group in _by_columns(alike, exact=exact):
                insert = _insert(self.connection)(table_of(kind))
                values = {
                    name: insert.excluded[name] for name in group[0] if name not in kind.table.key
                }
                upsert = insert.on_conflict_do_update(
                    index_elements=list(kind.table.key), set_=values
                )
                self._execute(upsert, group, kind)

    def remove(self, rows: Iterable[Row]) -> None:
        for kind, alike in _by_kind(rows).items():
            table = table_of(kind)
            matches = [table.c[name] == sa.bindparam(f"key_{name}") for name in kind.table.key]
            keys = [{f"key_{name}": getattr(row, name) for name in kind.table.key} for row in alike]
            self._execute(sa.delete(table).where(*matches), keys, kind)

    def _execute(self, statement: Any, values: Sequence[dict[str, Any]], kind: type[Row]) -> None:
        try:
            self.connection.execute(statement, list(values))
        except (sa.exc.IntegrityError, sa.exc.DataError) as error:
            first = values[0]
            raise RowRefused(
                table=kind.table.name,
                key=key_text([first.get(name, "…") for name in kind.table.key]),
                cause=str(error.orig).strip(),
            ) from error


def _by_kind(rows: Iterable[R]) -> dict[type[R], list[R]]:
    kinds: dict[type[R], list[R]] = {}
    for row in rows:
        kinds.setdefault(type(row), []).append(row)
    return kinds


def _by_columns(rows: Iterable[Row], *, exact: bool) -> Iterator[list[dict[str, Any]]]:
    """The rows' values, grouped by their columns: one statement for each group."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        values = storable(row, exact=exact)
        groups.setdefault(tuple(values), []).append(values)
    yield from groups.values()


def _insert(connection: sa.Connection) -> Any:
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    return insert
