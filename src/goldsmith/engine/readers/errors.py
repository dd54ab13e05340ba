"""What can go wrong while files are read, and Spark's exceptions recognised as one of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from goldsmith.catalog.datasets import FILE_FORMATS
from goldsmith.errors import GoldsmithError
from goldsmith.planning.files import FileSeen, SourceUnreachable


@dataclass(eq=False, kw_only=True)
class FileVanished(GoldsmithError):
    """A file was listed and is gone when it is read."""

    transient = True
    exit_code = 1

    file: str

    def __str__(self) -> str:
        return f"The file {self.file} was there when it was listed and is gone now."

    @property
    def hint(self) -> str:
        return "Nothing was published. The next run lists the files anew and leaves it out."


@dataclass(eq=False, kw_only=True)
class FileTruncated(GoldsmithError):
    """A file ends too early or is damaged: half uploaded, or broken on the way."""

    # Whoever is still writing it may be done by the next attempt.
    transient = True
    exit_code = 1

    file: str
    cause: str

    def __str__(self) -> str:
        return f"The file {self.file} is cut off or damaged: {self.cause}"

    @property
    def hint(self) -> str:
        return "Upload it again, or take it away. Nothing was published, and no file was lost."


@dataclass(eq=False, kw_only=True)
class FileUnreadable(GoldsmithError):
    """Spark cannot read a file, for a reason of the file's own."""

    exit_code = 1

    file: str
    cause: str

    def __str__(self) -> str:
        return f"The file {self.file} cannot be read: {self.cause}"

    @property
    def hint(self) -> str:
        return "Check that the source's file_format and options are those of the file."


@dataclass(eq=False, kw_only=True)
class FileDoesNotFit(GoldsmithError):
    """A file holds a column in a type that cannot be read as the schema's."""

    exit_code = 1

    file: str
    cause: str

    def __str__(self) -> str:
        return f"The file {self.file} does not fit the schema: {self.cause}"

    @property
    def hint(self) -> str:
        return "Declare the column in the file's type and cast it in the stage's SQL."


@dataclass(eq=False, kw_only=True)
class FilesDisagree(GoldsmithError):
    """Two files of a dataset hold one column in types that have nothing in common."""

    exit_code = 1

    source: str
    column: str
    types: tuple[str, ...]

    def __str__(self) -> str:
        listed = " and ".join(self.types)
        return f"The files of '{self.source}' hold the column '{self.column}' as {listed}."

    @property
    def hint(self) -> str:
        return "Make a source of each kind of file, or write the files anew in one type."


@dataclass(eq=False, kw_only=True)
class FormatUnknown(GoldsmithError):
    """Nothing says in which format files are, or it is one nothing here can read."""

    source: str
    reason: str

    def __str__(self) -> str:
        return f"The format of the files of '{self.source}' is not known: {self.reason}"

    @property
    def hint(self) -> str:
        return f"Set file_format on the source. It may be {', '.join(FILE_FORMATS)}."


@dataclass(eq=False, kw_only=True)
class BadSchema(GoldsmithError):
    """A schema was said that means nothing, or that the files cannot have."""

    #: Where it was said: `declared_schema of source 'orders'`.
    place: str
    cause: str
    advice: str = ""

    def __str__(self) -> str:
        return f"The schema in {self.place} cannot be used: {self.cause}"

    @property
    def hint(self) -> str:
        return self.advice or "A schema is written `id BIGINT, name STRING, paid DECIMAL(12, 2)`."


@dataclass(eq=False, kw_only=True)
class DuplicateColumns(GoldsmithError):
    """Files hold several columns of one name; case does not tell columns apart."""

    exit_code = 1

    place: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place} has several columns of one name: {', '.join(self.columns)}."

    @property
    def hint(self) -> str:
        return (
            "Rename them in the file. A name that Goldsmith adds itself (_source_file) is taken; "
            "declare a schema without that column to leave it out."
        )


