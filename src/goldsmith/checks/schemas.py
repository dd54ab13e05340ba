"""Compare schemas and describe the differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from goldsmith.checks.measures import Judged, KnownTotals

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

#: Names other tools and databases use for Spark's types, in capitals.
_SPELLINGS = {
    "bigint": ("LONG", "LONGTYPE", "INT64", "BIGINTEGER"),
    "boolean": ("BOOL", "BOOLEANTYPE"),
    "date": ("DATETYPE",),
    "decimal": ("NUMERIC", "DECIMALTYPE", "NUMBER"),
    "double": ("DOUBLETYPE", "FLOAT64", "DOUBLE PRECISION", "FLOAT"),
    "float": ("FLOATTYPE", "REAL", "FLOAT32"),
    "int": ("INTEGER", "INTEGERTYPE", "INT32"),
    "smallint": ("SHORT", "SHORTTYPE", "INT16"),
    "string": ("STR", "STRINGTYPE", "TEXT", "VARCHAR", "CHAR", "OBJECT"),
    "timestamp": ("TIMESTAMPTYPE", "DATETIME", "TIMESTAMP_LTZ", "TIMESTAMP WITH TIME ZONE"),
    "timestamp_ntz": ("TIMESTAMPNTZTYPE", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP"),
    "tinyint": ("BYTE", "BYTETYPE", "INT8"),
    "binary": ("BINARYTYPE", "BYTES"),
}


def same_type(type_: DataType, name: str) -> bool:
    """A column's type has that name, in Spark or in another tool."""
    ours = type_.simpleString()
    wanted = name.strip()
    if wanted.lower().replace(" ", "") == ours.lower():
        return True
    if "(" in wanted and not wanted.endswith("()"):
        return False
    kind = ours.split("(")[0].split("<")[0]
    wanted = wanted.removesuffix("()")
    return wanted.lower() == kind or wanted.upper() in _SPELLINGS.get(kind, ())


def differences_between(
    before: StructType, now: StructType, *, allow_nullable_addition: bool
) -> Iterator[str]:
    """The changes from one schema to the next that are not allowed."""
    old = {field.name.lower(): field for field in before.fields}
    new = {field.name.lower(): field for field in now.fields}
    for name, field in old.items():
        if name not in new:
            yield f"{field.name} is gone"
        elif new[name].dataType != field.dataType:
            was, is_ = field.dataType.simpleString(), new[name].dataType.simpleString()
            yield f"{new[name].name} was {was} and is {is_}"
    for name, field in new.items():
        if name not in old and not (allow_nullable_addition and field.nullable):
            yield f"{field.name} is new"


def known(differences: Sequence[str] | Iterator[str]) -> KnownTotals:
    """The result of a schema check: it holds if there are no differences."""
    found = list(differences)
    return KnownTotals(judged=Judged(holds=not found, observed=found or None))


def spelt(name: str, case_sensitive: bool) -> str:
    """A column's name, for comparison with others."""
    return name if case_sensitive else name.lower()
