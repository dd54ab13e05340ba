"""All declared rows at one revision, immutable; a new snapshot shares the unchanged rows."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.definitions import changes_table, revision_table, table_of
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.rows import Row, by_key
from goldsmith.catalog.schema import BY_TABLE, DECLARED

R = TypeVar("R", bound=Row)
Key = tuple[Any, ...]

#: With more changes than this, reading all rows is quicker.
_MOST_CHANGES = 5_000
_REVISION = sa.select(revision_table.c.revision)
_REVISION_TEXT = str(_REVISION)


class CatalogRows:
    """The catalog's rows at one revision. Immutable."""

    def __init__(self, revision: int, tables: Mapping[str, Mapping[Key, Row]]) -> None:
        self.revision = revision
        self.tables = tables
        #: The snapshot this one was made from, and the rows that differ.
        self._made_from: tuple[CatalogRows, tuple[tuple[type[Row], Key], ...]] | None = None

    def table(self, kind: type[R]) -> Mapping[Key, R]:
        """The rows of a table by key."""
        return self.tables[kind.table.name]  # type: ignore[return-value]

    def rows(self, kind: type[R]) -> Collection[R]:
        return self.table(kind).values()

    def get(self, kind: type[R], *key: Any) -> R | None:
        return self.table(kind).get(key)

    @cached_property
    def stages_of(self) -> Mapping[str, tuple[Stage, ...]]:
        """The stages of each pipeline, in order."""
        return _grouped(self.rows(Stage), _PIPELINE)

    @cached_property
    def writers_of(self) -> Mapping[str, tuple[Stage, ...]]:
        """The stages that write each dataset."""
        return _grouped(self.rows(Stage), _TARGET)

    def has_dataset(self, dataset_id: str) -> bool:
        """The id has a row in `sources`, in `targets` or in both."""
        key = (dataset_id,)
        return key in self.table(Source) or key in self.table(Target)

    @cached_property
    def dataset_ids(self) -> frozenset[str]:
        return frozenset(
            key[0] for kind in (Source, Target) for key in self.tables[kind.table.name]
        )

    def changed_since(self, old: CatalogRows) -> Iterator[tuple[type[Row], Key]]:
        """The rows that differ, by identity: unchanged rows are the same objects."""
        if self._made_from is not None and self._made_from[0] is old:
            yield from self._made_from[1]
            return
        for kind in DECLARED:
            before, now = old.table(kind), self.table(kind)
            if before is not now:
                for key, row in now.items():
                    if before.get(key) is not row:
                        yield kind, key
                for key in before.keys() - now.keys():
                    yield kind, key

    def _follow(self, old: CatalogRows, changes: tuple[tuple[type[Row], Key], ...]) -> None:
        """Take over the cached properties of the old snapshot that are still valid."""
        # Cut the chain: otherwise every snapshot would keep all earlier ones in memory.
        old._made_from = None
        self._made_from = (old, changes)
        kinds = {kind for kind, _key in changes}
        for name, read in (("dataset_ids", {Source, Target}), ("pipeline_ids", {Pipeline})):
            if name in old.__dict__ and not kinds & read:
                self.__dict__[name] = old.__dict__[name]
        before, now = old.table(Stage), self.table(Stage)
        changed = {key for kind, key in changes if kind is Stage}
        for name, group_of in (("stages_of", _PIPELINE), ("writers_of", _TARGET)):
            if name not in old.__dict__:
                continue
            groups = dict(old.__dict__[name])
            rows = [row for key in changed for row in (before.get(key), now.get(key)) if row]
            for group in {group_of(row) for row in rows}:
                kept = [row for row in groups.pop(group, ()) if row.key not in changed]
                kept += [row for key in changed if (row := now.get(key)) and group_of(row) == group]
                groups.update(_grouped(kept, group_of))
            self.__dict__[name] = groups

    @cached_property
    def pipeline_ids(self) -> frozenset[str]:
        return frozenset(key[0] for key in self.table(Pipeline))


def load(connection: sa.Connection) -> CatalogRows:
    """Read every declared row."""
    revision = connection.execute(_REVISION).scalar_one()
    with without_collector(first=True):
        tables = {kind.table.name: by_key(_read(kind, connection)) for kind in DECLARED}
    return CatalogRows(int(revision), tables)


def newest_revision(engine: sa.Engine) -> int:
    """The current revision of the catalog: one cheap query to see whether rows changed."""
    return int(database.glance(engine, _REVISION_TEXT)[0][0])


def refresh(
    old: CatalogRows, connection: sa.Connection, *, revision: int | None = None
) -> CatalogRows:
    """The current snapshot, made by reading only the rows changed since the old one.

    Inside `Catalog.change` the newest revision is the one being made: pass as `revision` the one
    the rows are still at.
    """
    if revision is None:
        revision = int(connection.execute(_REVISION).scalar_one())
    if revision == old.revision:
        return old
    if revision < old.revision:
        return load(connection)  # somebody restored a backup
    changes = connection.execute(
        sa.select(changes_table.c.table_name, changes_table.c.row_key, changes_table.c.after)
        .where(changes_table.c.revision > old.revision)
        # By revision first: it has the same order as change_id, and its index finds the new rows.
        .order_by(changes_table.c.revision, changes_table.c.change_id)
        .limit(_MOST_CHANGES + 1)
    ).all()
    if len(changes) > _MOST_CHANGES:
        return load(connection)
    tables = dict(old.tables)
    copied: dict[str, dict[Key, Row]] = {}
    for name, row_key, after in changes:
        if name not in copied:
            tables[name] = copied[name] = dict(old.tables[name])
        key = tuple(json.loads(row_key))
        if after is None:
            copied[name].pop(key, None)
        else:
            copied[name][key] = BY_TABLE[name].from_image(after)
    new = CatalogRows(revision, tables)
    changed = {(BY_TABLE[name], tuple(json.loads(row_key))) for name, row_key, _ in changes}
    differ = [
        (kind, key) for kind, key in changed if old.table(kind).get(key) is not new.get(kind, *key)
    ]
    new._follow(old, tuple(differ))
    return new


_PIPELINE: Callable[[Stage], str | None] = attrgetter("pipeline_id")
_TARGET: Callable[[Stage], str | None] = attrgetter("target_id")


def _grouped(
    stages: Iterable[Stage], group_of: Callable[[Stage], str | None]
) -> dict[str, tuple[Stage, ...]]:
    """Stages grouped by a column, each group in stage order."""
    grouped: dict[str, list[Stage]] = {}
    for stage in stages:
        group = group_of(stage)
        if group is not None:
            grouped.setdefault(group, []).append(stage)
    in_order = attrgetter("pipeline_id", "stage_order")
    return {
        name: tuple(sorted(several, key=in_order) if len(several) > 1 else several)
        for name, several in grouped.items()
    }


def _read(kind: type[R], connection: sa.Connection) -> list[R]:
    # Through the driver: with tens of thousands of rows SQLAlchemy's result processing takes
    # longer than the read.
    statement = str(sa.select(table_of(kind)).compile(dialect=connection.dialect))
    cursor = connection.connection.cursor()
    try:
        cursor.execute(statement)
        return list(map(kind.table.load, cursor.fetchall()))
    finally:
        cursor.close()


@contextmanager
def without_collector(*, first: bool = False) -> Iterator[None]:
    """Switch the garbage collector off while a hundred thousand objects are made.

    Objects made the `first` time live as long as the process: the collector never scans them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if first:
            gc.freeze()
        if was_on:
            gc.enable()
