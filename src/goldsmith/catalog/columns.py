"""Columns: one definition of each, from which the table, the row class, the file format, the
JSON Schema and the documentation are all made.

The declarations are plain Python, so that a command which only reads (`goldsmith status`) need
not import SQLAlchemy; `definitions.py` turns them into SQLAlchemy Core.
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

#: The largest number SQLite prints exactly: it rounds larger ones, and history would be wrong.
LARGEST_NUMBER = 1e100
#: The range of times both databases and Python support.
EARLIEST, LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class ColumnKind(StrEnum):
    """The type of a column's values, the same on SQLite and PostgreSQL."""

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
class DeclaredColumn:
    """The declaration of one column of one table."""

    kind: ColumnKind
    doc: str
    name: str = ""
    is_key: bool = False
    required: bool = False
    default: object = None
    #: The allowed values, enforced by a CHECK constraint.
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    #: The database fills it in; a file that leaves it out does not reset it.
    generated: bool = False
    #: The database assigns the next number.
    serial: bool = False
    #: Goldsmith's own bookkeeping; catalog files do not contain it.
    internal: bool = False

    def from_storage(self, raw: Any) -> Any:
        """The Python value of a driver's value or of a value in a history image."""
        return FROM_STORAGE[self.kind](raw) if raw is not None else self.when_null

    @property
    def when_null(self) -> Any:
        return _EMPTY.get(self.kind)

    @property
    def is_identity(self) -> bool:
        """The driver's value is the Python value, so reading needs no conversion."""
        return self.kind in (ColumnKind.TEXT, ColumnKind.WHOLE)


#: NULL in these columns is read as an empty collection, never as None.
_EMPTY: Mapping[ColumnKind, Any] = {ColumnKind.LIST: (), ColumnKind.MAP: {}, ColumnKind.NAMES: ()}


def column_field(
    kind: ColumnKind, doc: str, default: Any, *, required: bool = False, **more: Any
) -> Any:
    spec = DeclaredColumn(kind=kind, doc=doc, default=default, required=required, **more)
    if more.get("is_key"):
        return field(metadata={"column": spec})
    if kind in _EMPTY and default is None:
        empty = _EMPTY[kind]
        return field(default_factory=lambda: empty, metadata={"column": spec})
    return field(default=default, metadata={"column": spec})


def key(*, doc: str, kind: ColumnKind = ColumnKind.TEXT, **more: Any) -> Any:
    """A column of the primary key."""
    return column_field(kind, doc, None, required=True, is_key=True, **more)


def text(*, default: str | None = None, doc: str, **more: Any) -> Any:
    return column_field(ColumnKind.TEXT, doc, default, **more)


def choice(*, default: str | None = None, choices: type[StrEnum], doc: str, **more: Any) -> Any:
    """A text column with a fixed set of values."""
    closed = tuple(choice.value for choice in choices)
    return column_field(
        ColumnKind.TEXT, doc, default, choices=closed, required=default is not None, **more
    )


def flag(*, default: bool, doc: str, **more: Any) -> Any:
    return column_field(ColumnKind.FLAG, doc, default, required=True, **more)


def whole(*, default: int | None = None, doc: str, **more: Any) -> Any:
    """A number without a fraction."""
    return column_field(ColumnKind.WHOLE, doc, default, required=default is not None, **more)


def number(*, default: float | None = None, doc: str, **more: Any) -> Any:
    return column_field(ColumnKind.NUMBER, doc, default, required=default is not None, **more)


def moment(*, default: datetime | None = None, doc: str, **more: Any) -> Any:
    """A point in time, with its zone; stored in UTC."""
    return column_field(ColumnKind.MOMENT, doc, default, **more)


def names(*, default: Any = None, doc: str, **more: Any) -> Any:
    """An ordered list of names, as a JSON list or a comma list."""
    return column_field(ColumnKind.NAMES, doc, default, **more)


def mapping(*, default: Any = None, doc: str, **more: Any) -> Any:
    """Settings by name, as a JSON object."""
    return column_field(ColumnKind.MAP, doc, default, **more)


def items(*, default: Any = None, doc: str, **more: Any) -> Any:
    """A JSON list."""
    return column_field(ColumnKind.LIST, doc, default, **more)


def policy(*, default: Any = None, doc: str, **more: Any) -> Any:
    """A policy: one text, or a JSON object of texts."""
    return column_field(ColumnKind.POLICY, doc, default, **more)


def _read_flag(raw: Any) -> bool:
    return bool(raw)


#: Cache size for parsed texts: one apply writes the same time or keys into thousands of rows.
_KEPT_TEXTS = 4_096


@lru_cache(_KEPT_TEXTS)
def _read_moment(raw: Any) -> datetime:
    when = raw if isinstance(raw, datetime) else datetime.fromisoformat(raw)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def read_json(text: str | bytes) -> Any:
    """Parse JSON that anybody may have typed into a database."""
    return json.loads(text, parse_int=_read_whole)


def _read_whole(digits: str) -> int | float:
    # Python refuses to parse an int of thousands of digits; as a float it is infinite.
    return int(digits) if len(digits) <= 400 else float(digits)


_WRITER = json.JSONEncoder(ensure_ascii=False)
#: A float in the form that `jsonb` would return as a whole number; or a string, to skip.
_LARGE_FLOAT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9.]+e\+[0-9]+')


def write_json(value: Any) -> str:
    """JSON that both databases return unchanged: a float stays a float."""
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
            parsed = read_json(raw)
        except ValueError:
            return raw
        return parsed if all(isinstance(part, str) for part in parsed.values()) else raw
    return raw


FROM_STORAGE: Mapping[ColumnKind, Callable[[Any], Any]] = {
    ColumnKind.TEXT: str,
    ColumnKind.FLAG: _read_flag,
    ColumnKind.WHOLE: int,
    ColumnKind.NUMBER: float,
    ColumnKind.MOMENT: _read_moment,
    ColumnKind.LIST: _read_list,
    ColumnKind.MAP: _read_map,
    ColumnKind.NAMES: _read_names,
    ColumnKind.POLICY: _read_policy,
}


def plain(value: Any) -> Any:
    """A column's value as plain values for JSON and YAML."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(inner) for inner in value]
    if isinstance(value, StrEnum):
        return value.value
    return value


def same(left: Any, right: Any) -> bool:
    """Equal as JSON values: `true` is not 1, though Python's `True == 1`."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)
