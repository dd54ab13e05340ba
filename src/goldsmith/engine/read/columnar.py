"""Read parquet, orc and avro files, which have their own schema."""

from __future__ import annotations

import json
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

from goldsmith.engine.names import name
from goldsmith.engine.read import nanoseconds
from goldsmith.engine.read.errors import BadSchema
from goldsmith.engine.read.file_sniffing import avro_schema_of, avro_schemas, each
from goldsmith.engine.read.malformed import REASON, TEXT
from goldsmith.engine.read.nanoseconds import Nanoseconds
from goldsmith.engine.read.reading import Reading
from goldsmith.engine.read.source_file import source_file
from goldsmith.engine.read.widening import folded, union_of
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: An error lists at most so many of a file's columns.
_MOST_NAMES = 10


def infer(reading: Reading) -> StructType:
    """The columns of all files, in types that hold the values of each."""
    if reading.format == "avro":
        return _of_each(reading, _one_of_each_avro(reading))
    try:
        with nanoseconds.as_long(reading, is_on=False):
            return _schema(reading, reading.files, merge=True)
    except Exception as error:
        if "NANOS" in str(error):
            return _with_nanoseconds(reading)
        if "CANNOT_MERGE_SCHEMAS" not in str(error):
            raise
        # Spark does not merge INT and BIGINT, but can read INT as BIGINT.
        return _of_each(reading, reading.files)


def _with_nanoseconds(reading: Reading) -> StructType:
    nanoseconds.refuse_nested(reading, None)
    with nanoseconds.as_long(reading, is_on=True):
        schemas = [
            nanoseconds.with_times(_schema(reading, files, merge=True), columns)
            for columns, files in nanoseconds.by_nanoseconds(reading).items()
        ]
    return union_of(schemas, source=reading.source.source_id, loose=False)


def _one_of_each_avro(reading: Reading) -> Iterable[ListedFile]:
    """The first of all files with the same schema: Spark infers from one file only."""
    if reading.options.get("avroSchema", "avroSchemaUrl") is not None:
        return reading.files[:1]
    first: dict[str, ListedFile] = {}
    for schema, file in zip(avro_schemas(reading), reading.files, strict=True):
        first.setdefault(schema, file)
    return first.values()


def _of_each(reading: Reading, files: Iterable[ListedFile]) -> StructType:
    schemas = [_schema(reading, [file], merge=False) for file in files]
    return union_of(schemas, source=reading.source.source_id, loose=False)


def _schema(reading: Reading, files: Iterable[ListedFile], *, merge: bool) -> StructType:
    reader = reading.reader(**({"mergeSchema": True} if merge else {}))
    return reader.format(reading.format).load(reading.addresses(files)).schema


def read(reading: Reading, schema: StructType) -> DataFrame:
    """The rows of all files, in the columns of a schema; NULL for columns a file lacks."""
    if reading.source.declared_schema or reading.source.schema_arn:
        _refuse_strangers(reading, schema)
    has_times = "timestamp" in schema.simpleString() and reading.format == "parquet"
    if has_times:
        nanoseconds.refuse_nested(reading, schema)
    groups = nanoseconds.by_nanoseconds(reading) if has_times else {(): list(reading.files)}
    parts = [_part(reading, schema, columns, files) for columns, files in groups.items()]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def _refuse_strangers(reading: Reading, schema: StructType) -> None:
    """Raise if a file has none of the declared columns: all values of its rows would be NULL."""
    own = ("basePath", "avroSchema", "avroSchemaUrl")  # these options add columns
    if not schema.fields or reading.options.get(*own) is not None:
        return
    known = {folded(column) for column in schema.names}
    found = each(reading, lambda file: _names(reading, file))
    for file, names in zip(reading.files, found, strict=True):
        if names and not known.intersection(map(folded, names)):
            listed = ", ".join(names[:_MOST_NAMES]) + ("…" if len(names) > _MOST_NAMES else "")
            raise BadSchema(
                place=f"source '{reading.source.source_id}'",
                cause=f"none of its columns is in {file.path}, which has {listed}.",
                advice="Check that s3_path and the schema belong together. Nothing was published.",
            )


def _names(reading: Reading, file: ListedFile) -> tuple[str, ...]:
    """The columns in a file's own schema; empty for a broken file, which Spark reports."""
    if reading.format == "avro":
        definition = json.loads(avro_schema_of(reading, file))
        fields = definition.get("fields", ()) if isinstance(definition, dict) else ()
        return tuple(str(field["name"]) for field in fields)
    return names_of(reading.storage, file, reading.format)


@lru_cache(maxsize=8192)
def names_of(storage: Storage, file: ListedFile, format_: str) -> tuple[str, ...]:
    """The columns in the footer of a Parquet or ORC file."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import orc

    from goldsmith.engine.warehouses.staged import file_system

    system, path = file_system(storage, storage.address(file.path))
    try:
        with system.open_input_file(path) as opened:
            if format_ == "orc":
                return tuple(orc.ORCFile(opened).schema.names)
            schema = pq.read_metadata(opened).schema
            paths = [schema.column(index).path for index in range(len(schema))]
            # A column may have a dot in its name.
            heads = [path.split(".")[0] for path in paths]
            return tuple(dict.fromkeys([*heads, *paths]))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        return ()


def _part(
    reading: Reading, schema: StructType, columns: Nanoseconds, files: list[ListedFile]
) -> DataFrame:
    from pyspark.sql import functions as F

    inside = nanoseconds.with_numbers(schema, columns)
    times = nanoseconds.times(schema, inside)
    if times:
        nanoseconds.read_as_long(reading)
    rows = reading.reader().schema(inside).format(reading.format).load(reading.addresses(files))
    selection = [times.get(c, F.col(name(c))).alias(c) for c in rows.columns]
    if not times:
        return rows.select(*selection, source_file(rows, files, reading.storage))
    text, reason = nanoseconds.lost(tuple(times))
    return rows.select(
        *selection,
        source_file(rows, files, reading.storage),
        text.alias(TEXT),
        reason.alias(REASON),
    )
