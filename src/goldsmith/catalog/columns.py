"""Columns: one definition of each, from which the table, the row class, the file format, the
JSON Schema and the documentation are all made.

The words of a column live here in plain Python, so that a command which only reads
(`goldsmith status`) need not load SQLAlchemy; `definitions.py` turns them into SQLAlchemy Core.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

#: What SQLite prints with all its digits: above this it rounds, and history would not be exact.
LARGEST_NUMBER = 1e100
#: The times both databases and Python can say.
EARLIEST, LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class Kind(StrEnum):
    """What a column holds, alike on SQLite and PostgreSQL."""

    TEXT = "text"
    FLAG = "flag"
    WHOLE = "whole"
    NUMBER = "number"
    MOMENT = "moment"
    LIST = "list"
    MAP = "map"
    NAMES = "names"
    POLICY = "policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column of one table, in words."""

    kind: Kind
    doc: str
    name: str = ""
    is_key: bool = False
    required: bool = False
    default: object = None
    #: Closed set of words, held by a CHECK.
    words: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    #: The database fills it in, and files may leave it out without saying "reset this".
    generated: bool = False
    #: The database hands out the next number.
    serial: bool = False
    #: Not part of the catalog as files: bookkeeping of ours.
    internal: bool = False

    def from_storage(self, raw: Any) -> Any:
        """The Python value of what a driver or a history image gives back."""
        return FROM_STORAGE[self.kind](raw) if raw is not None else self.when_null

    @property
    def when_null(self) -> Any:
        return _EMPTY.get(self.kind)

    @property
    def is_identity(self) -> bool:
        """The driver's value is the Python value, so reading needs no conversion."""
        return self.kind in (Kind.TEXT, Kind.WHOLE)


#: A column that may be empty reads as an empty collection, never as None.
_EMPTY: Mapping[Kind, Any] = {Kind.LIST: (), Kind.MAP: {}, Kind.NAMES: ()}


def column_field(kind: Kind, doc: str, default: Any, *, required: bool = False, **more: Any) -> Any:
    spec = Column(kind=kind, doc=doc, default=default, required=required, **more)
    if more.get("is_key"):
        return field(metadata={"column": spec})
    if kind in _EMPTY and default is None:
        empty = _EMPTY[kind]
        return field(default_factory=lambda: empty, metadata={"column": spec})
    return field(default=default, metadata={"column": spec})


def key(*, doc: str, kind: Kind = Kind.TEXT, **more: Any) -> Any:
    """A column of the primary key."""
    return column_field(kind, doc, None, required=True, is_key=True, **more)


def text(*, default: str | None = None, doc: str, **more: Any) -> Any:
    return column_field(Kind.TEXT, doc, default, **more)


def word(*, default: str | None = None, words: type[StrEnum], doc: str, **more: Any) -> Any:
    """A word from a closed set."""
    closed = tuple(word.value for word in words)
    return column_field(Kind.TEXT, doc, default, words=closed, required=default is not None, **more)


def flag(*, default: bool, doc: str, **more: Any) -> Any:
    return column_field(Kind.FLAG, doc, default, required=True, **more)


def whole(*, default: int | None = None, doc: str, **more: Any) -> Any:
    """A number without a fraction."""
    return column_field(Kind.WHOLE, doc, default, required=default is not None, **more)


def number(*, default: float | None = None, doc: str, **more: Any) -> Any:
    return column_field(Kind.NUMBER, doc, default, required=default is not None, **more)


def moment(*, default: datetime | None = None, doc: str, **more: Any) -> Any:
    """A point in time, with its zone; stored in UTC."""
    return column_field(Kind.MOMENT, doc, default, **more)


def names(*, default: Any = None, doc: str, **more: Any) -> Any:
    """An ordered list of names, as a JSON list or a comma list."""
    return column_field(Kind.NAMES, doc, default, **more)


def mapping(*, default: Any = None, doc: str, **more: Any) -> Any:
    """Settings by name, as a JSON object."""
    return column_field(Kind.MAP, doc, default, **more)


def items(*, default: Any = None, doc: str, **more: Any) -> Any:
    """A JSON list."""
    return column_field(Kind.LIST, doc, default, **more)


def policy(*, default: Any = None, doc: str, **more: Any) -> Any:
    """A word, or a JSON object of words where one word is not enough."""
    return column_field(Kind.POLICY, doc, default, **more)


def _read_flag(raw: Any) -> bool:
    return bool(raw)


#: Texts repeat: an apply writes one time into thousands of rows, a template one list of keys.
_KEPT_TEXTS = 4_096


@lru_cache(_KEPT_TEXTS)
def _read_moment(raw: Any) -> datetime:
    when = raw if isinstance(raw, datetime) else datetime.fromisoformat(raw)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def read_json(text: str | bytes) -> Any:
    """JSON as anybody may have typed it into a database."""
    return json.loads(text, parse_int=_read_whole)


def _read_whole(digits: str) -> int | float:
    # Python refuses to make an int of thousands of digits; as a float it is infinite.
    return int(digits) if len(digits) <= 400 else float(digits)


_WRITER = json.JSONEncoder(ensure_ascii=False)
#: A float in the form that `jsonb` would give back as a whole number; or a string, to step over.
_LARGE_FLOAT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9.]+e\+[0-9]+')


def write_json(value: Any) -> str:
    """JSON that both databases give back as it was: a float stays a float."""
    text = _WRITER.encode(value)
    if "e+" not in text:
        return text
    return _LARGE_FLOAT.sub(lambda m: m[0] if m[0][0] == '"' else f"{float(m[0]):.1f}", text)


def _read_json(raw: Any) -> Any:
    return read_json(raw) if isinstance(raw, str) else raw


def _read_map(raw: Any) -> Any:
    return {} if raw == "{}" else _read_json(raw)


def _read_list(raw: Any) -> Any:
    value = _read_json(raw)
    return tuple(value) if isinstance(value, list) else value


def _read_names(raw: Any) -> tuple[str, ...]:
    return _names(raw) if isinstance(raw, str) else tuple(str(name) for name in raw)


@lru_cache(_KEPT_TEXTS)
def _names(raw: str) -> tuple[str, ...]:
    stripped = raw.strip()
    if stripped.startswith("["):
        try:
            return tuple(str(name) for name in read_json(stripped))
        except ValueError:
            pass  # a comma list may begin with a bracket; integrity reports odd names
    return tuple(name.strip() for name in stripped.split(",") if name.strip())


def _read_policy(raw: Any) -> Any:
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            said = read_json(raw)
        except ValueError:
            return raw
        return said if all(isinstance(word, str) for word in said.values()) else raw
    return raw


FROM_STORAGE: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: str,
    Kind.FLAG: _read_flag,
    Kind.WHOLE: int,
    Kind.NUMBER: float,
    Kind.MOMENT: _read_moment,
    Kind.LIST: _read_list,
    Kind.MAP: _read_map,
    Kind.NAMES: _read_names,
    Kind.POLICY: _read_policy,
}


def plain(value: Any) -> Any:
    """A column's value as JSON and YAML can say it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(inner) for inner in value]
    if isinstance(value, StrEnum):
        return value.value
    return value


def same(one: Any, other: Any) -> bool:
    """Equal as JSON is: `true` is not 1, though Python's `True == 1`."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
