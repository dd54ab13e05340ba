"""Read the beginning of files without Spark: csv headers, JSON layouts, Avro schemas.

Spark uses the header of one CSV file for all files and matches columns by position; it reads one
JSON value of a file or line and silently ignores the rest; it uses the schema of one Avro file for
all. Reading the beginning of each file detects files that differ.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

from goldsmith.engine.read.errors import (
    EncodingUnsupported,
    FileTruncated,
    FileUnreadable,
    FileVanished,
    SeparatorUnknown,
)
from goldsmith.engine.read.reading import Reading, compression_of
from goldsmith.storage.files import ListedFile, SourceUnreachable
from goldsmith.storage.storage import Storage

Found = TypeVar("Found")
_LONGEST_LINE = 1 << 20
_JSON = json.JSONDecoder()
#: Encodings whose line breaks are not one byte.
WIDE = ("utf-16", "utf-32")
#: Characters that end values and records; every other encoding must have them as in ASCII.
_MARKS = '\n\r,;|\t"'
#: Characters that decoding leaves where bytes were not text.
_NO_TEXT = re.compile("[\0\ufffd]")
#: Number of files opened in parallel if each is a request to a server.
_AT_ONCE = 16


class JsonShape(StrEnum):
    """How the records of a JSON file are laid out."""

    #: One record per line.
    LINES = "lines"
    #: One value in the whole file.
    DOCUMENT = "document"


@lru_cache(maxsize=8192)
def _first_record(
    storage: Storage, file: ListedFile, delimiter: Delimiter, encoding: str
) -> tuple[str, ...] | None:
    with _text(file, storage, encoding) as stream:
        return delimiter.first_record(stream)


class Delimiter:
    """Splits lines into values by the options of a reading."""

    def __init__(self, reading: Reading) -> None:
        options = reading.options
        self._sep = separator_of(reading)
        self._quote = quote_of(reading)
        #: None: a quote within quotes is doubled.
        self._escape = None if is_rfc_4180(reading) else options.get("escape") or "\\"
        self._comment = options.get("comment")
        self._line_sep = options.get("lineSep")
        self._over_lines = options.is_on("multiLine") or self._escape is None
        self._strip = (
            options.is_on("ignoreLeadingWhiteSpace"),
            options.is_on("ignoreTrailingWhiteSpace"),
        )

    def _key(self) -> tuple[Any, ...]:
        lines = self._comment, self._line_sep, self._over_lines
        return self._sep, self._quote, self._escape, self._strip, *lines

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Delimiter) and self._key() == other._key()

    def first_record(self, stream: io.TextIOBase) -> tuple[str, ...] | None:
        """The values of the first line that is neither empty nor a comment."""
        lines = _lines(stream, self._line_sep)
        for line in lines:
            if line.strip() and not (self._comment and line.startswith(self._comment)):
                following = lines if self._over_lines else iter(())
                return tuple(self._stripped(value) for value in self._split(line, following))
        return None

    def _split(self, line: str, following: Iterator[str]) -> list[str]:
        # Python's reader allows one character; text does not contain this one.
        cut = "\x1f" if len(self._sep) > 1 else self._sep

        def lines() -> Iterator[str]:
            yield line.replace(self._sep, cut)
            yield from (more.replace(self._sep, cut) for more in following)

        csv_options: dict[str, Any] = {"delimiter": cut, "strict": self._escape is None}
        if self._escape is not None:
            csv_options |= {"escapechar": self._escape[0]}
        if len(self._quote) == 1:
            csv_options |= {"quotechar": self._quote}
        else:
            csv_options |= {"quoting": csv.QUOTE_NONE}
        return next(csv.reader(lines(), **csv_options), [])

    def _stripped(self, value: str) -> str:
        value = value.lstrip() if self._strip[0] else value
        return value.rstrip() if self._strip[1] else value


#: Options that leave the rules of quotes to Spark.
_SPARKS_OWN = ("unescapedQuoteHandling", "charToEscapeQuoteEscaping", "lineSep")


def is_rfc_4180(reading: Reading) -> bool:
    """Whether quotes are doubled and may enclose line breaks: no option sets another rule."""
    options = reading.options
    if any(options.get(option) is not None for option in _SPARKS_OWN):
        return False
    if not options.is_on("multiLine", default=True):
        return False
    escape = options.get("escape")
    return escape is None or escape == quote_of(reading)


def quote_of(reading: Reading) -> str:
    """The quote character; empty if values are not quoted."""
    option = reading.options.get("quote")
    quote = '"' if option is None else option
    return "" if quote == "\0" else quote


def separator_of(reading: Reading) -> str:
    """The text between values."""
    usual = "\t" if reading.format == "tsv" else ","
    option = reading.options.get("sep", "delimiter") or usual
    try:
        return unescaped(option)
    except UnicodeDecodeError as error:
        raise SeparatorUnknown(source=reading.source.source_id, separator=option) from error


def first_records(reading: Reading) -> list[tuple[str, ...] | None]:
    """The values of each file's first record; None for a file without records."""
    delimiter = Delimiter(reading)
    encoding = encoding_of(reading)

    def look(file: ListedFile) -> tuple[str, ...] | None:
        if not opens(file):
            return delimiter.first_record(_by_spark(reading, file))
        try:
            found = _first_record(reading.storage, file, delimiter, encoding)
        except csv.Error as error:
            raise FileUnreadable(file=file.path, cause=f"its first line: {error}") from error
        if has_header(reading) and any(_NO_TEXT.search(value) for value in found or ()):
            cause = f"its first line is not text in {encoding}; see options.encoding"
            raise FileUnreadable(file=file.path, cause=cause)
        return found

    return each(reading, look)


