"""The catalog as YAML or JSON files: read rows, reporting every problem at once, and export."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.columns import (
    EARLIEST,
    LARGEST_NUMBER,
    LATEST,
    ColumnKind,
    DeclaredColumn,
    plain,
)
from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.schema import BY_TABLE, DECLARED
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.yaml_documents import (
    BadFiles,
    PositionedMapping,
    Problem,
    read,
    short,
    write,
)
from goldsmith.errors import nearest

#: PostgreSQL cannot index much longer keys, and nobody can read them.
LONGEST_KEY = 255
_LARGEST = 2**63


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Rows declared in files, by table and key, with the file and line of each."""

    rows: Mapping[type[Row], Mapping[tuple[Any, ...], Row]]
    positions: Mapping[tuple[str, tuple[Any, ...]], str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(len(rows) for rows in self.rows.values())


def load(files: Iterable[tuple[str, str]]) -> Bundle:
    """The rows of some files; raises BadFiles with every problem of every file."""
    loader = _Loader()
    for name, text in files:
        documents, problems = read(text, name)
        loader.problems += problems
        for document in documents:
            loader.add(name, document)
    if loader.problems:
        raise BadFiles(problems=tuple(loader.problems))
    return Bundle(rows=loader.rows, positions=loader.positions)


class _Loader:
    """Gathers rows and problems over all files."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.rows: dict[type[Row], dict[tuple[Any, ...], Row]] = {}
        self.positions: dict[tuple[str, tuple[Any, ...]], str] = {}
        self.file = ""

    def add(self, file: str, document: Any) -> None:
        self.file = file
        if document is None:
            return
        if not isinstance(document, PositionedMapping):
            self._wrong(1, "a catalog file is a mapping of tables: `pipelines:`, `stages:` …")
            return
        for name, rows in document.items():
            line = document.lines[name]
            if name not in BY_TABLE:
                meant = _meant(name, list(BY_TABLE))
                self._wrong(line, f"there is no table '{short(name)}'{meant}")
            elif rows is None:
                self.rows.setdefault(BY_TABLE[name], {})
            elif not isinstance(rows, list):
                self._wrong(line, f"'{name}' has to be a list of rows")
            else:
                self.rows.setdefault(BY_TABLE[name], {})
                lines = getattr(rows, "lines", ()) or [line] * len(rows)
                for row, at in zip(rows, lines, strict=True):
                    self._row(BY_TABLE[name], row, at)

    def _row(self, kind: type[Row], entry: Any, line: int) -> None:
        spec = kind.table
        if not isinstance(entry, PositionedMapping):
            self._wrong(line, f"a row of '{spec.name}' has to be a mapping of columns")
            return
        before = len(self.problems)
        known = {column.name: column for column in spec.in_files}
        values: dict[str, Any] = {}
        for name, value in entry.items():
            column = known.get(name)
            at = entry.lines[name]
            if column is None:
                meant = _meant(name, list(known))
                self._wrong(at, f"'{spec.name}' has no column '{short(name)}'{meant}")
            elif value is not None:
                try:
                    values[name] = convert(column, value)
                except ValueError as error:
                    self._wrong(at, f"{spec.name}.{name} {error}")
        for name in spec.key:
            if entry.get(name) is None:
                self._wrong(entry.line, f"a row of '{spec.name}' needs '{name}'")
        if len(self.problems) > before:
            return
        row = kind(**values)
        position = f"{self.file}:{entry.line}"
        first = self.positions.setdefault((spec.name, row.key), position)
        if first is not position:
            self._wrong(
                entry.line, f"{spec.name} '{key_text(row.key)}' is defined twice; first in {first}"
            )
            return
        self.rows[kind][row.key] = row

    def _wrong(self, line: int, sentence: str) -> None:
        self.problems.append(Problem(file=self.file, line=line, sentence=sentence))


def _meant(name: str, known: Sequence[str]) -> str:
    guess = nearest(name, known) if len(name) <= LONGEST_KEY else None
    return f"; did you mean '{guess}'?" if guess else ""


def convert(column: DeclaredColumn, value: Any) -> Any:
    """Convert a file's value to the column's type; the ValueError completes a sentence."""
    match column.kind:
        case ColumnKind.TEXT:
            return _text(column, value)
        case ColumnKind.FLAG:
            if not isinstance(value, bool):
                raise ValueError(f"has to be true or false, not {_shown(value)}")
            return value
        case ColumnKind.WHOLE:
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"has to be a whole number, not {_shown(value)}")
            return _bounded(column, value)
        case ColumnKind.NUMBER:
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise ValueError(f"has to be a number, not {_shown(value)}")
            return float(_bounded(column, value)) + 0.0  # PostgreSQL's JSON has no -0.0
        case ColumnKind.MOMENT:
            return _moment(value)
        case ColumnKind.NAMES:
            return _names(value)
        case ColumnKind.MAP:
            if not isinstance(value, dict):
                raise ValueError(f"has to be a mapping, not {_shown(value)}")
            return _json(value)
        case ColumnKind.LIST:
            if not isinstance(value, list):
                raise ValueError(f"has to be a list, not {_shown(value)}")
            return tuple(_json(inner) for inner in value)
        case ColumnKind.POLICY:
            if isinstance(value, dict):
                return {name: _plain_text(text) for name, text in value.items()}
            return column.from_storage(_plain_text(value))


def _text(column: DeclaredColumn, value: Any) -> str:
    text = _plain_text(value)
    if column.choices and text not in column.choices:
        known = ", ".join(column.choices)
        meant = _meant(text, column.choices)
        raise ValueError(f"has to be one of {known}, not '{short(text)}'{meant}")
    if column.is_key and not 0 < len(text) <= LONGEST_KEY:
        raise ValueError(f"has to be 1 to {LONGEST_KEY} characters long, not {len(text):,}")
    return text


def _plain_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"has to be text, not {_shown(value)}; put it in quotes")
    if "\0" in value:
        raise ValueError("holds a NUL character, which no database keeps")
    return value


def _bounded(column: DeclaredColumn, value: float) -> float:
    most = LARGEST_NUMBER if column.kind is ColumnKind.NUMBER else _LARGEST
    if not -most <= value < most:  # also true for infinities and NaN
        raise ValueError(f"is out of range: {_shown(value)}")
    if column.least is not None and value < column.least:
        raise ValueError(f"has to be at least {column.least:g}, not {value:g}")
    if column.most is not None and value > column.most:
        raise ValueError(f"has to be at most {column.most:g}, not {value:g}")
    return value


def _moment(value: Any) -> datetime:
    try:
        when = datetime.fromisoformat(value)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"has to be a time like 2026-01-31T08:00:00+00:00, not {_shown(value)}"
        ) from None
    if not EARLIEST <= when < LATEST:
        raise ValueError(f"has to be in the years 1000 to 9998, not {_shown(value)}")
    return when


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(name.strip() for name in _plain_text(value).split(",") if name.strip())
    if not isinstance(value, list):
        raise ValueError(f"has to be a list of names, not {_shown(value)}")
    return tuple(_plain_text(name) for name in value)


def _json(value: Any) -> Any:
    """A value both databases store unchanged, or a ValueError."""
    if isinstance(value, dict):
        return {_plain_text(name): _json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_json(inner) for inner in value]
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("holds a number that is not finite")
    return value + 0.0 if isinstance(value, float) else value


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, dict) else "a mapping"
    text = "a list" if isinstance(value, list) else text
    return short(text)


def export(rows: CatalogRows) -> str:
    """The catalog as one YAML text; applying it changes nothing."""
    document: dict[str, Any] = {}
    for kind in DECLARED:
        if kept := rows.rows(kind):
            document[kind.table.name] = [_in_order(row) for row in sorted(kept, key=_sort_key)]
    return write(document)


def _sort_key(row: Row) -> tuple[Any, ...]:
    return row.key


def _in_order(row: Row) -> dict[str, Any]:
    """A row as in catalog files; JSON keys in the same order on both databases, `type` first."""
    return {name: _ordered(value) for name, value in row.as_file().items()}


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: (name != "type", name))
        return {name: _ordered(value[name]) for name in names}
    if isinstance(value, list):
        return [_ordered(inner) for inner in value]
    return plain(value)
