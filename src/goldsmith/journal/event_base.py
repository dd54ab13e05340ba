"""The base of every event: its kind, its columns in the audit log, other fields as facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from goldsmith.catalog.columns import ColumnKind, DeclaredColumn
from goldsmith.journal.storable_values import fit
from goldsmith.journal.tables import AuditEvent

#: The columns of the audit log an event can fill; its other fields are stored in `facts`.
COLUMNS: Mapping[str, DeclaredColumn] = {
    name: column
    for name, column in AuditEvent.table.by_name.items()
    if name not in ("event_id", "kind", "facts")
}
_MOMENTS = frozenset(name for name, column in COLUMNS.items() if column.kind is ColumnKind.MOMENT)
#: Cache by kind of event: the columns it fills, and the names of its facts.
_NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened."""

    #: Unset: the time of recording, by the database's clock.
    at: datetime | None = None
    actor: str | None = None
    #: The status of the request, run or stage run after the event.
    status: str | None = None
    pipeline_id: str | None = None
    request_id: str | None = None
    run_id: str | None = None

    @property
    def kind(self) -> str:
        return type(self).__name__.removesuffix("Event")

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that have no column of their own."""
        _columns, others = self._names()
        values = {name: getattr(self, name) for name in others}
        return {name: value for name, value in values.items() if value not in (None, (), {})}

    def as_row(self) -> dict[str, Any]:
        """The event as a row of the audit log."""
        row: dict[str, Any] = {"kind": self.kind, "facts": fit(self.facts) or None}
        columns, _others = self._names()
        for name in columns:
            value = getattr(self, name)
            if value is not None:
                row[name] = value if name in _MOMENTS else fit(value)
        return row

    @classmethod
    def _names(cls) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The fields that are columns of the audit log, and the fields that are facts."""
        if cls.__name__ not in _NAMES:
            names = [field.name for field in fields(cls)]
            _NAMES[cls.__name__] = (
                tuple(name for name in names if name in COLUMNS),
                tuple(name for name in names if name not in COLUMNS),
            )
        return _NAMES[cls.__name__]

    @classmethod
    def from_row(cls, row: AuditEvent) -> Self:
        """The event in a row of the audit log; facts this version does not know are left out."""
        values = {name: getattr(row, name) for name in COLUMNS} | dict(row.facts)
        return cls(
            **{
                name: _typed(hint, values[name])
                for name, hint in _hints(cls).items()
                if values.get(name) is not None
            }
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnded(Event):
    """A run ended."""

    started_at: datetime | None = None
    ended_at: datetime | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageEvent(Event):
    """Something happened to one attempt at a stage."""

    stage_order: int | None = None
    stage_run_id: str | None = None
    attempt: int | None = None
    stage_name: str | None = None
    target_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageEnded(StageEvent):
    """An attempt at a stage ended."""

    started_at: datetime | None = None
    ended_at: datetime | None = None
    step: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseEvent(Event):
    """Something happened to a lease."""

    resource: str
    token: int
    stage_run_id: str | None = None
    owner: str | None = None


def _hints(kind: type[Event]) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _typed(hint: Any, value: Any) -> Any:
    """A value from JSON as its field's type: JSON has neither datetimes nor tuples."""
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    if isinstance(value, str) and datetime in kinds:
        return datetime.fromisoformat(value)
    if isinstance(value, list):
        return tuple(value)
    return value
