"""Timestamps with nanoseconds in Parquet files, which pandas and Arrow write by default.

Spark's timestamps hold microseconds, and Spark refuses such files. The columns are read as BIGINT
and converted here. A row that would lose nanoseconds is malformed, so no value is truncated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from goldsmith.engine.names import literal, name
from goldsmith.engine.read.errors import FileDoesNotFit
from goldsmith.engine.read.file_sniffing import each
from goldsmith.engine.read.reading import Reading
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType

_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"
_TIMES = ("timestamp", "timestamp_ntz")
_NESTED = "Write it in microseconds, or declare a schema without the column."

#: Columns with nanoseconds, and whether each is in UTC.
Nanoseconds = tuple[tuple[str, bool], ...]


def by_nanoseconds(reading: Reading) -> Mapping[Nanoseconds, list[ListedFile]]:
    """Group files by their columns with nanoseconds, as found in the footers."""
    groups: dict[Nanoseconds, list[ListedFile]] = {}
    found = each(reading, lambda file: _of_file(reading.storage, file))
    for file, columns in zip(reading.files, found, strict=True):
        top = tuple((column, utc) for column, utc, within in columns if within is None)
        groups.setdefault(top, []).append(file)
    return groups


def refuse_nested(reading: Reading, schema: StructType | None) -> None:
    """Raise for nanoseconds inside a struct, list or map, which Spark would read as BIGINT."""
    time_columns = None
    if schema is not None:
        time_columns = {
            f.name.lower() for f in schema.fields if "timestamp" in f.dataType.simpleString()
        }
    for file in reading.files:
        for path, _, within in _of_file(reading.storage, file):
            if within is not None and (time_columns is None or within.lower() in time_columns):
                cause = f"{path} has nanoseconds inside '{within}', which a TIMESTAMP does not hold"
                raise FileDoesNotFit(file=file.path, cause=f"{cause}.", advice=_NESTED)


@lru_cache(maxsize=8192)
def _of_file(storage: Storage, file: ListedFile) -> tuple[tuple[str, bool, str | None], ...]:
    """Each column with nanoseconds: its path, whether it is in UTC, its outer column if nested."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from goldsmith.engine.warehouses.staged import file_system

    system, path = file_system(storage, storage.address(file.path))
    try:
        with system.open_input_file(path) as opened:
            schema = pq.read_metadata(opened).schema
            columns = [schema.column(index) for index in range(len(schema))]
            has_points = any("." in column.path for column in columns)
            names = schema.to_arrow_schema().names if has_points else ()
    except (pa.ArrowInvalid, OSError):
        return ()  # Spark reports what is wrong with the file
    kinds = [(column.path, json.loads(column.logical_type.to_json())) for column in columns]
    return tuple(
        (
            path,
            bool(kind["isAdjustedToUTC"]),
            None if "." not in path or path in names else path.split(".")[0],
        )
        for path, kind in kinds
        if kind.get("timeUnit") == "nanoseconds" and "isAdjustedToUTC" in kind
        if kind.get("Type") == "Timestamp"
    )


@contextmanager
def as_long(reading: Reading, *, is_on: bool) -> Iterator[None]:
    """Inside the block Spark infers nanoseconds as BIGINT (`is_on`) or refuses them."""
    conf = reading.spark.conf
    before = conf.get(_AS_LONG)
    conf.set(_AS_LONG, str(is_on).lower())
    try:
        yield
    finally:
        conf.set(_AS_LONG, str(before))


def read_as_long(reading: Reading) -> None:
    """Make Spark read nanoseconds as BIGINT; set for the session, as files are opened later."""
    reading.spark.conf.set(_AS_LONG, "true")


def with_times(schema: StructType, columns: Nanoseconds) -> StructType:
    """The inferred schema with timestamps instead of BIGINT for these columns."""
    from pyspark.sql.types import TimestampNTZType, TimestampType

    types = {
        column.lower(): TimestampType() if utc else TimestampNTZType() for column, utc in columns
    }
    return _replaced(schema, types)


def with_numbers(schema: StructType, columns: Nanoseconds) -> StructType:
    """The schema to read with: BIGINT for these columns where `schema` has timestamps."""
    from pyspark.sql.types import LongType

    inside = {column.lower() for column, _ in columns}
    time_columns = {f.name.lower() for f in schema.fields if f.dataType.simpleString() in _TIMES}
    return _replaced(schema, {column: LongType() for column in inside & time_columns})


def _replaced(schema: StructType, types: Mapping[str, DataType]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType(
        [StructField(f.name, types.get(f.name.lower(), f.dataType)) for f in schema.fields]
    )


def times(schema: StructType, read: StructType) -> Mapping[str, Column]:
    """For each column read as BIGINT, its value as the timestamp type of `schema`."""
    from pyspark.sql import functions as F

    return {
        wanted.name: F.expr(f"timestamp_micros({name(wanted.name)} div 1000)").cast(wanted.dataType)
        for wanted, found in zip(schema.fields, read.fields, strict=True)
        if wanted.dataType != found.dataType
    }


def lost(columns: Sequence[str]) -> tuple[Column, Column]:
    """The text and the reason of a row that would lose nanoseconds; NULL for others."""
    from pyspark.sql import functions as F

    reasons = ", ".join(
        f"CASE WHEN {name(column)} % 1000 <> 0 THEN"
        f" {literal(f'{column} has nanoseconds, which a TIMESTAMP does not hold')} END"
        for column in columns
    )
    reason = F.expr(f"nullif(concat_ws(', ', {reasons}), '')")
    return F.when(reason.isNotNull(), F.expr("to_json(struct(*))")), reason
