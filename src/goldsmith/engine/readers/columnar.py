"""parquet, orc and avro: files that carry their own schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.engine.names import name
from goldsmith.engine.readers.heads import avro_schemas
from goldsmith.engine.readers.reading import Reading
from goldsmith.engine.readers.source_file import source_file
from goldsmith.engine.readers.widening import union_of
from goldsmith.planning.files import FileSeen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def infer(reading: Reading) -> StructType:
    """The columns of all files, in types that hold the values of each."""
    if reading.format == "avro":
        return _of_each(reading, _one_of_each_avro(reading))
    try:
        return _schema(reading, reading.files, merge=True)
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):
            raise
        # Spark does not merge INT and BIGINT, and can read the one as the other.
        return _of_each(reading, reading.files)


def _one_of_each_avro(reading: Reading) -> Iterable[FileSeen]:
    """Of files that carry the same schema the first: Spark itself looks at no other."""
    if reading.options.get("avroSchema", "avroSchemaUrl") is not None:
        return reading.files[:1]
    first: dict[str, FileSeen] = {}
    for schema, file in zip(avro_schemas(reading), reading.files, strict=True):
        first.setdefault(schema, file)
    return first.values()


def _of_each(reading: Reading, files: Iterable[FileSeen]) -> StructType:
    schemas = [_schema(reading, [file], merge=False) for file in files]
    return union_of(schemas, source=reading.source.source_id, loose=False)


def _schema(reading: Reading, files: Iterable[FileSeen], *, merge: bool) -> StructType:
    reader = reading.reader(**({"mergeSchema": True} if merge else {}))
    return reader.format(reading.format).load(reading.addresses(files)).schema


def read(reading: Reading, schema: StructType) -> DataFrame:
    """The rows of all files, in the columns of a schema; a column a file lacks is NULL."""
    from pyspark.sql import functions as F

    reader = reading.reader().schema(schema)
    rows = reader.format(reading.format).load(reading.addresses())
    return rows.select(
        *(F.col(name(column)) for column in rows.columns),
        source_file(rows, reading.files, reading.places),
    )
