"""Errors of reading files, and the translation of Spark's exceptions into them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from goldsmith.catalog.datasets import FILE_FORMATS
from goldsmith.errors import GoldsmithError
from goldsmith.storage.files import ListedFile, SourceUnreachable


@dataclass(eq=False, kw_only=True)
class FileVanished(GoldsmithError):
    """A file was listed but is gone when it is read."""

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
    """A file is incomplete or damaged, as after a partial upload."""

    # A writer that is still uploading it may be done by the next attempt.
    transient = True
    exit_code = 1

    file: str
    cause: str
    #: Spark did not name the file: it is this one or one listed after it.
    is_guess: bool = False

    def __str__(self) -> str:
        return f"The file {_file(self)} is cut off or damaged: {self.cause}"

    @property
    def hint(self) -> str:
        return "Upload it again, or take it away. Nothing was published, and no file was lost."


@dataclass(eq=False, kw_only=True)
class FileUnreadable(GoldsmithError):
    """Spark cannot read a file because of its content."""

    exit_code = 1

    file: str
    cause: str
    #: Spark did not name the file: it is this one or one listed after it.
    is_guess: bool = False

    def __str__(self) -> str:
        return f"The file {_file(self)} cannot be read: {self.cause}"

    @property
    def hint(self) -> str:
        return "Check that the source's file_format and options are those of the file."


@dataclass(eq=False, kw_only=True)
class RecordMalformed(GoldsmithError):
    """A record cannot be parsed, and the source's mode is FAILFAST."""

    exit_code = 1

    file: str
    reason: str
    text: str

    def __str__(self) -> str:
        return f"A record of {self.file} cannot be parsed, for {self.reason}: {self.text[:200]}"

    @property
    def hint(self) -> str:
        return "Correct it. Without options.mode such records are quarantined, the others loaded."


@dataclass(eq=False, kw_only=True)
class EncodingUnsupported(GoldsmithError):
    """A source's encoding is unknown, or its files cannot be read in it."""

    exit_code = 1

    source: str
    encoding: str
    reason: str

    def __str__(self) -> str:
        return (
            f"The encoding '{self.encoding}' of source '{self.source}' cannot be read:"
            f" {self.reason}."
        )

    @property
    def hint(self) -> str:
        return "Set options.encoding to the encoding of the files (UTF-8, ISO-8859-1, UTF-16 …)."


@dataclass(eq=False, kw_only=True)
class SeparatorUnknown(GoldsmithError):
    """A source's separator is an escape sequence that cannot be decoded."""

    exit_code = 1

    source: str
    separator: str

    def __str__(self) -> str:
        return f"The separator '{self.separator}' of source '{self.source}' is no text."

    @property
    def hint(self) -> str:
        return r"Set options.sep to the characters themselves, or to an escape as \t or \u0001."


@dataclass(eq=False, kw_only=True)
class FileDoesNotFit(GoldsmithError):
    """A file has a column whose type cannot be read as the type in the schema."""

    exit_code = 1

    file: str
    cause: str
    #: Spark did not name the file: it is this one or one listed after it.
    is_guess: bool = False

    advice: str = ""

    def __str__(self) -> str:
        return f"The file {_file(self)} does not fit the schema: {self.cause}"

    @property
    def hint(self) -> str:
        return (
            self.advice or "Declare the column in the file's type and cast it in the stage's SQL."
        )


@dataclass(eq=False, kw_only=True)
class FilesDisagree(GoldsmithError):
    """Files of a source have the same column in types that no common type can hold."""

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
    """The format of a source's files is not declared, not recognised or not supported."""

    source: str
    reason: str

    def __str__(self) -> str:
        return f"The format of the files of '{self.source}' is not known: {self.reason}"

    @property
    def hint(self) -> str:
        return f"Set file_format on the source. It may be {', '.join(FILE_FORMATS)}."


@dataclass(eq=False, kw_only=True)
class BadSchema(GoldsmithError):
    """A schema cannot be parsed, or does not match the files."""

    #: Where the schema comes from: `declared_schema of source 'orders'`.
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
    """Files have several columns with the same name; case is ignored."""

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
    """The AWS Glue service that stores a schema does not answer."""

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


def _file(error: FileTruncated | FileUnreadable | FileDoesNotFit) -> str:
    return f"{error.file} (or one listed after it)" if error.is_guess else error.file


