"""The schema of a source: declared in its row, found by its ARN, or inferred from files."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from goldsmith.catalog.datasets import Source
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.engine.read import glue
from goldsmith.engine.read.errors import BadSchema, DuplicateColumns, as_reading_error, type_unknown
from goldsmith.engine.read.reading import Reading
from goldsmith.engine.read.spark_types import of_ddl, readable
from goldsmith.engine.read.widening import merge_inferred as merge_inferred
from goldsmith.errors import GoldsmithError
from goldsmith.logs import line
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_log = logging.getLogger("goldsmith.engine.read")


class SchemaFound(NamedTuple):
    """A schema and its origin."""

    schema: StructType
    #: `declared_schema`, an ARN, or the file in the schemas folder for the ARN.
    origin: str


def declared(source: Source, storage: Storage) -> StructType | None:
    """The schema that a source's row declares or refers to; None if it has to be inferred."""
    found = find(source, storage)
    return None if found is None else found.schema


def find(source: Source, storage: Storage) -> SchemaFound | None:
    """The declared schema with its origin; None if it has to be inferred."""
    if source.declared_schema is not None and source.declared_schema.strip():
        return SchemaFound(_of_row(source, source.declared_schema.strip()), "declared_schema")
    if source.schema_arn is None:
        return None
    found = glue.find(source.schema_arn, storage)
    if found is not None:
        return SchemaFound(*found)
    folder = storage.settings.schemas.folder
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

    location = f"declared_schema of source '{source.source_id}'"
    if not text.startswith("{"):
        return of_ddl(text, location)
    try:
        return readable(StructType.fromJson(json.loads(text)))
    except (ValueError, KeyError, TypeError) as error:
        raise BadSchema(place=location, cause=f"{error}.") from error


def infer(
    spark: SparkSession, source: Source, files: Sequence[ListedFile], storage: Storage
) -> StructType:
    """The columns of these files, with types from their format or their values."""
    from pyspark.sql.types import StructType

    if not files:
        return StructType([])
    try:
        reading = Reading.of(spark, source, files, storage)
        file_format = FORMATS.get(reading.format)
        if not reading.files and not file_format.has_fixed_columns:
            return StructType([])
        return readable(file_format.infer(reading))
    except Exception as error:
        known: GoldsmithError | None = _doubled(error, source) or type_unknown(error, files)
        known = known or as_reading_error(error, files)
        if known is None or known is error:
            raise
        raise known from error


def _doubled(error: Exception, source: Source) -> DuplicateColumns | None:
    """The error if Spark found a column name twice during inference; else None."""
    found = re.search(r"COLUMN_ALREADY_EXISTS\] The column `([^`]*)`", str(error))
    location = f"The source '{source.source_id}'"
    return None if found is None else DuplicateColumns(place=location, columns=(found[1],))