@dataclass(eq=False, kw_only=True)
class SchemaUnreachable(GoldsmithError):
    """The service that keeps a schema does not answer."""

    transient = True
    exit_code = 1

    arn: str
    cause: str

    def __str__(self) -> str:
        return f"The schema {self.arn} cannot be fetched: {self.cause}"

    @property
    def hint(self) -> str:
        return (
            "It may pass by itself. A file of the schemas folder, named as the ARN ends, is "
            "used without asking anybody."
        )


_GONE = ("PATH_NOT_FOUND", "FILE_NOT_EXIST", "FileNotFoundException", "NoSuchKey")
_AWAY = (
    *("SdkClientException", "UnknownHostException", "ConnectException", "SocketTimeoutException"),
    *("AccessDenied", "Forbidden", "NoSuchBucket", "InvalidAccessKeyId", "ExpiredToken"),
)
_MISFIT = (
    *("PARQUET_COLUMN_DATA_TYPE_MISMATCH", "SchemaColumnConvertNotSupportedException"),
    "IncompatibleSchemaException",
)
_DAMAGED = (
    *("is not a Parquet file", "CANNOT_READ_FILE_FOOTER", "Malformed ORC file", "EOFException"),
    *("InvalidProtocolBufferException", "InvalidAvroMagicException", "Invalid sync!"),
    *("Unexpected end of input stream", "unexpected end of stream", "not a gzip file"),
    *("ZipException", "ZstdIOException", "ChecksumException", "incorrect header check"),
    *("invalid stored block lengths", "invalid block type", "bad block header", "crc error"),
    # A stream of bzip2, snappy or lz4 that is none, and an Avro file cut inside its header.
    *("SnappyError", "LZ4Exception", "BZip2", "java.lang.NullPointerException"),
)
_CAUSED_BY = re.compile(r"Caused by: ([\w.$]+)(?:: (.+))?")
_DUPLICATE = re.compile(r"Found duplicate field\(s\) [^\n]*?: \[([^\]]*)\]")
_READING = ("FAILED_READ_FILE", "PATH_NOT_FOUND", "Could not read file", "org.apache.orc")


def as_reading_error(error: Exception, files: Sequence[FileSeen]) -> GoldsmithError | None:
    """The same error in our words, if it is about one of these files; None if it is not."""
    if isinstance(error, GoldsmithError):
        return error
    text = f"{error}\n{getattr(error, '_stackTrace', None) or ''}"
    file = _named_in(text, files)
    if file is None and "org.apache.orc" in text and files:
        # Inferring from ORC files, Spark does not say which one was broken.
        file = files[0].path if len(files) == 1 else f"{files[0].path} (or one listed after it)"
    if file is None or not any(word in text for word in _READING):
        return None
    cause = _cause(text)
    if found := _DUPLICATE.search(text):
        return DuplicateColumns(place=f"The file {file}", columns=tuple(found[1].split(", ")))
    if any(word in text for word in _GONE):
        return FileVanished(file=file)
    if any(word in text for word in _AWAY):
        return SourceUnreachable(location=file, cause=cause)
    if any(word in text for word in _MISFIT):
        return FileDoesNotFit(file=file, cause=cause)
    if any(word in text for word in _DAMAGED):
        return FileTruncated(file=file, cause=cause)
    return FileUnreadable(file=file, cause=cause)


def _named_in(text: str, files: Sequence[FileSeen]) -> str | None:
    """The file an error speaks of; Spark writes its address in this environment, encoded."""
    said = text + unquote(text)
    for tail in (_without_scheme, _last_part):
        named = [file.path for file in files if tail(file.path) in said]
        if named:
            return max(named, key=len)
    return None


def _without_scheme(path: str) -> str:
    return path.partition("://")[2] or path


def _last_part(path: str) -> str:
    return "/" + path.rsplit("/", 1)[-1]


def _cause(text: str) -> str:
    """The innermost reason, without the names of Java's classes where it has words."""
    innermost: list[tuple[str, str]] = _CAUSED_BY.findall(text)[-1:]
    for kind, message in innermost:
        return message.strip() or kind.rsplit(".", 1)[-1]
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first[:300]
