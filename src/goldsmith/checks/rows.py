"""Turn rows written as JSON or YAML into a DataFrame; a missing schema is inferred."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

#: Types that Arrow does not have.
_NOT_BY_ARROW = ("variant", "interval")
#: DataFrames have no CHAR and VARCHAR: Spark reads them as STRING too.
_CHARS = re.compile(r"\b(?:var)?char\s*\(\s*\d+\s*\)", re.IGNORECASE)
_WHOLE = {"byte": 8, "short": 16, "integer": 32, "long": 64}


@dataclass(eq=False, kw_only=True)
class BadRows(GoldsmithError):
    """Rows do not fit their schema."""

    problem: str

    def __str__(self) -> str:
        return self.problem

    @property
    def hint(self) -> str:
        return (
            "Write dates, times and decimals as text, or leave the schema out to have it inferred."
        )


def frame(spark: SparkSession, schema: str | None, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """The rows as a DataFrame."""
    struct = _parsed(schema) if schema is not None else inferred(rows)
    names = struct.fieldNames()
    made = [_row(struct, names, number, row) for number, row in enumerate(rows, start=1)]
    if not struct.fields:
        return spark.range(len(made)).drop("id")
    if any(kind in struct.simpleString() for kind in _NOT_BY_ARROW):
        return spark.createDataFrame(made, struct, verifySchema=False)
    return spark.createDataFrame(_as_arrow(made, struct), struct)


def _as_arrow(made: list[tuple[Any, ...]], struct: StructType) -> Any:
    """The rows as an Arrow table: without a Python worker, several times faster for few rows."""
    from pyspark.sql.conversion import LocalDataToArrowConversion
    from pyspark.sql.pandas.types import to_arrow_schema

    if not made:
        return to_arrow_schema(struct).empty_table()
    return LocalDataToArrowConversion.convert(made, struct, use_large_var_types=False)


def _parsed(schema: str) -> StructType:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    try:
        struct = StructType.fromDDL(_CHARS.sub("STRING", schema))
    except PySparkException as error:
        raise BadRows(problem=f"The schema '{schema}' is none: {_first(error)}") from error
    if not isinstance(struct, StructType):
        raise BadRows(problem=f"The schema '{schema}' is not a list of columns with types.")
    return struct


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _row(
    struct: StructType, names: Sequence[str], number: int, row: Mapping[str, Any]
) -> tuple[Any, ...]:
    if not isinstance(row, dict):
        raise BadRows(problem=f"Row {number} is no object with the names of columns.")
    unknown = [name for name in row if name not in names]
    if unknown:
        raise BadRows(problem=f"Row {number} has '{unknown[0]}', which the schema has not.")
    for field in struct.fields:
        if not field.nullable and row.get(field.name) is None:
            raise BadRows(problem=f"Row {number} has no '{field.name}', which is NOT NULL.")
    try:
        return tuple(typed(row.get(field.name), field.dataType) for field in struct.fields)
    except (ValueError, TypeError, ArithmeticError, InvalidOperation) as error:
        raise BadRows(problem=f"Row {number} does not fit the schema: {error}") from error


def typed(value: Any, type_: DataType) -> Any:
    """A JSON value as the Python type that Spark expects."""
    from pyspark.sql.types import ArrayType, DecimalType, MapType, StructType

    if value is None:
        return None
    if isinstance(type_, ArrayType):
        return [typed(item, type_.elementType) for item in value]
    if isinstance(type_, MapType):
        return {
            typed(key, type_.keyType): typed(item, type_.valueType) for key, item in value.items()
        }
    if isinstance(type_, StructType):
        return tuple(typed(value.get(field.name), field.dataType) for field in type_.fields)
    if isinstance(type_, DecimalType):
        return _decimal(value, type_)
    kind = type_.typeName()
    if kind in _WHOLE:
        return _whole(value, _WHOLE[kind])
    return _READERS.get(kind, lambda same: same)(value)


def _decimal(value: Any, type_: Any) -> Decimal:
    exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-type_.scale))
    if len(exact.as_tuple().digits) > type_.precision:
        raise ValueError(f"{value!r} is no {type_.simpleString()}")
    return exact


def _whole(value: Any, bits: int) -> int:
    number = int(value) if not isinstance(value, float) or value.is_integer() else None
    if number is None or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError(f"{value!r} is no whole number of {bits} bits")
    return number


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)


def _flag(value: Any) -> bool:
    known = {"true": True, "false": False}
    if isinstance(value, bool):
        return value
    if str(value).lower() not in known:
        raise ValueError(f"{value!r} is neither true nor false")
    return known[str(value).lower()]


def _date(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    return datetime.fromisoformat(str(value)).date()


def _naive(value: Any) -> datetime:
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day)
    else:
        moment = datetime.fromisoformat(str(value))
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _moment(value: Any) -> datetime:
    # With a zone: PySpark reads a time without one in the time zone of this process.
    return _naive(value).replace(tzinfo=UTC)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else base64.b64decode(str(value), validate=True)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "boolean": _flag,
    "float": float,
    "double": float,
    "date": _date,
    "timestamp": _moment,
    "timestamp_ntz": _naive,
    "binary": _bytes,
}


def inferred(rows: Sequence[Mapping[str, Any]]) -> StructType:
    """Infer the schema of rows; texts stay texts."""
    from pyspark.sql.types import StructType

    names: dict[str, list[Any]] = {}
    for row in rows:
        if not isinstance(row, dict):
            raise BadRows(problem="A row is no object with the names of columns.")
        for name, value in row.items():
            names.setdefault(name, []).append(value)
    struct = StructType()
    for name, values in names.items():
        struct = struct.add(name, _type_of(values))
    return struct


def _type_of(values: Sequence[Any]) -> DataType:
    from pyspark.sql import types

    there = [value for value in values if value is not None]
    if there and all(isinstance(value, dict) for value in there):
        return inferred(there)
    if there and all(isinstance(value, list) for value in there):
        return types.ArrayType(_type_of([item for value in there for item in value]))
    kinds = set(_kinds(there))
    if kinds == {"boolean"}:
        return types.BooleanType()
    if kinds == {"whole"}:
        fits = all(-(2**63) <= value < 2**63 for value in there)
        return types.LongType() if fits else types.DecimalType(38, 0)
    if kinds and kinds <= {"whole", "number"}:
        return types.DoubleType()
    if kinds == {"date"}:
        return types.DateType()
    if kinds and kinds <= {"date", "time"}:
        return types.TimestampType()
    return types.StringType()


def _kinds(values: Sequence[Any]) -> Iterator[str]:
    """The kind of each value; YAML has dates and times, JSON does not."""
    for value in values:
        if isinstance(value, bool):
            yield "boolean"
        elif isinstance(value, int):
            yield "whole"
        elif isinstance(value, float):
            yield "number"
        elif isinstance(value, datetime):
            yield "time"
        elif isinstance(value, date):
            yield "date"
        else:
            yield "text"
