"""How rows in files and rows in the catalog differ, and the catalog as it would be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.bundle import Bundle
from goldsmith.catalog.columns import Column, Kind, plain, same
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.snapshot import Key, Snapshot

_NESTED = frozenset((Kind.LIST, Kind.MAP))


@dataclass(frozen=True, kw_only=True, slots=True)
class RowDifference:
    """One row that is not the same on both sides."""

    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        return self.after or self.before  # type: ignore[return-value]

    @property
    def table(self) -> str:
        return self.row.table.name

    @property
    def key(self) -> str:
        return key_text(self.row.key)

    @property
    def what(self) -> str:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def columns(self) -> Mapping[str, tuple[Any, Any]]:
        """The columns that differ, with both values."""
        if self.before is None or self.after is None:
            return {}
        return {
            column.name: (getattr(self.before, column.name), getattr(self.after, column.name))
            for column in self.row.table.in_files
            if not _alike(column, self.before, self.after)
        }

    def as_plain(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "key": self.key,
            "what": self.what,
            "columns": {
                name: {"before": plain(old), "after": plain(new)}
                for name, (old, new) in self.columns.items()
            },
            "before": None if self.before is None else self.before.as_file(),
            "after": None if self.after is None else self.after.as_file(),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What applying some files would change."""

    rows: tuple[RowDifference, ...]

    def __bool__(self) -> bool:
        return bool(self.rows)

    def of(self, what: str) -> list[RowDifference]:
        return [row for row in self.rows if row.what == what]

    @property
    def counts(self) -> dict[str, int]:
        return {what: len(self.of(what)) for what in ("added", "changed", "removed")}

    def applied_to(self, rows: Snapshot) -> Snapshot:
        """The catalog as it would be."""
        tables: dict[str, dict[Key, Row]] = {}
        for difference in self.rows:
            name = difference.table
            if name not in tables:
                tables[name] = dict(rows.tables[name])
            if difference.after is None:
                tables[name].pop(difference.row.key, None)
            else:
                tables[name][difference.row.key] = difference.after
        return Snapshot(rows.revision, {**rows.tables, **tables})


def difference(bundle: Bundle, rows: Snapshot, *, prune: bool = False) -> Difference:
    """What the files would change: added and changed rows, and with `prune` removed ones."""
    found = [*_put(bundle, rows), *(_pruned(bundle, rows) if prune else ())]
    return Difference(rows=tuple(found))


def _put(bundle: Bundle, rows: Snapshot) -> Iterator[RowDifference]:
    for kind in DECLARED:
        there = rows.table(kind)
        for key, said in bundle.rows.get(kind, {}).items():
            before = there.get(key)
            after = said if before is None else _keeping(said, before)
            if before is None or not _same(before, after):
                yield RowDifference(before=before, after=after)


def _keeping(said: Row, before: Row) -> Row:
    """What the file says, with the columns the database fills in kept where it says nothing."""
    kept = {
        column.name: getattr(before, column.name)
        for column in said.table.columns
        if column.generated and getattr(said, column.name) is None
    }
    return said.with_(**kept) if kept else said


def _same(before: Row, after: Row) -> bool:
    return before is after or all(_alike(column, before, after) for column in before.table.in_files)


def _alike(column: Column, before: Row, after: Row) -> bool:
    one, other = getattr(before, column.name), getattr(after, column.name)
    return bool(one == other) and (column.kind not in _NESTED or same(one, other))


def _pruned(bundle: Bundle, rows: Snapshot) -> Iterator[RowDifference]:
    """Rows the files no longer name, in the tables they speak of; shipped rows stay."""
    for kind, said in bundle.rows.items():
        for key, row in rows.table(kind).items():
            if key not in said and not getattr(row, "is_default", False):
                yield RowDifference(before=row, after=None)


def drift(bundle: Bundle, rows: Snapshot) -> Difference:
    """How the live catalog differs from the files: from what they say to what there is.

    Flags are not drift where the files say nothing of them: operators set them, files do not.
    """
    backwards = [
        RowDifference(before=row.after, after=row.before)
        for row in difference(bundle, rows, prune=True).rows
        if not (isinstance(row.row, Flag) and row.after is None)
    ]
    return Difference(rows=tuple(backwards))


def tables_in(rows: Iterable[RowDifference]) -> dict[str, list[RowDifference]]:
    grouped: dict[str, list[RowDifference]] = {}
    for row in rows:
        grouped.setdefault(row.table, []).append(row)
    return grouped
