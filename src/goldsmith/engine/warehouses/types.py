"""The map from Spark's types to each warehouse's types, and the warehouses' rules for names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import WarehouseKind

#: Spark's simple string → DuckDB, PostgreSQL, Redshift; None where a type cannot be loaded.
SCALARS: Mapping[str, tuple[str, str, str | None]] = {
    "boolean": ("BOOLEAN", "boolean", "boolean"),
    "tinyint": ("TINYINT", "smallint", "smallint"),
    "smallint": ("SMALLINT", "smallint", "smallint"),
    "int": ("INTEGER", "integer", "integer"),
    "bigint": ("BIGINT", "bigint", "bigint"),
    "float": ("REAL", "real", "real"),
    "double": ("DOUBLE", "double precision", "double precision"),
    "decimal(p,s)": ("DECIMAL(p,s)", "numeric(p,s)", "numeric(p,s)"),
    # Redshift's own `text` is varchar(256).
    "string": ("VARCHAR", "text", "varchar(65535)"),
    "binary": ("BLOB", "bytea", "varbyte(1024000)"),
    "date": ("DATE", "date", "date"),
    "timestamp": ("TIMESTAMP WITH TIME ZONE", "timestamptz", "timestamptz"),
    "timestamp_ntz": ("TIMESTAMP", "timestamp", "timestamp"),
    # Redshift has TIME, but COPY cannot fill it from Parquet.
    "time": ("TIME", "time", None),
    "array": ("JSON", "jsonb", "super"),
    "map": ("JSON", "jsonb", "super"),
    "struct": ("JSON", "jsonb", "super"),
    "variant": ("JSON", "jsonb", "super"),
}

_ORDER = (WarehouseKind.DUCKDB, WarehouseKind.POSTGRES, WarehouseKind.REDSHIFT)
_NESTED = ("array", "map", "struct", "variant")
_LENGTH = re.compile(r"(?:var)?char\((\d+)\)")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_WORD = re.compile(r"[a-z_]+")

#: The longest name, in bytes of UTF-8; DuckDB has no limit.
LONGEST_NAME: Mapping[WarehouseKind, int] = {
    WarehouseKind.POSTGRES: 63,
    WarehouseKind.REDSHIFT: 127,
}

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
            _base_type(self.type), "Cast it in the stage's SQL; see docs/warehouses.md."
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


def warehouse_type(column: str, type_: str, kind: WarehouseKind) -> str:
    """The warehouse's type for a Spark type."""
    found = _found(type_, kind)
    if found is None:
        raise TypeNotLoadable(column=column, type=type_, warehouse=str(kind))
    return found


def is_nested(type_: str) -> bool:
    """Whether the type becomes JSON in a warehouse."""
    return _base_type(type_) in _NESTED


def is_variant(type_: str) -> bool:
    """Whether the type is VARIANT, staged as JSON text: no warehouse reads Spark's binary form."""
    return _base_type(type_) == "variant"


def spelt(name: str, kind: WarehouseKind) -> str:
    """A name as the warehouse stores it."""
    # Redshift lower-cases quoted names too, but only ASCII letters.
    spelling = name
    if kind is WarehouseKind.REDSHIFT:
        spelling = "".join(c.lower() if c.isascii() else c for c in name)
    size, most = len(spelling.encode()), LONGEST_NAME.get(kind)
    if most is not None and size > most:
        raise NameTooLong(name=name, warehouse=str(kind), bytes=size, most=most)
    return spelling


def _found(type_: str, kind: WarehouseKind) -> str | None:
    if length := _LENGTH.fullmatch(type_):
        return _text_of(int(length[1]), kind)
    if decimal := _DECIMAL.fullmatch(type_):
        pattern = SCALARS["decimal(p,s)"][_ORDER.index(kind)]
        assert pattern is not None  # every warehouse has decimals
        return pattern.replace("(p,s)", f"({decimal[1]},{decimal[2]})")
    # `string collate UTF8_LCASE` is a string, `time(6)` a time.
    known = SCALARS.get(_base_type(type_))
    return None if known is None else known[_ORDER.index(kind)]


def _text_of(length: int, kind: WarehouseKind) -> str:
    match kind:
        case WarehouseKind.DUCKDB:
            return "VARCHAR"
        case WarehouseKind.POSTGRES:
            return f"varchar({length})"
        case WarehouseKind.REDSHIFT:
            # Redshift counts bytes, Spark characters of up to four bytes.
            return f"varchar({min(4 * length, 65535)})"


def _base_type(type_: str) -> str:
    found = _WORD.match(type_)
    return found[0] if found else type_
