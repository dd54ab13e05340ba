"""Text: every line is one row with one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.catalog.file_formats import FILE_OPTIONS, TEXT_OPTIONS, FileFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from goldsmith.engine.read.reading import Reading


def _infer(reading: Reading) -> StructType:
    from pyspark.sql.types import StructField, StructType

    from goldsmith.engine.read.spark_types import plain

    del reading
    return StructType([StructField("value", plain("string"))])


def _read(reading: Reading, schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F

    from goldsmith.engine.read.errors import BadSchema, EncodingUnsupported
    from goldsmith.engine.read.file_sniffing import encoding_of
    from goldsmith.engine.read.source_file import source_file

    if [field.dataType.simpleString() for field in schema.fields] != ["string"]:
        location = f"source '{reading.source.source_id}'"
        raise BadSchema(place=location, cause="files of text have one column, a STRING.")
    if encoding_of(reading) != "utf-8":
        reason = "files of text are read as UTF-8"
        encoding = reading.options.get("encoding", "charset") or ""
        raise EncodingUnsupported(source=reading.source.source_id, encoding=encoding, reason=reason)
    raw = reading.reader().format("text").load(reading.addresses())
    return raw.select(
        F.col("value").alias(schema.names[0]),
        *reading.partitions(raw, ["value"]),
        source_file(raw, reading.files, reading.storage),
    )


text = FileFormat(
    options=(*FILE_OPTIONS, *TEXT_OPTIONS, "wholetext"),
    endings=("txt", "log"),
    has_fixed_columns=True,
    infer=_infer,
    read=_read,
)
