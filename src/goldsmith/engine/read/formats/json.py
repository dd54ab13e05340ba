"""JSON: a record a line, one document a file, or an array of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.catalog.file_formats import FILE_OPTIONS, RECORD_OPTIONS, FileFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from goldsmith.engine.read.reading import Reading

JSON_OPTIONS = (
    *FILE_OPTIONS,
    *RECORD_OPTIONS,
    *("allowBackslashEscapingAnyCharacter", "allowComments", "allowNonNumericNumbers"),
    *("allowNumericLeadingZeros", "allowSingleQuotes", "allowUnquotedControlChars"),
    *("allowUnquotedFieldNames", "check_lines", "dropFieldIfAllNull", "inferTimestamp"),
    *("prefersDecimal", "primitivesAsString", "useUnsafeRow"),
)


def _infer(reading: Reading) -> StructType:
    from goldsmith.engine.read import json_records

    return json_records.infer(reading)


def _read(reading: Reading, schema: StructType) -> DataFrame:
    from goldsmith.engine.read import json_records

    return json_records.read(reading, schema)


json = FileFormat(options=JSON_OPTIONS, infer=_infer, read=_read)
