r"""Scan the quotes of csv files by RFC 4180, to decide how each file is read.

A quoted value may hold separators, line breaks and quotes, which are doubled. Spark's csv reader is
lenient: it splits a value at its line break and guesses at unbalanced quotes. So every file is
scanned first. A file with well-formed quotes that enclose no line break is read by lines, in as
many tasks as Spark likes. A file with quoted line breaks is read by one task. A file with a
misplaced quote is split into records here, and only the affected records are malformed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goldsmith.engine.read.errors import FileUnreadable
from goldsmith.engine.read.file_sniffing import (
    WIDE,
    each,
    encoding_of,
    is_rfc_4180,
    opened,
    opens,
    quote_of,
    separator_of,
)
from goldsmith.engine.read.reading import Reading
from goldsmith.engine.read.source_file import SOURCE_FILE, source_file
from goldsmith.storage.files import ListedFile
from goldsmith.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import Column

_CHUNK = 8 << 20
#: Spark scans files of more bytes than this first, in parallel and near the data.
_LARGE = 256 << 20
#: Size limit of a file with a misplaced quote, which is held in memory as a whole.
_LARGEST_MIXED = 512 << 20
_LF, _CR = 10, 13


class Layout(StrEnum):
    """How a csv file has to be read."""

    #: No quoted line breaks: every line is a record.
    LINES = "lines"
    #: Quoted line breaks, and all quotes well-formed.
    RECORDS = "records"
    #: A misplaced quote, invalid bytes, or line breaks that Spark would change.
    MIXED = "mixed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Quoting:
    """The characters and rules that decide where values and records end."""

    sep: str
    #: Empty if values are not quoted.
    quote: str
    comment: str | None
    encoding: str
    #: Whether white space before and after quotes is ignored.
    spaces: tuple[bool, bool]
    #: Whether a line of only white space is a record.
    blank_is_record: bool = False

    @classmethod
    def of(cls, reading: Reading, columns: int) -> Quoting | None:
        """The rules for files with so many columns; None if the options leave them to Spark."""
        options = reading.options
        if not is_rfc_4180(reading):
            return None
        sep = separator_of(reading)
        return cls(
            sep=sep,
            quote=quote_of(reading),
            comment=options.get("comment") or None,
            encoding=encoding_of(reading),
            spaces=(
                options.is_on("ignoreLeadingWhiteSpace"),
                options.is_on("ignoreTrailingWhiteSpace"),
            ),
            blank_is_record=columns == 1 or not sep.strip(),
        )

    @property
    def record(self) -> str:
        """Java regular expression for one well-formed record; it never backtracks."""
        return self._record(r"\r\n")

    @property
    def with_breaks(self) -> str:
        """As `record`, with line breaks in values without quotes."""
        return self._record("")

    @property
    def ends_by_cr(self) -> str:
        """Java regular expression for a text whose records all end with a carriage return."""
        return f"^(?:[^\\n]*+|(?:{self.record}(?:\\r(?!\\n)|\\z))++)\\z"

    def records(self, *, by_cr: bool) -> str:
        """Java regular expression for the next record of a text, well-formed or malformed.

        Records end with a carriage return alone (`by_cr`), or with a line feed or CRLF. In the
        second case a carriage return alone is part of its record, which is then malformed.
        """
        line = r"[^\r]*+" if by_cr else r"(?:[^\r\n]|\r(?!\n|\z))*+"
        end = r"(?:\r|\z)" if by_cr else r"(?:\r?\n|\r?\z)"
        ways = [f"{self.record}(?={end})"]
        if self.comment:
            ways.insert(0, f"{_escaped(self.comment)}{line}")
        if self.quote:
            q, sep = _escaped(self.quote), _escaped(self.sep)
            # A value that closes on a later line with text after its quote: the lines between may
            # look like records but are not. If that quote opens another value (it follows a
            # separator or line break), the first was never closed: one line is malformed.
            unclosed = f"{self._open}(?<!{sep}|[\\r\\n]){q}"
            values = f"(?:{self._value}{sep})*+"
            ways += [f"{values}{unclosed}{line}", f"{values}{line}"]
        return f"({'|'.join(ways)}|{line}){end}"

    def _record(self, breaks: str) -> str:
        value = self._value_without(breaks)
        return f"{value}(?:{_escaped(self.sep)}{value})*+"

    @property
    def _value(self) -> str:
        return self._value_without(r"\r\n")

    def _value_without(self, breaks: str) -> str:
        """A value; without quotes it has none of the line breaks."""
        sep, q = _escaped(self.sep), _escaped(self.quote)
        # A character class would match any character of a longer separator.
        many = len(self.sep) > 1
        bare = f"[^{sep}{q}{breaks}]*+"
        if many:
            bare = f"(?:(?!{sep})[^{q}{breaks}])*+" if q or breaks else f"(?:(?!{sep})(?s:.))*+"
        if not self.quote:
            return bare
        before, after = (r"[ \t]*+" if ignored else "" for ignored in self.spaces)
        return f"(?:{before}{self._open}{q}{after}(?={sep}|[\\r\\n]|\\z)|{bare})"

    @property
    def _open(self) -> str:
        """A quoted value without its closing quote."""
        q = _escaped(self.quote)
        return f"{q}[^{q}]*+(?:{q}{q}[^{q}]*+)*+"


def layouts(reading: Reading, files: Sequence[ListedFile], quoting: Quoting) -> list[Layout]:
    """The layout of each file."""
    left = set(files)
    by_spark = [file for file in files if not opens(file)]
    if sum(file.size for file in files) > _LARGE:
        by_spark = list(files)
    if by_spark and not quoting.encoding.startswith(WIDE):
        odd = _odd_by_spark(reading, by_spark, quoting)
        left -= {file for file in by_spark if file.path not in odd}

    def look(file: ListedFile) -> Layout:
        if file not in left:
            return Layout.LINES
        return scan(reading.storage, file, quoting) if opens(file) else Layout.MIXED

    return each(reading, look, files)


def _odd_by_spark(reading: Reading, files: Sequence[ListedFile], quoting: Quoting) -> set[str]:
    """The files with a line that is not a record by itself."""
    # Spark's lines would end at a carriage return, too.
    raw = reading.reader(lineSep="\n").format("text").load(reading.addresses(files))
    named = source_file(raw, files, reading.storage)
    found = raw.where(_is_odd_line(quoting)).select(named).distinct().collect()
    return {row[SOURCE_FILE] for row in found}


def _is_odd_line(quoting: Quoting) -> Column:
    from pyspark.sql import functions as F

    value = F.regexp_replace("value", r"\r\z", "")
    is_odd = value.contains("\0") | value.contains("\r")
    if quoting.encoding == "utf-8":
        is_odd |= ~F.is_valid_utf8(value)
    if quoting.quote:
        right = F.lit(False) if quoting.comment else value.rlike(f"^{quoting.record}\\z")
        is_odd |= value.contains(quoting.quote) & ~right
    if quoting.blank_is_record:
        is_odd |= value.rlike(r"^[\x00-\x20]++\z")
    return is_odd


@lru_cache(maxsize=8192)
def scan(storage: Storage, file: ListedFile, quoting: Quoting) -> Layout:
    """The layout of a file, found by scanning its bytes."""
    seen = Seen(quoting)
    length = 0
    with opened(file, storage) as stream:
        for piece in pieces(stream, quoting.encoding):
            length += len(piece)
            # Read on for the length, so that no task gets a file that does not fit in memory.
            if not seen.is_odd:
                seen.add(piece)
            elif length > _LARGEST_MIXED:
                break
    layout = seen.layout
    if layout is Layout.MIXED and length > _LARGEST_MIXED:
        raise FileUnreadable(
            file=file.path,
            cause=f"{seen.why}, and it is too large ({length >> 20} MiB or more) to be cut into "
            "records in memory. Correct it, write it in smaller files, or set options.quote to '' "
            "if quotes have no meaning in it.",
        )
    return layout


def pieces(stream: Any, encoding: str) -> Iterator[bytes]:
    """The bytes of a file, split at line breaks; UTF-16 and UTF-32 as UTF-8; without BOM."""
    left, first = b"", True
    decoder = None
    if encoding.startswith(WIDE):
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while True:
        more = stream.read(_CHUNK)
        chunk = more if decoder is None else decoder.decode(more, final=not more).encode()
        left += chunk
        if first and len(left) >= len(codecs.BOM_UTF8):
            left, first = left.removeprefix(codecs.BOM_UTF8), False
        if not more:
            break
        # A carriage return at the very end may be half of a CRLF.
        cut = max(left.rfind(b"\n"), left.rfind(b"\r", 0, -1)) + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
    if left:
        yield left


class Seen:
    """The state of a scan of a file's pieces."""

    def __init__(self, quoting: Quoting) -> None:
        self._quoting = quoting
        self.why = ""
        self._inside = False
        self._quoted_break = False
        #: Line breaks of another kind than the file's first, or a carriage return within quotes.
        self._mixed_ends = False
        #: Outside quotes: a carriage return without a line feed after it; a line feed.
        self._has_cr = self._has_lf = False
        self._first_end: bytes | None = None

    @property
    def is_odd(self) -> bool:
        return bool(self.why)

    @property
    def layout(self) -> Layout:
        if self._inside and not self.why:
            self.why = "a quote in it is not closed"
        if self._has_cr and self._has_lf and not self.why:
            self.why = "it has carriage returns between other line breaks"
        if self.why:
            return Layout.MIXED
        if self._quoted_break or self._quoting.encoding.startswith(WIDE):
            if self._mixed_ends:
                self.why = "it has line breaks of several kinds"
                return Layout.MIXED
            return Layout.RECORDS
        return Layout.LINES

    def add(self, piece: bytes) -> None:
        import numpy as np

        quoting = self._quoting
        quote = quoting.quote.encode()
        if b"\0" in piece:
            self.why = "it has NUL characters"
        elif not piece.isascii() and not self._is_text(piece):
            self.why = f"it has bytes that are not {quoting.encoding}"
        elif quote and quote in piece and (len(quote) > 1 or len(quoting.sep.encode()) > 1):
            self.why = "it has quotes beside a separator of several bytes"
        elif quote and quote in piece and quoting.comment:
            self.why = "it has quotes beside comments"
        if self.why:
            return
        if quoting.blank_is_record and _has_blank_line(piece):
            self.why = "it has a line of white space"
            return
        # Padded with a line break on both sides, so that every quote has two neighbours.
        around = np.frombuffer(b"\n" + piece + b"\r", dtype=np.uint8)
        quotes = np.flatnonzero(around == quote[0]) if quote and quote in piece else None
        if quotes is not None and not self._in_order(around, quotes, quoting.sep.encode()[0]):
            self.why = "a quote in it is not closed, or stands inside a value"
            return
        self._ends(piece, around, quotes)

    def _is_text(self, piece: bytes) -> bool:
        encoding = self._quoting.encoding
        if encoding.startswith(WIDE):
            return "\ufffd".encode() not in piece
        try:
            piece.decode(encoding)
        except UnicodeDecodeError:
            return False
        return True

    def _in_order(self, around: Any, quotes: Any, sep: int) -> bool:
        """Whether every opening quote starts a value and every closing quote ends one."""
        import numpy as np

        edge = np.zeros(256, dtype=bool)
        edge[[sep, _LF, _CR, around[quotes[0]]]] = True
        opening, closing = quotes[self._inside :: 2], quotes[not self._inside :: 2]
        return bool(edge[around[opening - 1]].all() and edge[around[closing + 1]].all())

    def _ends(self, piece: bytes, around: Any, quotes: Any) -> None:
        """Record the line breaks of a piece, and whether it ends within quotes."""
        import numpy as np

        has_cr = b"\r" in piece
        if self._first_end is None and (first := _BREAK.search(piece)):
            self._first_end = first[0]
        quoted = None
        if quotes is not None or self._inside:
            ends = around == _LF
            if has_cr:
                ends |= around == _CR
            breaks = np.flatnonzero(ends[1:-1]) + 1
            before = 0 if quotes is None else np.searchsorted(quotes, breaks)
            is_quoted = np.broadcast_to((before + self._inside) % 2 == 1, breaks.shape)
            quoted, plain = breaks[is_quoted], breaks[~is_quoted]
            if quotes is not None:
                self._inside ^= len(quotes) % 2 == 1
            is_cr = around[plain] == _CR
            self._has_cr |= bool((is_cr & (around[plain + 1] != _LF)).any())
            self._has_lf |= not is_cr.all()
        else:
            pairs = piece.count(b"\r\n")
            self._has_cr |= has_cr and piece.count(b"\r") > pairs
            self._has_lf |= b"\n" in piece
        # Spark uses the first line break as the separator of all records, and turns it into a
        # line feed also within quotes.
        if quoted is not None and len(quoted):
            self._quoted_break = True
            paired = np.where(is_cr, around[plain + 1] == _LF, around[plain - 1] == _CR)
            same = paired.all() if self._first_end == b"\r\n" else not is_cr.any()
            mixed = not same or (self._first_end == b"\r\n" and (around[quoted] == _CR).any())
        elif self._first_end == b"\r\n":
            pairs = piece.count(b"\r\n")
            mixed = not pairs == piece.count(b"\n") == piece.count(b"\r")
        else:
            mixed = has_cr
        self._mixed_ends = self._mixed_ends or bool(mixed) or self._first_end == b"\r"


def _has_blank_line(piece: bytes) -> bool:
    """Whether a line has only white space."""
    import numpy as np

    found = np.frombuffer(b"\n" + piece, dtype=np.uint8)
    starts = np.flatnonzero((found[:-1] == _LF) | (found[:-1] == _CR))
    first = found[starts + 1]
    likely = starts[(first <= 32) & (first != _LF) & (first != _CR)]
    return any(_BLANK.match(piece, at) for at in likely.tolist())


_BREAK = re.compile(rb"\r\n|\n|\r")
_BLANK = re.compile(rb"[\x00-\x09\x0b\x0c\x0e-\x20]+(?:[\r\n]|\Z)")


def _escaped(text: str) -> str:
    """The text escaped for a Java regular expression, also inside a character class."""
    return "".join(f"\\x{{{ord(char):x}}}" for char in text)
