"""One reading: which files, in which format, with which of Spark's options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.datasets import FILE_FORMATS, Source
from goldsmith.engine.addresses import spark_address
from goldsmith.engine.names import name
from goldsmith.engine.readers.errors import FileTruncated, FormatUnknown
from goldsmith.errors import nearest
from goldsmith.planning.files import FileSeen
from goldsmith.planning.places import Places

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

#: A record that could not be parsed, while it is on its way to the malformed ones.
CORRUPT = "_goldsmith_corrupt"
#: Compression that Hadoop looks through by a file's ending.
COMPRESSED = ("gz", "bz2", "zst", "snappy", "lz4", "deflate")
_NOT_OPENED = ("zip", "7z", "xz", "tar", "tgz", "rar", "br", "lzo", "gzip")
_ENDINGS = {
    **{word: word for word in FILE_FORMATS},
    "ndjson": "jsonl",
    "tab": "tsv",
    "txt": "text",
    "log": "text",
    "pq": "parquet",
}
_PATTERN = re.compile(r"[{}\[\]*?\\]")
#: Formats that always have a header or a footer: a file of no bytes is none of them.
COLUMNAR = ("avro", "orc", "parquet")


class Options:
    """Reader options as a row says them; Spark does not mind the case of their names."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = {
            option: str(value).lower() if isinstance(value, bool) else str(value)
            for option, value in said.items()
            if value is not None
        }
        self._values = {option.lower(): value for option, value in self._said.items()}

    def get(self, *names: str) -> str | None:
        """What the first of these names was given, if any was."""
        return next((self._values[n.lower()] for n in names if n.lower() in self._values), None)

    def is_on(self, option: str, *, default: bool = False) -> bool:
        said = self.get(option)
        return default if said is None else said.lower() == "true"

    def but(self, more: Mapping[str, Any]) -> Options:
        """The same with others in their place."""
        changed = {option.lower() for option in more}
        kept = {option: v for option, v in self._said.items() if option.lower() not in changed}
        return Options({**kept, **more})

    def for_spark(self, places: Places) -> dict[str, str]:
        """Names and values as Spark takes them, addresses of the catalog as real ones."""
        return {
            option: spark_address(places, value) if value.startswith("s3://") else value
            for option, value in self._said.items()
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Files of one source, all in one format."""

    spark: SparkSession
    source: Source
    places: Places
    format: str
    options: Options
    #: Those that hold anything.
    files: tuple[FileSeen, ...]

    @classmethod
    def of(
        cls, spark: SparkSession, source: Source, files: Sequence[FileSeen], places: Places
    ) -> Reading:
        """What a source's row and its files say."""
        word = format_of(source, files)
        full = tuple(file for file in files if file.size > 0)
        if word in COLUMNAR and len(full) < len(files):
            empty = next(file for file in files if file.size == 0)
            raise FileTruncated(file=empty.path, cause="it has no bytes at all.")
        return cls(
            spark=spark,
            source=source,
            places=places,
            format=word,
            options=Options(source.options),
            files=full,
        )

    def reader(self, **more: Any) -> DataFrameReader:
        """Spark's reader with the row's options, and ours in the place of some."""
        return self.spark.read.options(**self.options.but(more).for_spark(self.places))

    @property
    def mode(self) -> str:
        """Malformed records are kept, never dropped; whoever wants to fail at one may."""
        failing = (self.options.get("mode") or "").upper() == "FAILFAST"
        return "FAILFAST" if failing else "PERMISSIVE"

    def partitions(self, rows: DataFrame, columns: Iterable[str]) -> list[Column]:
        """Columns that are in the names of folders only, where `basePath` asks for them."""
        from pyspark.sql import functions as F

        inside = {*columns, CORRUPT}
        return [F.col(name(column)) for column in rows.columns if column not in inside]

    def addresses(self, files: Iterable[FileSeen] | None = None) -> list[str]:
        """Where files really are, as Spark takes it."""
        chosen = self.files if files is None else files
        # A name with [ or * in it is a name, no pattern. Spark's own way to say so
        # (__globPaths__) reads all files once more for each such name.
        return [_PATTERN.sub(r"\\\g<0>", spark_address(self.places, f.path)) for f in chosen]


def format_of(source: Source, files: Sequence[FileSeen]) -> str:
    """The format a row says, else the one all its files end in."""
    words = {_format_of_file(source, file) for file in files}
    if source.file_format is not None:
        return _said(source)
    if len(words) == 1:
        return words.pop()
    reason = (
        f"their names end differently ({', '.join(sorted(words))})."
        if words
        else "there are no files to tell it by."
    )
    raise FormatUnknown(source=source.source_id, reason=reason)


def _said(source: Source) -> str:
    word = str(source.file_format).lower()
    if word not in FILE_FORMATS:
        meant = nearest(word, FILE_FORMATS)
        meant = f" Did you mean {meant}?" if meant else ""
        reason = f"file_format is '{source.file_format}'.{meant}"
        raise FormatUnknown(source=source.source_id, reason=reason)
    return word


def _format_of_file(source: Source, file: FileSeen) -> str:
    last = file.path.rsplit("/", 1)[-1].lower()
    ending = last.rpartition(".")[2] if "." in last else ""
    if ending in _NOT_OPENED:
        reason = f"Spark cannot open {ending} ({file.path}). It can {', '.join(COMPRESSED)}."
        raise FormatUnknown(source=source.source_id, reason=reason)
    if source.file_format is not None:
        return _said(source)
    if ending in COMPRESSED:
        ending = last.removesuffix(f".{ending}").rpartition(".")[2]
    if ending not in _ENDINGS:
        reason = f"the name of {file.path} does not end in one."
        raise FormatUnknown(source=source.source_id, reason=reason)
    return _ENDINGS[ending]


def compression_of(file: FileSeen) -> str | None:
    """How a file is compressed, by its ending."""
    ending = file.path.rpartition(".")[2].lower()
    return ending if ending in COMPRESSED else None
