"""Spark's types by their words, and schemas written in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import name
from goldsmith.engine.readers.errors import BadSchema
from goldsmith.errors import nearest

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

WORDS = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING"),
    *("BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "ARRAY", "MAP", "STRUCT", "VARIANT"),
)
#: What other engines call a type, as Spark calls it.
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


def plain(word: str) -> DataType:
    """A type without parts, by Spark's own word for it."""
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
    found: DataType = kinds[word]()
    return found


def of_ddl(text: str, place: str) -> StructType:
    """A schema as people write it, `id BIGINT, name STRING`; with all columns nullable."""
    from pyspark.errors import PySparkException
    from pyspark.sql.types import DataType, StructType

    try:
        found = DataType.fromDDL(text)
    except PySparkException as error:
        raise _bad(text, place, str(error)) from error
    if not isinstance(found, StructType):
        raise BadSchema(place=place, cause=f"'{text.strip()}' names no column.")
    return readable(found)


def of_hive(columns: Iterable[tuple[str, str]], place: str) -> StructType:
    """A schema from the columns of a Glue or Hive table."""
    return of_ddl(", ".join(f"{name(column)} {type_}" for column, type_ in columns), place)


def readable(schema: StructType) -> StructType:
    """The same schema as files are read by it: nothing is required, a text has no length."""
    found = _readable(schema)
    assert found.typeName() == "struct"
    return found  # type: ignore[return-value]


def _readable(type_: DataType) -> DataType:
    from pyspark.sql import types as T

    match type_:
        case T.StructType():
            fields = [T.StructField(f.name, _readable(f.dataType)) for f in type_.fields]
            return T.StructType(fields)
        case T.ArrayType():
            return T.ArrayType(_readable(type_.elementType))
        case T.MapType():
            return T.MapType(_readable(type_.keyType), _readable(type_.valueType))
        case T.CharType() | T.VarcharType():
            return T.StringType()
        case T.NullType():
            return T.StringType()
    return type_


def _bad(text: str, place: str, said: str) -> BadSchema:
    found = _UNKNOWN.search(said)
    if found is None:
        sentence = _SENTENCE.search(said)
        return BadSchema(place=place, cause=sentence[1] if sentence else said.strip())
    word = found[1]
    meant = _ELSEWHERE.get(word.lower()) or nearest(word, WORDS)
    advice = f"Did you mean {meant.upper()}? " if meant else ""
    return BadSchema(
        place=place,
        cause=f"'{_spelt(word, text)}' is no type.",
        advice=f"{advice}Spark's types: {', '.join(WORDS)}.",
    )


def _spelt(word: str, text: str) -> str:
    """The word as it stands in the text; Spark says it in capitals."""
    found = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    return found[0] if found else word
