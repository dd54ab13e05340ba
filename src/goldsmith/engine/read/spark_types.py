"""Spark's types by name, and schemas in Spark's DDL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import name
from goldsmith.engine.read.errors import BadSchema
from goldsmith.engine.read.exact import LENGTH
from goldsmith.errors import nearest

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

TYPE_NAMES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING"),
    *("BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "ARRAY", "MAP", "STRUCT", "VARIANT"),
)
#: Type names of other engines → Spark's type names.
_ELSEWHERE = {
    "text": "string",
    "integer": "int",
    "number": "decimal",
    "datetime": "timestamp",
    "bool": "boolean",
    "json": "string",
    "uuid": "string",
    "float64": "double",
    "int64": "bigint",
    "int32": "int",
    "object": "string",
    "timestamptz": "timestamp",
}
_UNKNOWN = re.compile(r"Unsupported data type \"?(\w+)")
_SENTENCE = re.compile(r"\[[A-Z_.]+\]\s*(.*?)\s*(?:SQLSTATE|\n|$)", re.DOTALL)


def plain(type_name: str) -> DataType:
    """A type that is not nested, by Spark's name."""
    from pyspark.sql import types as T

    kinds: Mapping[str, type[Any]] = {
        "void": T.NullType,
        "boolean": T.BooleanType,
        "int": T.IntegerType,
        "bigint": T.LongType,
        "float": T.FloatType,
        "double": T.DoubleType,
        "string": T.StringType,
        "binary": T.BinaryType,
        "date": T.DateType,
        "timestamp": T.TimestampType,
        "timestamp_ntz": T.TimestampNTZType,
    }
    found: DataType = kinds[type_name]()
    return found


def of_ddl(text: str, location: str) -> StructType:
    """The schema of a DDL text, `id BIGINT, name STRING`, with all columns nullable."""
    from pyspark.errors import PySparkException
    from pyspark.sql.types import DataType, StructType

    try:
        found = DataType.fromDDL(text)
    except PySparkException as error:
        raise _bad(text, location, str(error)) from error
    if not isinstance(found, StructType):
        raise BadSchema(place=location, cause=f"'{text.strip()}' names no column.")
    return readable(found)


def of_hive(columns: Iterable[tuple[str, str]], location: str) -> StructType:
    """A schema from the columns of a Glue or Hive table."""
    return of_ddl(", ".join(f"{name(column)} {type_}" for column, type_ in columns), location)


def readable(schema: StructType) -> StructType:
    """The schema for reading files: all nullable, VARCHAR as STRING with its length in metadata."""
    found = _readable(schema)
    assert found.typeName() == "struct"
    return found  # type: ignore[return-value]


def _readable(type_: DataType) -> DataType:
    from pyspark.sql import types as T

    match type_:
        case T.StructType():
            return T.StructType(
                [
                    T.StructField(f.name, _readable(f.dataType), metadata=_length(f))
                    for f in type_.fields
                ]
            )
        case T.ArrayType():
            return T.ArrayType(_readable(type_.elementType))
        case T.MapType():
            return T.MapType(_readable(type_.keyType), _readable(type_.valueType))
        case T.CharType() | T.VarcharType():
            return T.StringType()
        case T.NullType():
            return T.StringType()
    return type_


def _length(field: StructField) -> dict[str, int] | None:
    """Field metadata with the length of a VARCHAR or CHAR, also inside an array or a map."""
    from pyspark.sql import types as T

    type_ = field.dataType
    while isinstance(type_, T.ArrayType | T.MapType):
        type_ = type_.elementType if isinstance(type_, T.ArrayType) else type_.valueType
    if isinstance(type_, T.CharType | T.VarcharType):
        return {LENGTH: type_.length}
    length = field.metadata.get(LENGTH)
    return None if length is None else {LENGTH: length}


def _bad(text: str, location: str, message: str) -> BadSchema:
    found = _UNKNOWN.search(message)
    if found is None:
        sentence = _SENTENCE.search(message)
        return BadSchema(place=location, cause=sentence[1] if sentence else message.strip())
    type_name = found[1]
    meant = _ELSEWHERE.get(type_name.lower()) or nearest(type_name, TYPE_NAMES)
    advice = f"Did you mean {meant.upper()}? " if meant else ""
    return BadSchema(
        place=location,
        cause=f"'{_spelt(type_name, text)}' is no type.",
        advice=f"{advice}Spark's types: {', '.join(TYPE_NAMES)}.",
    )


def _spelt(type_name: str, text: str) -> str:
    """The type name as written in the text; Spark's message has it in capitals."""
    found = re.search(rf"\b{re.escape(type_name)}\b", text, re.IGNORECASE)
    return found[0] if found else type_name
