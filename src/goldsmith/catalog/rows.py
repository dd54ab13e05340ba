"""Rows: what every declared row has in common, and the table each kind of row lives in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from goldsmith.catalog.columns import (
    FROM_STORAGE,
    Column,
    flag,
    items,
    key,
    mapping,
    moment,
    names,
    number,
    plain,
    policy,
    text,
    whole,
    word,
)

R = TypeVar("R", bound="Row")


class Table:
    """A table of the catalog or the journal, in words."""

    def __init__(
        self,
        name: str,
        columns: Sequence[Column],
        *,
        row: type[Row],
        purpose: str,
        read_by: str,
        takes_effect: str,
    ) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.row = row
        self.purpose = purpose
        self.read_by = read_by
        self.takes_effect = takes_effect

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The names of the primary key's columns, in order."""
        return tuple(column.name for column in self.columns if column.is_key)

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def load(self) -> Callable[[Sequence[Any]], Any]:
        """A row out of what a driver gives back, columns in the table's order.

        Written out column by column and straight into the slots: a catalog has a million
        values, and a loop over the columns takes three times as long.
        """
        known: dict[str, Any] = {"new": object.__new__, "kind": self.row}
        lines = []
        for place, column in enumerate(self.columns):
            known[f"put{place}"] = getattr(self.row, column.name).__set__
            value = f"v{place}"
            if not column.is_identity:
                known[f"to{place}"], known[f"empty{place}"] = (
                    FROM_STORAGE[column.kind],
                    column.when_null,
                )
                value = f"empty{place} if v{place} is None else to{place}(v{place})"
            lines.append(f"    put{place}(row, {value})")
        taken = ", ".join(f"v{place}" for place in range(len(self.columns)))
        body = "\n".join(lines)
        # Only numbers are pasted: no name of anybody's stands in this text.
        exec(
            f"def load(raw):\n    row = new(kind)\n    {taken}, = raw\n{body}\n    return row",
            known,
        )
        made: Callable[[Sequence[Any]], Any] = known["load"]
        return made

    @cached_property
    def in_files(self) -> tuple[Column, ...]:
        """The columns people write in files."""
        return tuple(column for column in self.columns if not column.internal)


class Row:
    """One row of one table: frozen, typed, changed only by copy."""

    __slots__ = ()
    table: ClassVar[Table]

    @property
    def key(self) -> tuple[Any, ...]:
        """The values of the primary key."""
        return tuple(getattr(self, name) for name in self.table.key)

    @classmethod
    def from_storage(cls, raw: Sequence[Any]) -> Self:
        """The row a driver gives back, columns in the table's order."""
        row: Self = cls.table.load(raw)
        return row

    @classmethod
    def from_image(cls, image: Mapping[str, Any]) -> Self:
        """The row a history image holds; columns it does not know stay at their defaults."""
        return cls(
            **{
                name: column.from_storage(image[name])
                for name, column in cls.table.by_name.items()
                if name in image
            }
        )

    def as_file(self) -> dict[str, Any]:
        """The row as files say it: defaults left out, keys always there."""
        said: dict[str, Any] = {}
        for column in self.table.in_files:
            value = getattr(self, column.name)
            if column.generated:
                continue
            if column.is_key or value != _default(column):
                said[column.name] = plain(value)
        return said

    def as_plain(self) -> dict[str, Any]:
        """Every column, as JSON can say it."""
        return {column.name: plain(getattr(self, column.name)) for column in self.table.columns}

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)  # type: ignore[type-var]


def _default(column: Column) -> Any:
    return column.when_null if column.default is None else column.default


@dataclass_transform(
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(key, text, word, flag, whole, number, moment, names, mapping, items, policy),
)
def table(
    name: str, *, purpose: str, read_by: str, takes_effect: str = "at once"
) -> Callable[[type[R]], type[R]]:
    """Make a row class of a class whose attributes are columns."""

    def make(cls: type[R]) -> type[R]:
        row = dataclass(frozen=True, kw_only=True, slots=True)(cls)
        columns = [
            replace(field.metadata["column"], name=field.name)
            for field in fields(row)  # type: ignore[arg-type]
        ]
        row.table = Table(
            name, columns, row=row, purpose=purpose, read_by=read_by, takes_effect=takes_effect
        )
        return row

    return make


def key_text(key: Sequence[Any]) -> str:
    """A row's key as people write it: parts joined by a slash."""
    return "/".join(str(part) for part in key)


def by_key(rows: Sequence[R]) -> dict[tuple[Any, ...], R]:
    if not rows:
        return {}
    columns = rows[0].table.key
    if len(columns) == 1:
        only = columns[0]
        return {(getattr(row, only),): row for row in rows}
    parts = attrgetter(*columns)
    return {parts(row): row for row in rows}
