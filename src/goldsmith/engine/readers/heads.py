"""The beginnings of files, looked at without Spark: a header, the shape of JSON, Avro's schema.

Spark takes the header of one CSV file for the header of all and puts values into columns by
position; it reads one JSON value of a file or line and is silent about the rest; it takes the
schema of one Avro file for that of all. A look at each file's beginning finds those out.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

from goldsmith.engine.readers.errors import FileTruncated, FileUnreadable, FileVanished
from goldsmith.engine.readers.reading import Reading, compression_of
from goldsmith.planning.files import FileSeen, SourceUnreachable
from goldsmith.planning.places import Places

Found = TypeVar("Found")
_LONGEST_LINE = 1 << 20
_JSON = json.JSONDecoder()
#: Looks at this many files at once where each is a request to a server.
_AT_ONCE = 16


class JsonShape(StrEnum):
    """How the records of a JSON file are laid out."""

    #: A record a line.
    LINES = "lines"
    #: One value in the whole file.
    DOCUMENT = "document"


@lru_cache(maxsize=8192)
def _first_record(
    places: Places, file: FileSeen, delimiter: Delimiter, encoding: str
) -> tuple[str, ...] | None:
    with _text(file, places, encoding) as stream:
        return delimiter.first_record(stream)


class Delimiter:
    """How lines are cut into values, as the options of a reading say."""

    def __init__(self, reading: Reading) -> None:
        options = reading.options
        self._sep = _unescaped(options.get("sep", "delimiter") or self._usual(reading))
        self._quote = '"' if (said := options.get("quote")) is None else said
        self._escape = options.get("escape") or "\\"
        self._comment = options.get("comment")
        self._line_sep = options.get("lineSep")
        self._over_lines = options.is_on("multiLine")
        self._strip = (
            options.is_on("ignoreLeadingWhiteSpace"),
            options.is_on("ignoreTrailingWhiteSpace"),
        )

    @staticmethod
    def _usual(reading: Reading) -> str:
        return "\t" if reading.format == "tsv" else ","

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
        # Python's reader takes one character; this one is in no text.
        cut = "\x1f" if len(self._sep) > 1 else self._sep

        def lines() -> Iterator[str]:
            yield line.replace(self._sep, cut)
            yield from (more.replace(self._sep, cut) for more in following)

        has_quote = len(self._quote) == 1 and self._quote != "\0"
        said: dict[str, Any] = {"delimiter": cut, "escapechar": self._escape[0]}
        if has_quote:
            said |= {"quotechar": self._quote}
        else:
            said |= {"quoting": csv.QUOTE_NONE}
        return next(csv.reader(lines(), **said), [])

    def _stripped(self, value: str) -> str:
        value = value.lstrip() if self._strip[0] else value
        return value.rstrip() if self._strip[1] else value


def first_records(reading: Reading) -> list[tuple[str, ...] | None]:
    """The values of the first record of every file; None where there is none."""
    delimiter = Delimiter(reading)
    encoding = encoding_of(reading)

    def look(file: FileSeen) -> tuple[str, ...] | None:
        if _opens(file):
            try:
                return _first_record(reading.places, file, delimiter, encoding)
            except csv.Error as error:
                raise FileUnreadable(file=file.path, cause=f"its first line: {error}") from error
        return delimiter.first_record(_by_spark(reading, file))

    return _each(reading, look)


def json_shapes(reading: Reading) -> list[JsonShape]:
    """How the records of every file are laid out."""
    said = reading.options.get("multiLine")
    if said is not None and said.lower() == "true":
        return [JsonShape.DOCUMENT for _ in reading.files]
    if said is not None or reading.format == "jsonl":
        return [JsonShape.LINES for _ in reading.files]
    encoding, line_sep = encoding_of(reading), reading.options.get("lineSep")

    def look(file: FileSeen) -> JsonShape:
        if _opens(file):
            return _json_shape(reading.places, file, encoding, line_sep)
        return _shape_of(_by_spark(reading, file), None)

    return _each(reading, look)


@lru_cache(maxsize=8192)
def _json_shape(places: Places, file: FileSeen, encoding: str, line_sep: str | None) -> JsonShape:
    with _text(file, places, encoding) as stream:
        return _shape_of(stream, line_sep)


def _shape_of(stream: io.TextIOBase, line_sep: str | None) -> JsonShape:
    lines = (line.strip() for line in _lines(stream, line_sep))
    line = next((line for line in lines if line), "")
    if len(line) >= _LONGEST_LINE:
        # Whatever it is, lines that hold no value are found to be malformed, not passed over.
        return JsonShape.LINES
    try:
        _JSON.raw_decode(line)
    except ValueError:
        return JsonShape.DOCUMENT
    return JsonShape.LINES


def avro_schemas(reading: Reading) -> list[str]:
    """The schema every Avro file carries, as its text."""
    return _each(reading, lambda file: _avro_schema(reading.places, file))


@lru_cache(maxsize=1024)
def _avro_schema(places: Places, file: FileSeen) -> str:
    with _opened(file, places) as stream:
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
    """A whole number as Avro writes it: zigzag, seven bits a byte."""
    value = shift = 0
    while True:
        byte = stream.read(1)
        if not byte:
            raise EOFError("its header is cut off")
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)
        shift += 7


def encoding_of(reading: Reading) -> str:
    """The encoding of text, by Python's name."""
    said = reading.options.get("encoding", "charset") or "utf-8"
    try:
        return codecs.lookup(said).name
    except LookupError:
        return "latin-1"  # a name only Java knows; the beginnings of lines are ASCII


