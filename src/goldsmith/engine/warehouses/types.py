"""Spark's types as warehouses see them, and the errors of types and names that do not fit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.errors import GoldsmithError

_NESTED = ("array", "map", "struct", "variant")
_TYPE_NAME = re.compile(r"[a-z_]+")

_TRAPS: Mapping[str, str] = {
    "time": "COPY cannot fill a TIME column from Parquet. Cast it to string in the stage's SQL.",
    "interval": "No warehouse takes Spark's intervals. Cast it to string or to a number.",
    "void": "The column holds nothing but NULL. Cast it to a type in the stage's SQL.",
}


@dataclass(eq=False, kw_only=True)
class TypeNotLoadable(GoldsmithError):
    """A column has a type that cannot be loaded into the warehouse."""

    exit_code = 1

    column: str
    type: str
    warehouse: str

    def __str__(self) -> str:
        return f"The column '{self.column}' is {self.type}, which {self.warehouse} cannot load."

    @property
    def hint(self) -> str:
        return _TRAPS.get(
            base_type(self.type), "Cast it in the stage's SQL; see docs/warehouses.md."
        )


@dataclass(eq=False, kw_only=True)
class NameTooLong(GoldsmithError):
    """A name is longer than the warehouse allows; the warehouse would silently cut it."""

    exit_code = 1

    name: str
    warehouse: str
    bytes: int
    most: int

    def __str__(self) -> str:
        limit = f"{self.warehouse} keeps {self.most}"
        return f"The name '{self.name}' has {self.bytes} bytes, and {limit}."

    @property
    def hint(self) -> str:
        return "Rename the column in the stage's SQL, or choose a shorter location."


@dataclass(eq=False, kw_only=True)
class NamesCollide(GoldsmithError):
    """Two columns differ only by case, and the warehouse does not tell them apart."""

    exit_code = 1

    names: tuple[str, ...]
    warehouse: str

    def __str__(self) -> str:
        listed = " and ".join(f"'{name}'" for name in self.names)
        return f"{self.warehouse} does not tell the columns {listed} apart."

    @property
    def hint(self) -> str:
        return "Rename one of them in the stage's SQL."


def is_nested(type_: str) -> bool:
    """Whether the type becomes JSON in a warehouse."""
    return base_type(type_) in _NESTED


def is_variant(type_: str) -> bool:
    """Whether the type is VARIANT, staged as JSON text: no warehouse reads Spark's binary form."""
    return base_type(type_) == "variant"


def base_type(type_: str) -> str:
    """The name a Spark type begins with: `decimal(12,2)` is a decimal."""
    found = _TYPE_NAME.match(type_)
    return found[0] if found else type_
