"""Convert a row to JSON text and back without loss, whatever its types.

JSON has text keys only, so a map with other keys is written as a list of keys and values.
Intervals are written as SQL text. Spark's own JSON restores every other type unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.engine.names import name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
# Raise for a text that does not match the schema: Spark's default would be NULL.
_READING = {**_OPTIONS, "mode": "FAILFAST"}


def to_text(rows: DataFrame, columns: list[str]) -> Column:
    """Some columns of the rows as one JSON object."""
    from pyspark.sql import functions as F

    fields = [
        _written(F.col(name(column)), rows.schema[column].dataType).alias(column)
        for column in columns
    ]
    return F.to_json(F.struct(*fields), _OPTIONS)


def from_text(text: Column, type_: DataType) -> Column:
    """Parse a struct, array or map from JSON text into its type."""
    from pyspark.sql import functions as F

    return _read(F.from_json(text, _as_json(type_).json(), _READING), type_)


def _as_json(type_: DataType) -> DataType:
    """The type as which JSON text holds values of a type."""
    from pyspark.sql import types as T

    match type_:
        case T.MapType(keyType=T.StringType()):
            return T.MapType(T.StringType(), _as_json(type_.valueType))
        case T.MapType():
            return T.ArrayType(
                T.StructType(
                    [
                        T.StructField("key", _as_json(type_.keyType)),
                        T.StructField("value", _as_json(type_.valueType)),
                    ]
                )
            )
        case T.ArrayType():
            return T.ArrayType(_as_json(type_.elementType))
        case T.StructType():
            return T.StructType([T.StructField(f.name, _as_json(f.dataType)) for f in type_.fields])
        case T.DayTimeIntervalType() | T.YearMonthIntervalType():
            return T.StringType()
        case T.CharType() | T.VarcharType():
            return T.StringType()
    return type_


def _is_plain(type_: DataType) -> bool:
    return _as_json(type_).simpleString() == type_.simpleString()


def _written(value: Column, type_: DataType) -> Column:
    """A value converted to the type as which JSON holds it."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if _is_plain(type_):
        return value
    match type_:
        case T.MapType(keyType=T.StringType()):
            return F.transform_values(value, lambda _key, item: _written(item, type_.valueType))
        case T.MapType():
            return F.transform(
                F.map_entries(value),
                lambda entry: F.struct(
                    _written(entry.getField("key"), type_.keyType).alias("key"),
                    _written(entry.getField("value"), type_.valueType).alias("value"),
                ),
            )
        case T.ArrayType():
            return F.transform(value, lambda item: _written(item, type_.elementType))
        case T.StructType():
            fields = [_written(value.getField(f.name), f.dataType).alias(f.name) for f in type_]
            return F.when(value.isNotNull(), F.struct(*fields))
    return value.cast("string")


def _read(value: Column, type_: DataType) -> Column:
    """A parsed JSON value converted back to its own type."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if _is_plain(type_):
        return value
    match type_:
        case T.MapType(keyType=T.StringType()):
            return F.transform_values(value, lambda _key, item: _read(item, type_.valueType))
        case T.MapType():
            return F.map_from_entries(
                F.transform(
                    value,
                    lambda entry: F.struct(
                        _read(entry.getField("key"), type_.keyType).alias("key"),
                        _read(entry.getField("value"), type_.valueType).alias("value"),
                    ),
                )
            )
        case T.ArrayType():
            return F.transform(value, lambda item: _read(item, type_.elementType))
        case T.StructType():
            fields = [_read(value.getField(f.name), f.dataType).alias(f.name) for f in type_]
            return F.when(value.isNotNull(), F.struct(*fields))
    return value.cast(type_)
