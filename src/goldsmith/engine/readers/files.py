"""Files as rows: whatever their format, each row with the address of its file, nothing dropped.

Records that cannot be parsed are rows too, of `FilesRead.all_rows`; `rows` and `malformed` are
its two halves. Which half a record is in does not depend on the columns a query asks for, so
good rows may be written and malformed ones counted in one pass over `all_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.catalog.datasets import Source
from goldsmith.engine.readers import columnar, delimited, json_records, schemas
from goldsmith.engine.readers.errors import BadSchema, DuplicateColumns, as_reading_error
from goldsmith.engine.readers.malformed import REASON, TEXT
from goldsmith.engine.readers.reading import COLUMNAR, Reading
from goldsmith.engine.readers.source_file import SOURCE_FILE, source_file
from goldsmith.engine.readers.widening import doubled, doubled_in
from goldsmith.planning.files import FileSeen
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_OURS = (SOURCE_FILE, TEXT, REASON)


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesRead:
    """What files hold; nothing is evaluated yet."""

    #: Every record: the schema's columns, `_source_file`, and for malformed ones their text in
    #: `_malformed_text` and why in `_malformed_reason`, which are NULL in good rows.
    all_rows: DataFrame
    #: The columns of the files.
    schema: StructType
    #: `given` or `inferred`.
    origin: str
    #: Records of this format may be malformed.
    may_be_malformed: bool

    @property
    def is_malformed(self) -> Column:
        """The condition of a malformed record in `all_rows`."""
        from pyspark.sql import functions as F

        return F.col(TEXT).isNotNull()

    @property
    def rows(self) -> DataFrame:
        """The good rows: the schema's columns and `_source_file`."""
        good = self.all_rows.where(~self.is_malformed) if self.may_be_malformed else self.all_rows
        return good.drop(TEXT, REASON)

    @property
    def malformed(self) -> DataFrame | None:
        """The others, as `_source_file`, `_text` and `_reason`; None where there are never any."""
        from pyspark.sql import functions as F

        if not self.may_be_malformed:
            return None
        return self.all_rows.where(self.is_malformed).select(
            SOURCE_FILE, F.col(TEXT).alias("_text"), F.col(REASON).alias("_reason")
        )


def read_files(
    spark: SparkSession,
    source: Source,
    files: Sequence[FileSeen],
    places: Places,
    *,
    schema: StructType | None,
) -> FilesRead:
    """The rows of exactly these files, in a schema's columns or, without one, in their own."""
    from pyspark.sql.types import StructType

    if not files:
        return _found(_nothing(spark, schema or StructType([])), schema, may_be_malformed=False)
    try:
        reading = Reading.of(spark, source, files, places)
        columns = schemas.infer(spark, source, files, places) if schema is None else schema
        _refuse_doubled(source, columns)
        rows = _read(reading, columns) if reading.files else _nothing(spark, columns)
    except Exception as error:
        known = as_reading_error(error, files)
        if known is None or known is error:
            raise
        raise known from error
    lines = reading.format not in (*COLUMNAR, "text")
    return _found(rows, schema, may_be_malformed=lines and bool(reading.files))


def _read(reading: Reading, schema: StructType) -> DataFrame:
    match reading.format:
        case "csv" | "tsv":
            return delimited.read(reading, schema)
        case "json" | "jsonl":
            return json_records.read(reading, schema)
        case "text":
            return _text(reading, schema)
        case _:
            return columnar.read(reading, schema)


def _text(reading: Reading, schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F

    if [field.dataType.simpleString() for field in schema.fields] != ["string"]:
        place = f"source '{reading.source.source_id}'"
        raise BadSchema(place=place, cause="files of text have one column, a STRING.")
    raw = reading.reader().format("text").load(reading.addresses())
    return raw.select(
        F.col("value").alias(schema.names[0]),
        *reading.partitions(raw, ["value"]),
        source_file(raw, reading.files, reading.places),
    )


def _refuse_doubled(source: Source, schema: StructType) -> None:
    place = f"The source '{source.source_id}'"
    if twice := doubled_in(schema) or doubled((*schema.names, *_OURS)):
        raise DuplicateColumns(place=place, columns=tuple(dict.fromkeys(twice)))


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