def _each(reading: Reading, look: Callable[[FileSeen], Found]) -> list[Found]:
    files: Sequence[FileSeen] = reading.files
    far = len(files) > 1 and reading.places.address(files[0].path).startswith("s3://")
    if not far:
        return [look(file) for file in files]
    with ThreadPoolExecutor(min(_AT_ONCE, len(files))) as pool:
        return list(pool.map(look, files))


def _opens(file: FileSeen) -> bool:
    return compression_of(file) in (None, "gz", "bz2", "zst")


@contextmanager
def _text(file: FileSeen, places: Places, encoding: str) -> Iterator[io.TextIOBase]:
    with _opened(file, places) as stream:
        yield io.TextIOWrapper(stream, encoding=encoding, errors="replace")


@contextmanager
def _opened(file: FileSeen, places: Places) -> Iterator[Any]:
    """A file's bytes, decompressed; what goes wrong is an error about this file."""
    try:
        with _raw(file, places) as raw:
            yield _decompressed(raw, compression_of(file))
    except FileNotFoundError as error:
        raise FileVanished(file=file.path) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileTruncated(file=file.path, cause=f"{error}.") from error
    except OSError as error:
        cause = error.strerror or str(error)
        # bz2 and zstd have no errors of their own.
        kind = FileUnreadable if error.errno else FileTruncated
        raise kind(file=file.path, cause=f"{cause}.") from error


@contextmanager
def _raw(file: FileSeen, places: Places) -> Iterator[Any]:
    real = places.address(file.path)
    if not real.startswith("s3://"):
        with open(real, "rb") as stream:
            yield stream
        return
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = real.removeprefix("s3://").partition("/")
    try:
        body = places.s3().get_object(Bucket=bucket, Key=key)["Body"]
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
            raise FileVanished(file=file.path) from error
        raise SourceUnreachable(location=file.path, cause=str(error)) from error
    except BotoCoreError as error:
        raise SourceUnreachable(location=file.path, cause=str(error)) from error
    try:
        yield io.BufferedReader(body)
    finally:
        body.close()  # the rest of the file is never sent


def _decompressed(raw: Any, compression: str | None) -> Any:
    if compression == "gz":
        return gzip.GzipFile(fileobj=raw)
    if compression == "bz2":
        return bz2.BZ2File(raw)
    if compression == "zst":
        import pyarrow as pa

        return io.BufferedReader(pa.CompressedInputStream(raw, "zstd"))
    return raw


def _by_spark(reading: Reading, file: FileSeen) -> io.TextIOBase:
    """The first lines of a file whose compression only Hadoop knows."""
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
            # Whoever separates lines differently has few line breaks: a long look is needed.
            yield from (line + stream.read(_LONGEST_LINE)).split(line_sep)


def _unescaped(sep: str) -> str:
    r"""A separator that was written as two characters, `\t`, as the one it means."""
    return codecs.decode(sep, "unicode_escape") if sep.startswith("\\") and len(sep) > 1 else sep
