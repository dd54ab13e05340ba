"""Rows: the base class of every row, and the declaration of the table it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from goldsmith.catalog.columns import (
    FROM_STORAGE,
    DeclaredColumn,
    choice,
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
)

R = TypeVar("R", bound="Row")


class DeclaredTable:
    """The declaration of a table of the catalog or the journal."""

    def __init__(
        self,
        name: str,
        columns: Sequence[DeclaredColumn],
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
    def by_name(self) -> Mapping[str, DeclaredColumn]:
        return {column.name: column for column in self.columns}

    @cached_property
    def load(self) -> Callable[[Sequence[Any]], Any]:
        """The function that makes a row from a driver's row, columns in the table's order.

        It is generated code that sets each slot directly: a catalog has a million values, and
        a loop over the columns takes three times as long.
        """
        known: dict[str, Any] = {"new": object.__new__, "kind": self.row}
        lines = []
        for index, column in enumerate(self.columns):
            known[f"put{index}"] = getattr(self.row, column.name).__set__
            value = f"v{index}"
            if not column.is_identity:
                known[f"to{index}"], known[f"empty{index}"] = (
                    FROM_STORAGE[column.kind],
                    column.when_null,
                )
                value = f"empty{index} if v{index} is None else to{index}(v{index})"
            lines.append(f"    put{index}(row, {value})")
        taken = ", ".join(f"v{index}" for index in range(len(self.columns)))
        body = "\n".join(lines)
        # Only indexes are formatted into the code: it contains no name from the declarations.
        exec(
            f"def load(raw):\n    row = new(kind)\n    {taken}, = raw\n{body}\n    return row",
            known,
        )
        made: Callable[[Sequence[Any]], Any] = known["load"]
        return made

    @cached_property
    def in_files(self) -> tuple[DeclaredColumn, ...]:
        """The columns that catalog files may contain."""
        return tuple(column for column in self.columns if not column.internal)


class Row:
    """One row of one table: frozen, typed, changed only by copy."""

    __slots__ = ()
    table: ClassVar[DeclaredTable]

    @property
    def key(self) -> tuple[Any, ...]:
        """The values of the primary key."""
        return tuple(getattr(self, name) for name in self.table.key)

    @classmethod
    def from_storage(cls, raw: Sequence[Any]) -> Self:
        """The row from a driver's row, columns in the table's order."""
        row: Self = cls.table.load(raw)
        return row

    @classmethod
    def from_image(cls, image: Mapping[str, Any]) -> Self:
        """The row of an image in the history; columns missing there get their defaults."""
        return cls(
            **{
                name: column.from_storage(image[name])
                for name, column in cls.table.by_name.items()
                if name in image
            }
        )

    def as_file(self) -> dict[str, Any]:
        """The row as in catalog files: without defaults, always with its key."""
        entry: dict[str, Any] = {}
        for column in self.table.in_files:
            value = getattr(self, column.name)
            if column.generated:
                continue
            if column.is_key or value != _default(column):
                entry[column.name] = plain(value)
        return entry

    def as_plain(self) -> dict[str, Any]:
        """Every column, as plain values for JSON."""
        return {column.name: plain(getattr(self, column.name)) for column in self.table.columns}

    def with_(self, **changes: Any) -> Self:
        return replace(self, **changes)  # type: ignore[type-var]


def _default(column: DeclaredColumn) -> Any:
    return column.when_null if column.default is None else column.default


@dataclass_transform(
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(
        key,
        text,
        choice,
        flag,
        whole,
        number,
        moment,
        names,
        mapping,
        items,
        policy,
    ),
)
def table(
    name: str, *, purpose: str, read_by: str, takes_effect: str = "at once"
) -> Callable[[type[R]], type[R]]:
    """Class decorator: make a row class of a class whose attributes are columns."""

    def make(cls: type[R]) -> type[R]:
        row = dataclass(frozen=True, kw_only=True, slots=True)(cls)
        columns = [
            replace(field.metadata["column"], name=field.name)
            for field in fields(row)  # type: ignore[arg-type]
        ]
        row.table = DeclaredTable(
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
