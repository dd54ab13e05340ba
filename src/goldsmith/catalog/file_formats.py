"""File formats: a format is one file of `engine/read/formats`, which declares what it takes.

The registry imports a declaration by its name. So a new format needs no list here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldsmith.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: Spark's reader options of every format.
FILE_OPTIONS = (
    *("basePath", "ignoreCorruptFiles", "ignoreInvalidPartitionPaths", "ignoreMissingFiles"),
    *("modifiedAfter", "modifiedBefore", "pathGlobFilter", "recursiveFileLookup"),
)
#: Spark's reader options of formats that are text.
TEXT_OPTIONS = ("charset", "encoding", "lineSep")
#: Spark's reader options of formats whose records are parsed from text.
RECORD_OPTIONS = (
    *TEXT_OPTIONS,
    *("columnNameOfCorruptRecord", "dateFormat", "enableDateTimeParsingFallback", "locale"),
    *("mode", "multiLine", "samplingRatio", "singleVariantColumn", "timeZone"),
    *("timestampFormat", "timestampNTZFormat"),
)


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """A file format: its options, its file endings, and how its files are read."""

    #: The keys `sources.options` may have. Keys with a dot are Hadoop settings.
    options: tuple[str, ...]
    #: The columns of files, with their types. Takes an `engine.read.reading.Reading`.
    infer: Callable[[Any], StructType]
    #: The rows of files in the columns of a schema, with `_source_file` and, if records may be
    #: malformed, the columns TEXT and REASON of `engine/read/malformed.py`.
    read: Callable[[Any, StructType], DataFrame]
    #: File endings beside the format's name.
    endings: tuple[str, ...] = ()
    #: Files always have a header or a footer: an empty file is invalid.
    refuses_empty_files: bool = False
    #: The columns are the same for all files, empty ones too.
    has_fixed_columns: bool = False


FORMATS: Registry[FileFormat] = Registry(
    "file format", package="goldsmith.engine.read.formats", kind=FileFormat
)