#: Prefix of a malformed record's JSON in the message of Spark's error.
RAISED = "goldsmith_malformed_record"
_GONE = ("PATH_NOT_FOUND", "FILE_NOT_EXIST", "FileNotFoundException", "NoSuchKey")
_AWAY = (
    *("SdkClientException", "UnknownHostException", "ConnectException", "SocketTimeoutException"),
    *("AccessDenied", "Forbidden", "NoSuchBucket", "InvalidAccessKeyId", "ExpiredToken"),
)
_MISFIT = (
    *("PARQUET_COLUMN_DATA_TYPE_MISMATCH", "SchemaColumnConvertNotSupportedException"),
    "IncompatibleSchemaException",
)
#: Types of Parquet files that Spark does not have: TIME, FLOAT16, a DECIMAL of 50 digits …
_NO_TYPE = re.compile(
    r"\[(?:PARQUET_TYPE_(?:ILLEGAL|NOT_SUPPORTED|NOT_RECOGNIZED)|UNSUPPORTED_TIME_TYPE"
    r"|DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION)\]\s*(.*?)\s*(?:SQLSTATE|\n|$)",
    re.DOTALL,
)
_TOO_LONG = re.compile(
    r"exceeds the maximum number of (?:characters|columns) defined|maxCharsPerColumn", re.IGNORECASE
)
_DAMAGED = (
    *("is not a Parquet file", "CANNOT_READ_FILE_FOOTER", "Malformed ORC file", "EOFException"),
    *("InvalidProtocolBufferException", "InvalidAvroMagicException", "Invalid sync!"),
    *("Unexpected end of input stream", "unexpected end of stream", "not a gzip file"),
    *("ZipException", "ZstdIOException", "ChecksumException", "incorrect header check"),
    *("invalid stored block lengths", "invalid block type", "bad block header", "crc error"),
    # Invalid bzip2, snappy or lz4 data, and an Avro file cut inside its header.
    *("SnappyError", "LZ4Exception", "BZip2", "java.lang.NullPointerException"),
)
_CAUSED_BY = re.compile(r"Caused by: ([\w.$]+)(?:: (.+))?")
_DUPLICATE = re.compile(r"Found duplicate field\(s\) [^\n]*?: \[([^\]]*)\]")
_READING = ("FAILED_READ_FILE", "PATH_NOT_FOUND", "Could not read file", "org.apache.orc")


def as_reading_error(error: Exception, files: Sequence[ListedFile]) -> GoldsmithError | None:
    """The Goldsmith error for an exception about one of these files; None for others."""
    if isinstance(error, GoldsmithError):
        return error
    if (malformed := _raised(str(error))) is not None:
        return malformed
    text = f"{error}\n{getattr(error, '_stackTrace', None) or ''}"
    file, is_guess = _named_in(text, files)
    if (known := _too_long(text, file, is_guess, files)) is not None:
        return known
    if file is None and "org.apache.orc" in text and files:
        # While inferring from ORC files, Spark does not name the broken one.
        file, is_guess = files[0].path, len(files) > 1
    if file is None or not any(phrase in text for phrase in _READING):
        return None
    cause = _cause(text)
    if found := _DUPLICATE.search(text):
        return DuplicateColumns(place=f"The file {file}", columns=tuple(found[1].split(", ")))
    if any(phrase in text for phrase in _GONE):
        return FileVanished(file=file)
    if any(phrase in text for phrase in _AWAY):
        return SourceUnreachable(location=file, cause=cause)
    if any(phrase in text for phrase in _MISFIT):
        return FileDoesNotFit(file=file, cause=cause, is_guess=is_guess)
    if any(phrase in text for phrase in _DAMAGED):
        return FileTruncated(file=file, cause=cause, is_guess=is_guess)
    return FileUnreadable(file=file, cause=cause, is_guess=is_guess)


def type_unknown(error: Exception, files: Sequence[ListedFile]) -> FileDoesNotFit | None:
    """The error for a type in files that Spark does not support, found during inference."""
    found = _NO_TYPE.search(str(error))
    if found is None or not files:
        return None
    file, is_guess = _named_in(str(error), files)
    if file is None:
        file, is_guess = files[0].path, len(files) > 1
    advice = (
        "Write the column in another type (TIME as a TIMESTAMP or BIGINT, FLOAT16 as FLOAT, "
        "a DECIMAL with at most 38 digits), or declare a schema without it."
    )
    return FileDoesNotFit(file=file, cause=found[1], is_guess=is_guess, advice=advice)


def _too_long(
    text: str, file: str | None, is_guess: bool, files: Sequence[ListedFile]
) -> FileUnreadable | None:
    """The error for a limit of the csv reader; Spark does not name the file."""
    if not files or not _TOO_LONG.search(text):
        return None
    cause = (
        "a value is longer than options.maxCharsPerColumn, or a line has more columns than "
        "options.maxColumns. Raise the option, or take it away."
    )
    guess = files[0].path if file is None else file
    is_guess = is_guess if file is not None else len(files) > 1
    return FileUnreadable(file=guess, cause=cause, is_guess=is_guess)


def _raised(text: str) -> RecordMalformed | None:
    """The malformed record in the error of a FAILFAST read."""
    _, found, payload = text.partition(f"{RAISED} ")
    if not found:
        return None
    try:
        values, _ = json.JSONDecoder().raw_decode(payload)
    except ValueError:
        return None  # Spark truncated the message
    return RecordMalformed(
        file=values["file"], reason=values.get("reason", ""), text=values.get("text", "")
    )


def _named_in(text: str, files: Sequence[ListedFile]) -> tuple[str | None, bool]:
    """The file that an error names, and whether another file of the same name may be meant.

    Spark names the real address, URL-encoded.
    """
    searched = text + unquote(text)
    for tail in (_without_scheme, _last_part):
        named = [file.path for file in files if tail(file.path) in searched]
        if named:
            longest = max(named, key=len)
            return longest, sum(tail(path) == tail(longest) for path in named) > 1
    return None, False


def _without_scheme(path: str) -> str:
    return path.partition("://")[2] or path


def _last_part(path: str) -> str:
    return "/" + path.rsplit("/", 1)[-1]


def _cause(text: str) -> str:
    """The message of the innermost Java exception, else its class name."""
    innermost: list[tuple[str, str]] = _CAUSED_BY.findall(text)[-1:]
    for kind, message in innermost:
        return message.strip() or kind.rsplit(".", 1)[-1]
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first[:300]
