"""What every event has in common: its kind, its columns in the audit log, the rest as facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from goldsmith.catalog.columns import Column, Kind
from goldsmith.journal.fitting import fit
from goldsmith.journal.tables import AuditEvent

#: The columns of the audit log an event can fill; everything else it knows is a fact.
COLUMNS: Mapping[str, Column] = {
    name: column
    for name, column in AuditEvent.table.by_name.items()
    if name not in ("event_id", "kind", "facts")
}
_MOMENTS = frozenset(name for name, column in COLUMNS.items() if column.kind is Kind.MOMENT)
#: Of each kind of event, worked out once: the columns it fills, and its facts.
_NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened."""

    #: Unset: when it is recorded, by the database's clock.
    at: datetime | None = None
    actor: str | None = None
    #: How what it concerns stands since.
    status: str | None = None
    pipeline_id: str | None = None
    request_id: str | None = None
    run_id: str | None = None

    @property
    def kind(self) -> str:
        return type(self).__name__

    @property
    def facts(self) -> dict[str, Any]:
        """What has no column of its own."""
        _columns, others = self._names()
        said = {name: getattr(self, name) for name in others}
        return {name: value for name, value in said.items() if value not in (None, (), {})}

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
        """What of an event is a column of the audit log, and what is a fact."""
        if cls.__name__ not in _NAMES:
            said = [field.name for field in fields(cls)]
            _NAMES[cls.__name__] = (
                tuple(name for name in said if name in COLUMNS),
                tuple(name for name in said if name not in COLUMNS),
            )
        return _NAMES[cls.__name__]

    @classmethod
    def from_row(cls, row: AuditEvent) -> Self:
        """The event a row of the audit log holds; what it does not know is left out."""
        said = {name: getattr(row, name) for name in COLUMNS} | dict(row.facts)
        return cls(
            **{
                name: _typed(hint, said[name])
                for name, hint in _hints(cls).items()
                if said.get(name) is not None
            }
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnded(Event):
    """A run is over."""

    started_at: datetime | None = None
    ended_at: datetime | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageEvent(Event):
    """Something happened to one try at a stage."""

    stage_order: int | None = None
    stage_run_id: str | None = None
    attempt: int | None = None
    stage_name: str | None = None
    target_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageEnded(StageEvent):
    """A try at a stage is over."""

    started_at: datetime | None = None
    ended_at: datetime | None = None
    step: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseEvent(Event):
    """Something happened to the right to write a place."""

    resource: str
    token: int
    stage_run_id: str | None = None
    owner: str | None = None


def _hints(kind: type[Event]) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _typed(hint: Any, value: Any) -> Any:
    """JSON has neither moments nor tuples."""
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    if isinstance(value, str) and datetime in kinds:
        return datetime.fromisoformat(value)
    if isinstance(value, list):
        return tuple(value)
    return value
