"""ORC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.catalog.file_formats import FILE_OPTIONS, FileFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from goldsmith.engine.read.reading import Reading


def _infer(reading: Reading) -> StructType:
    from goldsmith.engine.read import columnar

    return columnar.infer(reading)


def _read(reading: Reading, schema: StructType) -> DataFrame:
    from goldsmith.engine.read import columnar

    return columnar.read(reading, schema)


orc = FileFormat(
    options=(*FILE_OPTIONS, "mergeSchema"), refuses_empty_files=True, infer=_infer, read=_read
)
