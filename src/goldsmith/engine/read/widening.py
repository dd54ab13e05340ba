"""Merge schemas: columns by name, types by the one that holds every value of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from goldsmith.engine.read.errors import FilesDisagree
from goldsmith.engine.shape.nested import fits

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

#: A column's name and two types → its merged type.
Common = Callable[[str, "DataType", "DataType"], "DataType"]
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def merge_inferred(stored: StructType | None, seen: StructType) -> StructType:
    """The schema to store: stored columns stay, new columns are added after them.

    A stored type changes only to a wider one (INT to BIGINT), because the file's values would be
    lost otherwise. In all other cases the stored type stays.
    """
    if stored is None:
        return seen
    return _together(stored, seen, lambda _, before, now: _wider(before, now) or before)


def union_of(schemas: Sequence[StructType], *, source: str, loose: bool) -> StructType:
    """The columns of all files; if types have no common type, `loose` uses DOUBLE or STRING."""
    from pyspark.sql.types import DoubleType, StringType, StructType

    def common(column: str, left: DataType, right: DataType) -> DataType:
        types = (left.simpleString(), right.simpleString())
        if found := _wider(left, right):
            return found
        if not loose:
            raise FilesDisagree(source=source, column=column, types=types)
        return DoubleType() if all(type_ in _NUMBERS for type_ in types) else StringType()

    def add(left: StructType, right: StructType) -> StructType:
        return _together(left, right, common)

    return reduce(add, schemas) if schemas else StructType([])


def doubled(names: Iterable[str]) -> tuple[str, ...]:
    """Names that occur more than once, ignoring case."""
    seen: dict[str, list[str]] = {}
    for name in names:
        seen.setdefault(folded(name), []).append(name)
    return tuple(name for same in seen.values() if len(same) > 1 for name in same)


def folded(name: str) -> str:
    """A name with its case folded as Java does: letter by letter, so that ſ equals s."""
    capitals = (char.upper() if len(char.upper()) == 1 else char for char in name)
    return "".join(char.lower()[0] for char in capitals)


def doubled_in(schema: StructType, within: str = "") -> tuple[str, ...]:
    """Duplicate names, ignoring case, in a schema and every struct inside it."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    found = [within + name for name in doubled(schema.names)]
    for field in schema.fields:
        type_ = field.dataType
        while isinstance(type_, ArrayType | MapType):
            type_ = type_.elementType if isinstance(type_, ArrayType) else type_.valueType
        if isinstance(type_, StructType):
            found += doubled_in(type_, f"{within}{field.name}.")
    return tuple(found)


def _together(left: StructType, right: StructType, common: Common) -> StructType:
    from pyspark.sql.types import StructField, StructType

    later = {field.name.lower(): field for field in right.fields}
    fields = []
    for field in left.fields:
        match = later.pop(field.name.lower(), None)
        type_ = field.dataType
        if match is not None:
            type_ = _one_type(field.name, type_, match.dataType, common)
        fields.append(StructField(field.name, type_, metadata=field.metadata))
    fields += [StructField(field.name, field.dataType) for field in later.values()]
    return StructType(fields)


def _one_type(column: str, left: DataType, right: DataType, common: Common) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(left, StructType) and isinstance(right, StructType):
        return _together(left, right, common)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return ArrayType(_one_type(column, left.elementType, right.elementType, common))
    if isinstance(left, MapType) and isinstance(right, MapType):
        return MapType(left.keyType, _one_type(column, left.valueType, right.valueType, common))
    return common(column, left, right)


def _wider(left: DataType, right: DataType) -> DataType | None:
    """The one of two types that holds every value of both unchanged; None if neither does."""
    narrow, wide = left.simpleString(), right.simpleString()
    if narrow == wide or wide == "void" or fits(wide, narrow):
        return left
    return right if narrow == "void" or fits(narrow, wide) else None
