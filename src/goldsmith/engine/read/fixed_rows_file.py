"""Read a file of fixed rows; cast its texts to the types of the quarantined rows, or refuse it.

No type is inferred: an account number of a CSV keeps its zeros, a JSON decimal its digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from goldsmith.engine.names import name
from goldsmith.engine.quarantine import row_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

#: The CSV that spreadsheets and Python's csv module write: doubled quotes, quoted line breaks.
_CSV: Mapping[str, str | bool] = {
    "header": True,
    "quote": '"',
    "escape": '"',
    "multiLine": True,
    "mode": "FAILFAST",
}


@dataclass
class FileRefused(Exception):
    """A file of fixed rows cannot be read in the types of the quarantined rows."""

    cause: str
    advice: str


def read(spark: SparkSession, file: str, known: Mapping[str, DataType], mark: str) -> DataFrame:
    """The rows of a Parquet, CSV or JSON lines file; `known` has the types by lower-case name."""
    from pyspark.errors import PySparkException

    match file.rsplit(".", 1)[-1].lower():
        case "parquet":
            rows = spark.read.parquet(file)
        case "csv":
            rows = spark.read.options(**_CSV).csv(file)
            _refuse_nested(rows, known)
        case _:
            rows = _json(spark, file, known)
    try:
        # Read the file once, so that the rows checked here are the rows replayed.
        rows = rows.localCheckpoint(eager=True)
    except PySparkException as error:
        raise FileRefused(
            cause=f"a line of {file} cannot be read: {_first_line(error)}",
            advice="Each line needs the columns of the header, in the types of the rows.",
        ) from error
    return _typed(rows, known, mark)


def _json(spark: SparkSession, file: str, known: Mapping[str, DataType]) -> DataFrame:
    """Read JSON lines: scalars as text, nested values in the types of the rows."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import AtomicType, StringType, StructField, StructType

    found = spark.read.json(file).schema.fields
    types = {field.name: known.get(field.name.lower()) for field in found}
    as_text = [
        StructField(field.name, field.dataType if types[field.name] is None else StringType())
        for field in found
    ]
    rows = spark.read.schema(StructType(as_text)).json(file, mode="FAILFAST")
    nested = {
        column: row_text.from_text(F.col(name(column)), type_)
        for column, type_ in types.items()
        if type_ is not None and not isinstance(type_, AtomicType)
    }
    return rows.withColumns(nested) if nested else rows


def _refuse_nested(rows: DataFrame, known: Mapping[str, DataType]) -> None:
    from pyspark.sql.types import AtomicType

    for column in rows.columns:
        type_ = known.get(column.lower())
        if type_ is not None and not isinstance(type_, AtomicType):
            raise FileRefused(
                cause=f"column {column} is {type_.simpleString()}, which a CSV cannot hold",
                advice="Write the rows as JSON lines or Parquet.",
            )


def _typed(rows: DataFrame, known: Mapping[str, DataType], mark: str) -> DataFrame:
    """Cast texts to the types of the rows; raise for the first text that is no such value."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import AtomicType, StringType

    texts = {
        field.name: type_
        for field in rows.schema.fields
        if isinstance(field.dataType, StringType)
        and isinstance(type_ := known.get(field.name.lower()), AtomicType)
        and not isinstance(type_, StringType)
    }
    if not texts:
        return rows
    bad = {column: _is_none(F.col(name(column)), type_) for column, type_ in texts.items()}
    first = rows.where(reduce(lambda left, right: left | right, bad.values()))
    flags = [is_bad.alias(f"{column}?") for column, is_bad in bad.items()]
    refused = first.select("*", *flags).head()
    if refused is not None:
        raise _refusal(refused.asDict(), texts, mark)
    return rows.withColumns({c: _cast(F.col(name(c)), type_) for c, type_ in texts.items()})


def _refusal(row: dict[str, Any], texts: Mapping[str, DataType], mark: str) -> FileRefused:
    column = next(column for column in texts if row[f"{column}?"])
    type_ = texts[column].simpleString()
    return FileRefused(
        cause=f"{row[column]!r} in column {column} (row {row.get(mark)}) is no {type_}",
        advice=f"Column {column} of the quarantined rows is {type_}: write such a value there.",
    )


def _cast(text: Column, type_: DataType) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, CharType, VarcharType

    if isinstance(type_, BinaryType):
        return F.try_to_binary(text, F.lit("base64"))
    if isinstance(type_, CharType | VarcharType):
        return text
    return text.try_cast(type_)


def _is_none(text: Column, type_: DataType) -> Column:
    """The text is not NULL and is no exact value of the type."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DecimalType

    value = _cast(text, type_)
    bad = value.isNull()
    if isinstance(type_, DecimalType):
        exact = text.try_cast(DecimalType(38, min(38, type_.scale + 10)))
        bad = bad | F.coalesce(exact != value, F.lit(False))
    return text.isNotNull() & bad


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
