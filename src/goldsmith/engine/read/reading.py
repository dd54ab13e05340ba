"""A reading: the files of one source, their format and Spark's reader options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from goldsmith.catalog.datasets import Source
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.engine.names import name
from goldsmith.engine.read.errors import FileTruncated, FormatUnknown
from goldsmith.errors import nearest
from goldsmith.storage.files import FileNameUnreadable, ListedFile
from goldsmith.storage.spark_addresses import spark_address
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

#: Column with the text of a record that Spark could not parse.
CORRUPT = "_goldsmith_corrupt"
#: Compression that Hadoop recognises by a file's extension.
COMPRESSED = ("gz", "bz2", "zst", "snappy", "lz4", "deflate")
_NOT_OPENED = ("zip", "7z", "xz", "tar", "tgz", "rar", "br", "lzo", "gzip")
_PATTERN = re.compile(r"[{}\[\]*?\\]")


class Options:
    """The reader options of a source's row; Spark ignores the case of their names."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._given = {
            option: str(value).lower() if isinstance(value, bool) else str(value)
            for option, value in options.items()
            if value is not None
        }
        self._values = {option.lower(): value for option, value in self._given.items()}

    def get(self, *names: str) -> str | None:
        """The value of the first of these options that is set."""
        return next((self._values[n.lower()] for n in names if n.lower() in self._values), None)

    def is_on(self, option: str, *, default: bool = False) -> bool:
        value = self.get(option)
        return default if value is None else value.lower() == "true"

    def but(self, more: Mapping[str, Any]) -> Options:
        """The same options with some replaced or added."""
        changed = {option.lower() for option in more}
        unchanged = {
            option: v for option, v in self._given.items() if option.lower() not in changed
        }
        return Options({**unchanged, **more})

    def for_spark(self, storage: Storage) -> dict[str, str]:
        """Names and values for Spark; s3:// addresses are resolved to real ones."""
        return {
            option: spark_address(storage, value) if value.startswith("s3://") else value
            for option, value in self._given.items()
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Files of one source, all in one format."""

    spark: SparkSession
    source: Source
    storage: Storage
    format: str
    options: Options
    #: The files that are not empty.
    files: tuple[ListedFile, ...]

    @classmethod
    def of(
        cls, spark: SparkSession, source: Source, files: Sequence[ListedFile], storage: Storage
    ) -> Reading:
        """The reading of files by the format and options of their source."""
        file_format = format_of(source, files)
        full = tuple(file for file in files if file.size > 0)
        if FORMATS.get(file_format).refuses_empty_files and len(full) < len(files):
            empty = next(file for file in files if file.size == 0)
            raise FileTruncated(file=empty.path, cause="it has no bytes at all.")
        return cls(
            spark=spark,
            source=source,
            storage=storage,
            format=file_format,
            options=Options(source.options),
            files=full,
        )

    def reader(self, **more: Any) -> DataFrameReader:
        """Spark's reader with the source's options; `more` overrides them."""
        return self.spark.read.options(**self.options.but(more).for_spark(self.storage))

    @property
    def fails_fast(self) -> bool:
        """Whether a malformed record stops the stage; otherwise it is quarantined."""
        return (self.options.get("mode") or "").upper() == "FAILFAST"

    def partitions(self, rows: DataFrame, columns: Iterable[str]) -> list[Column]:
        """Partition columns, which come from folder names if `basePath` is set."""
        from pyspark.sql import functions as F

        inside = {*columns, CORRUPT}
        return [F.col(name(column)) for column in rows.columns if column not in inside]

    def addresses(self, files: Iterable[ListedFile] | None = None) -> list[str]:
        """The real addresses of files, escaped for Spark."""
        selection = self.files if files is None else files
        # Spark takes a name with [ or * for a pattern. Its option against that
        # (__globPaths__) reads all files once more for each such name.
        return [_escaped(spark_address(self.storage, file.path)) for file in selection]


def _escaped(address: str) -> str:
    """The address with characters escaped that Hadoop would take for a pattern."""
    scheme, _, path = address.rpartition("://")
    is_local = scheme in ("", "file")
    if ":" in path.removeprefix("file:") and (is_local or _PATTERN.search(path)):
        # Hadoop takes the text before the colon for a URI scheme, when the name has an escaped
        # character and when it looks for the checksum of a local file.
        folder, _, last = address.rpartition("/")
        problem = "with a colon, which Hadoop cannot open there"
        raise FileNameUnreadable(location=folder, name=unquote(last), problem=problem)
    return _PATTERN.sub(r"\\\g<0>", address)


def format_of(source: Source, files: Sequence[ListedFile]) -> str:
    """The format in the source's row, else the one that all file extensions mean."""
    formats = {_format_of_file(source, file) for file in files}
    if source.file_format is not None:
        return _declared_format(source)
    if len(formats) == 1:
        return formats.pop()
    reason = (
        f"their names end differently ({', '.join(sorted(formats))})."
        if formats
        else "there are no files to tell it by."
    )
    raise FormatUnknown(source=source.source_id, reason=reason)


def _declared_format(source: Source) -> str:
    file_format = str(source.file_format).lower()
    if file_format not in FORMATS:
        meant = nearest(file_format, FORMATS.names())
        meant = f" Did you mean {meant}?" if meant else ""
        reason = f"file_format is '{source.file_format}'.{meant}"
        raise FormatUnknown(source=source.source_id, reason=reason)
    return file_format


def _format_of_file(source: Source, file: ListedFile) -> str:
    last = file.path.rsplit("/", 1)[-1].lower()
    ending = last.rpartition(".")[2] if "." in last else ""
    if ending in _NOT_OPENED:
        reason = f"Spark cannot open {ending} ({file.path}). It can {', '.join(COMPRESSED)}."
        raise FormatUnknown(source=source.source_id, reason=reason)
    if source.file_format is not None:
        return _declared_format(source)
    if ending in COMPRESSED:
        ending = last.removesuffix(f".{ending}").rpartition(".")[2]
    if ending not in _endings():
        reason = f"the name of {file.path} does not end in one."
        raise FormatUnknown(source=source.source_id, reason=reason)
    return _endings()[ending]


@cache
def _endings() -> Mapping[str, str]:
    """The format of each file ending: a format's name, or another ending that it declares."""
    return {ending: name for name, known in FORMATS.all() for ending in (name, *known.endings)}


def compression_of(file: ListedFile) -> str | None:
    """The compression of a file, by its extension."""
    ending = file.path.rpartition(".")[2].lower()
    return ending if ending in COMPRESSED else None
