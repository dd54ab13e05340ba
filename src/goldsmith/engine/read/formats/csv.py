"""Comma-separated values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.catalog.file_formats import FILE_OPTIONS, RECORD_OPTIONS, FileFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from goldsmith.engine.read.reading import Reading

CSV_OPTIONS = (
    *FILE_OPTIONS,
    *RECORD_OPTIONS,
    *("charToEscapeQuoteEscaping", "columnPruning", "comment", "delimiter", "emptyValue"),
    *("enforceSchema", "escape", "extension", "header", "ignoreLeadingWhiteSpace"),
    *("ignoreTrailingWhiteSpace", "inferSchema", "inputBufferSize", "maxCharsPerColumn"),
    *("maxColumns", "nanValue", "negativeInf", "nullValue", "positiveInf", "preferDate"),
    *("quote", "sep", "unescapedQuoteHandling"),
)


def _infer(reading: Reading) -> StructType:
    from goldsmith.engine.read import delimited

    return delimited.infer(reading)


def _read(reading: Reading, schema: StructType) -> DataFrame:
    from goldsmith.engine.read import delimited

    return delimited.read(reading, schema)


csv = FileFormat(options=CSV_OPTIONS, infer=_infer, read=_read)