def json_shapes(reading: Reading) -> list[JsonShape]:
    """How the records of every file are laid out."""
    multi_line = reading.options.get("multiLine")
    if multi_line is not None and multi_line.lower() == "true":
        return [JsonShape.DOCUMENT for _ in reading.files]
    if multi_line is not None or reading.format == "jsonl":
        return [JsonShape.LINES for _ in reading.files]
    encoding, line_sep = encoding_of(reading), reading.options.get("lineSep")

    def look(file: ListedFile) -> JsonShape:
        if opens(file):
            return _json_shape(reading.storage, file, encoding, line_sep)
        return _shape_of(_by_spark(reading, file), None)

    return each(reading, look)


@lru_cache(maxsize=8192)
def _json_shape(
    storage: Storage, file: ListedFile, encoding: str, line_sep: str | None
) -> JsonShape:
    with _text(file, storage, encoding) as stream:
        return _shape_of(stream, line_sep)


def _shape_of(stream: io.TextIOBase, line_sep: str | None) -> JsonShape:
    lines = (line.strip() for line in _lines(stream, line_sep))
    line = next((line for line in lines if line), "")
    if len(line) >= _LONGEST_LINE:
        # If that is wrong, lines that are not a JSON value become malformed records, not lost.
        return JsonShape.LINES
    try:
        _JSON.raw_decode(line)
    except ValueError:
        return JsonShape.DOCUMENT
    return JsonShape.LINES


def avro_schemas(reading: Reading) -> list[str]:
    """The schema text in the header of every Avro file."""
    return each(reading, lambda file: avro_schema_of(reading, file))


def avro_schema_of(reading: Reading, file: ListedFile) -> str:
    """The schema text in the header of an Avro file."""
    return _avro_schema(reading.storage, file)


@lru_cache(maxsize=1024)
def _avro_schema(storage: Storage, file: ListedFile) -> str:
    with opened(file, storage) as stream:
        if stream.read(4) != b"Obj\x01":
            raise FileTruncated(file=file.path, cause="it does not begin as an Avro file does.")
        while count := _number(stream):
            if count < 0:
                _number(stream)  # the size of the block
            for _ in range(abs(count)):
                key, value = (stream.read(_number(stream)) for _ in range(2))
                if key == b"avro.schema":
                    return str(value, "utf-8")
    raise FileTruncated(file=file.path, cause="its header has no schema.")


def _number(stream: io.BufferedIOBase) -> int:
    """Read an integer as Avro writes it: zigzag, seven bits per byte."""
    value = shift = 0
    while True:
        byte = stream.read(1)
        if not byte:
            raise EOFError("its header is cut off")
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)
        shift += 7


