"""The differences between rows in files and rows in the catalog, and the catalog after an apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.bundle import Bundle
from goldsmith.catalog.columns import ColumnKind, DeclaredColumn, plain, same
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.snapshot import CatalogRows, Key

_NESTED = frozenset((ColumnKind.LIST, ColumnKind.MAP))


@dataclass(frozen=True, kw_only=True, slots=True)
class RowDifference:
    """One row that differs between the files and the catalog."""

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

    def applied_to(self, rows: CatalogRows) -> CatalogRows:
        """The catalog as it would be after the apply."""
        tables: dict[str, dict[Key, Row]] = {}
        for difference in self.rows:
            name = difference.table
            if name not in tables:
                tables[name] = dict(rows.tables[name])
            if difference.after is None:
                tables[name].pop(difference.row.key, None)
            else:
                tables[name][difference.row.key] = difference.after
        return CatalogRows(rows.revision, {**rows.tables, **tables})


def difference(bundle: Bundle, rows: CatalogRows, *, prune: bool = False) -> Difference:
    """The changes an apply would make: added and changed rows, with `prune` also removed rows."""
    found = [*_put(bundle, rows), *(_pruned(bundle, rows) if prune else ())]
    return Difference(rows=tuple(found))


def _put(bundle: Bundle, rows: CatalogRows) -> Iterator[RowDifference]:
    for kind in DECLARED:
        there = rows.table(kind)
        for key, row in bundle.rows.get(kind, {}).items():
            before = there.get(key)
            after = row if before is None else _keeping(row, before)
            if before is None or not _same(before, after):
                yield RowDifference(before=before, after=after)


def _keeping(row: Row, before: Row) -> Row:
    """The file's row; columns the database fills in keep their value if the file has none."""
    kept = {
        column.name: getattr(before, column.name)
        for column in row.table.columns
        if column.generated and getattr(row, column.name) is None
    }
    return row.with_(**kept) if kept else row


def _same(before: Row, after: Row) -> bool:
    return before is after or all(_alike(column, before, after) for column in before.table.in_files)


def _alike(column: DeclaredColumn, before: Row, after: Row) -> bool:
    old, new = getattr(before, column.name), getattr(after, column.name)
    return bool(old == new) and (column.kind not in _NESTED or same(old, new))


def _pruned(bundle: Bundle, rows: CatalogRows) -> Iterator[RowDifference]:
    """Rows missing in the files, of the tables the files contain; shipped rows stay."""
    for kind, declared in bundle.rows.items():
        for key, row in rows.table(kind).items():
            if key not in declared and not getattr(row, "is_default", False):
                yield RowDifference(before=row, after=None)


def drift(bundle: Bundle, rows: CatalogRows) -> Difference:
    """How the live catalog differs from the files: `before` is the file's row.

    Flags that no file contains are not drift: operators set them.
    """
    backwards = [
        RowDifference(before=row.after, after=row.before)
        for row in difference(bundle, rows, prune=True).rows
        if not (isinstance(row.row, Flag) and row.after is None)
    ]
    return Difference(rows=tuple(backwards))
