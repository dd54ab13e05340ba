"""Schemas put together: columns by name, types where one holds every value of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from goldsmith.engine.readers.errors import FilesDisagree
from goldsmith.engine.schema import fits

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

#: A column's name and its two types → the one type of it.
Common = Callable[[str, "DataType", "DataType"], "DataType"]
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def merge_inferred(kept: StructType | None, seen: StructType) -> StructType:
    """The schema to keep: kept columns stay as they are, new ones come after them.

    A kept type gives way only to one that holds all its values (INT to BIGINT): the file itself
    says so, and its values would be lost. Whatever else was seen, the kept type wins.
    """
    if kept is None:
        return seen
    return _together(kept, seen, lambda _, before, now: _wider(before, now) or before)


def union_of(schemas: Sequence[StructType], *, source: str, loose: bool) -> StructType:
    """The columns of all files; `loose` takes texts where types have nothing in common."""
    from pyspark.sql.types import DoubleType, StringType, StructType

    def common(column: str, one: DataType, other: DataType) -> DataType:
        types = (one.simpleString(), other.simpleString())
        if found := _wider(one, other):
            return found
        if not loose:
            raise FilesDisagree(source=source, column=column, types=types)
        return DoubleType() if all(type_ in _NUMBERS for type_ in types) else StringType()

    def add(one: StructType, other: StructType) -> StructType:
        return _together(one, other, common)

    return reduce(add, schemas) if schemas else StructType([])


def doubled(names: Iterable[str]) -> tuple[str, ...]:
    """Names that stand there more than once, whatever their case."""
    seen: dict[str, list[str]] = {}
    for name in names:
        seen.setdefault(name.lower(), []).append(name)
    return tuple(name for same in seen.values() if len(same) > 1 for name in same)


def doubled_in(schema: StructType, within: str = "") -> tuple[str, ...]:
    """The same for a schema and every structure inside it."""
    from pyspark.sql.types import ArrayType, StructType

    found = [within + name for name in doubled(schema.names)]
    for field in schema.fields:
        type_ = field.dataType
        while isinstance(type_, ArrayType):
            type_ = type_.elementType
        if isinstance(type_, StructType):
            found += doubled_in(type_, f"{within}{field.name}.")
    return tuple(found)


def _together(one: StructType, other: StructType, common: Common) -> StructType:
    from pyspark.sql.types import StructField, StructType

    later = {field.name.lower(): field for field in other.fields}
    fields = []
    for field in one.fields:
        match = later.pop(field.name.lower(), None)
        type_ = field.dataType
        if match is not None:
            type_ = _one_type(field.name, type_, match.dataType, common)
        fields.append(StructField(field.name, type_, metadata=field.metadata))
    fields += [StructField(field.name, field.dataType) for field in later.values()]
    return StructType(fields)


def _one_type(column: str, one: DataType, other: DataType, common: Common) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(one, StructType) and isinstance(other, StructType):
        return _together(one, other, common)
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return ArrayType(_one_type(column, one.elementType, other.elementType, common))
    if isinstance(one, MapType) and isinstance(other, MapType):
        return MapType(one.keyType, _one_type(column, one.valueType, other.valueType, common))
    return common(column, one, other)


def _wider(one: DataType, other: DataType) -> DataType | None:
    """The type that holds every value of both without a change, if one of them does."""
    narrow, wide = one.simpleString(), other.simpleString()
    if narrow == wide or wide == "void" or fits(wide, narrow):
        return one
    return other if narrow == "void" or fits(narrow, wide) else None