def has_header(reading: Reading) -> bool:
    """Whether the first line of every csv file names its columns."""
    return reading.options.is_on("header", default=True)


def encoding_of(reading: Reading) -> str:
    """The encoding of text, by Python's name."""
    encoding = reading.options.get("encoding", "charset") or "utf-8"
    try:
        found = codecs.lookup(encoding).name
    except LookupError as error:
        raise EncodingUnsupported(
            source=reading.source.source_id, encoding=encoding, reason="no encoding has this name"
        ) from error
    if not found.startswith(WIDE) and _MARKS.encode(found) != _MARKS.encode("ascii"):
        reason = "line breaks and separators are other bytes in it than in ASCII"
        raise EncodingUnsupported(source=reading.source.source_id, encoding=encoding, reason=reason)
    return found


def each(
    reading: Reading, look: Callable[[ListedFile], Found], some: Sequence[ListedFile] | None = None
) -> list[Found]:
    """The results of `look` for these files, else for all files; in parallel on s3://."""
    files: Sequence[ListedFile] = reading.files if some is None else some
    far = len(files) > 1 and reading.storage.address(files[0].path).startswith("s3://")
    if not far:
        return [look(file) for file in files]
    with ThreadPoolExecutor(min(_AT_ONCE, len(files))) as pool:
        return list(pool.map(look, files))


def opens(file: ListedFile) -> bool:
    """Whether the file can be decompressed without Hadoop."""
    return compression_of(file) in (None, "gz", "bz2", "zst")


@contextmanager
def _text(file: ListedFile, storage: Storage, encoding: str) -> Iterator[io.TextIOBase]:
    with opened(file, storage) as stream:
        yield io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")


@contextmanager
def opened(file: ListedFile, storage: Storage) -> Iterator[Any]:
    """Open a file's decompressed bytes; errors inside become errors about this file."""
    try:
        with _raw(file, storage) as raw:
            yield _decompressed(raw, compression_of(file))
    except FileNotFoundError as error:
        raise FileVanished(file=file.path) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileTruncated(file=file.path, cause=f"{error}.") from error
    except OSError as error:
        cause = error.strerror or str(error)
        # bz2 and zstd report damage as a plain OSError without an errno.
        kind = FileUnreadable if error.errno else FileTruncated
        raise kind(file=file.path, cause=f"{cause}.") from error


@contextmanager
def _raw(file: ListedFile, storage: Storage) -> Iterator[Any]:
    real = storage.address(file.path)
    if not real.startswith("s3://"):
        with open(real, "rb") as stream:
            yield stream
        return
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = real.removeprefix("s3://").partition("/")
    try:
        body = storage.s3().get_object(Bucket=bucket, Key=key)["Body"]
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
            raise FileVanished(file=file.path) from error
        raise SourceUnreachable(location=file.path, cause=str(error)) from error
    except BotoCoreError as error:
        raise SourceUnreachable(location=file.path, cause=str(error)) from error
    try:
        yield io.BufferedReader(body)
    finally:
        body.close()  # so the rest of the file is not transferred


def _decompressed(raw: Any, compression: str | None) -> Any:
    if compression == "gz":
        return gzip.GzipFile(fileobj=raw)
    if compression == "bz2":
        return bz2.BZ2File(raw)
    if compression == "zst":
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(raw, "zstd"))
    return raw


def _by_spark(reading: Reading, file: ListedFile) -> io.TextIOBase:
    """The first lines of a file that only Hadoop can decompress."""
    rows = reading.reader().text(reading.addresses([file])).head(100)
    return io.StringIO("\n".join(row[0] for row in rows))


def _lines(stream: io.TextIOBase, line_sep: str | None) -> Iterator[str]:
    first = True
    while line := stream.readline(_LONGEST_LINE):
        if first:
            line, first = line.removeprefix("\ufeff"), False
        if line_sep is None or line_sep in ("\n", "\r\n", "\r"):
            yield line
        else:
            # With another line separator, line breaks are rare: read a large block.
            yield from (line + stream.read(_LONGEST_LINE)).split(line_sep)


def unescaped(sep: str) -> str:
    r"""The separator with escapes like `\t` decoded."""
    return codecs.decode(sep, "unicode_escape") if sep.startswith("\\") and len(sep) > 1 else sep
