"""Where a source's schema comes from: declared in its row, by ARN, or inferred and then kept."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.catalog.datasets import Source
from goldsmith.engine.readers import columnar, delimited, glue, json_records
from goldsmith.engine.readers.errors import BadSchema, DuplicateColumns, as_reading_error
from goldsmith.engine.readers.reading import Reading
from goldsmith.engine.readers.spark_types import of_ddl, plain, readable
from goldsmith.engine.readers.widening import merge_inferred as merge_inferred
from goldsmith.logs import line
from goldsmith.planning.files import FileSeen
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_log = logging.getLogger("goldsmith.engine.readers")


class SchemaFound(NamedTuple):
    """A schema and who says so."""

    schema: StructType
    #: `declared_schema`, an ARN, or the file that stands for it here.
    origin: str


def declared(source: Source, places: Places) -> StructType | None:
    """The schema a row says or points to; None where it has to be inferred."""
    found = find(source, places)
    return None if found is None else found.schema


def find(source: Source, places: Places) -> SchemaFound | None:
    """The same with its origin."""
    if source.declared_schema is not None and source.declared_schema.strip():
        return SchemaFound(_of_row(source, source.declared_schema.strip()), "declared_schema")
    if source.schema_arn is None:
        return None
    found = glue.find(source.schema_arn, places)
    if found is not None:
        return SchemaFound(*found)
    folder = places.settings.schemas.folder
    line(
        _log,
        logging.WARNING,
        f"No schema for {source.schema_arn} in {folder}: it is inferred from the files",
        source=source.source_id,
        schema_arn=source.schema_arn,
    )
    return None


def _of_row(source: Source, text: str) -> StructType:
    from pyspark.sql.types import StructType

    place = f"declared_schema of source '{source.source_id}'"
    if not text.startswith("{"):
        return of_ddl(text, place)
    try:
        return readable(StructType.fromJson(json.loads(text)))
    except (ValueError, KeyError, TypeError) as error:
        raise BadSchema(place=place, cause=f"{error}.") from error


def infer(
    spark: SparkSession, source: Source, files: Sequence[FileSeen], places: Places
) -> StructType:
    """The columns these files have, in the types their format or their values say."""
    from pyspark.sql.types import StructField, StructType

    if not files:
        return StructType([])
    try:
        reading = Reading.of(spark, source, files, places)
        if reading.format == "text":
            return StructType([StructField("value", plain("string"))])
        if not reading.files:
            return StructType([])
        match reading.format:
            case "csv" | "tsv":
                return readable(delimited.infer(reading))
            case "json" | "jsonl":
                return readable(json_records.infer(reading))
            case _:
                return readable(columnar.infer(reading))
    except Exception as error:
        known = _doubled(error, source) or as_reading_error(error, files)
        if known is None or known is error:
            raise
        raise known from error


def _doubled(error: Exception, source: Source) -> DuplicateColumns | None:
    """Spark refuses files with columns of one name while it infers their schema."""
    found = re.search(r"COLUMN_ALREADY_EXISTS\] The column `([^`]*)`", str(error))
    place = f"The source '{source.source_id}'"
    return None if found is None else DuplicateColumns(place=place, columns=(found[1],))
