"""Read files of any format as rows, each with the address of its file; no record is dropped.

`FilesRead.all_rows` holds all records, also those that cannot be parsed; `rows` and `malformed`
are its two halves. The half of a record does not depend on the columns a query selects, so one
pass over `all_rows` can write good rows and count malformed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Source
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.engine.read import schemas
from goldsmith.engine.read.errors import DuplicateColumns, as_reading_error
from goldsmith.engine.read.malformed import REASON, TEXT, raised
from goldsmith.engine.read.reading import CORRUPT, Reading
from goldsmith.engine.read.source_file import SOURCE_FILE
from goldsmith.engine.read.widening import doubled, doubled_in
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_OURS = (SOURCE_FILE, TEXT, REASON)


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesRead:
    """The records of files; nothing is evaluated yet."""

    #: Every record: the schema's columns, `_source_file`, and the columns TEXT and REASON with
    #: the text and the reason of a malformed record, which are NULL in good rows.
    all_rows: DataFrame
    #: The columns of the files.
    schema: StructType
    #: `given` or `inferred`.
    origin: str
    #: Whether this reading can find malformed records.
    may_be_malformed: bool

    @property
    def is_malformed(self) -> Column:
        """The condition for malformed records in `all_rows`."""
        from pyspark.sql import functions as F

        return F.col(TEXT).isNotNull()

    @property
    def rows(self) -> DataFrame:
        """The good rows: the schema's columns and `_source_file`."""
        good = self.all_rows.where(~self.is_malformed) if self.may_be_malformed else self.all_rows
        return good.drop(TEXT, REASON)

    @property
    def malformed(self) -> DataFrame | None:
        """Malformed records as `_source_file`, `_text`, `_reason`; None if there can be none."""
        from pyspark.sql import functions as F

        if not self.may_be_malformed:
            return None
        return self.all_rows.where(self.is_malformed).select(
            SOURCE_FILE, F.col(TEXT).alias("_text"), F.col(REASON).alias("_reason")
        )


def read_files(
    spark: SparkSession,
    source: Source,
    files: Sequence[ListedFile],
    storage: Storage,
    *,
    schema: StructType | None,
) -> FilesRead:
    """The rows of exactly these files, in the columns of `schema`, else of an inferred one."""
    from pyspark.sql.types import StructType

    if not files:
        return _found(_nothing(spark, schema or StructType([])), schema, may_be_malformed=False)
    try:
        reading = Reading.of(spark, source, files, storage)
        columns = schemas.infer(spark, source, files, storage) if schema is None else schema
        _refuse_doubled(source, columns)
        read = FORMATS.get(reading.format).read
        rows = read(reading, columns) if reading.files else _nothing(spark, columns)
    except Exception as error:
        known = as_reading_error(error, files)
        if known is None or known is error:
            raise
        raise known from error
    may_be_malformed = TEXT in rows.columns
    if may_be_malformed and reading.fails_fast:
        rows = rows.withColumn(TEXT, raised())
    return _found(rows, schema, may_be_malformed=may_be_malformed)


def _refuse_doubled(source: Source, schema: StructType) -> None:
    location = f"The source '{source.source_id}'"
    if twice := doubled_in(schema) or doubled((*schema.names, *_OURS, CORRUPT)):
        raise DuplicateColumns(place=location, columns=tuple(dict.fromkeys(twice)))


def _nothing(spark: SparkSession, schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F

    columns = [F.lit(None).cast(field.dataType).alias(field.name) for field in schema.fields]
    return spark.range(0).select(*columns, F.lit("").alias(SOURCE_FILE))


def _found(rows: DataFrame, given: StructType | None, *, may_be_malformed: bool) -> FilesRead:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    if not may_be_malformed:
        none = F.lit(None).cast("string")
        rows = rows.select("*", none.alias(TEXT), none.alias(REASON))
    return FilesRead(
        all_rows=rows,
        schema=StructType([field for field in rows.schema.fields if field.name not in _OURS]),
        origin="inferred" if given is None else "given",
        may_be_malformed=may_be_malformed,
    )
