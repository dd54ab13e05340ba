"""Events of lineage: the health of a dataset changes, a drill cuts a source off."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.journal.event_base import Event


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetHealthChanged(Event):
    """A dataset went down, or is used again after it was healthy for a while."""

    dataset_id: str
    health: str
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCutOff(Event):
    """A live drill cut a source off: no run of the environment reads it."""

    dataset_id: str
    drill_id: str
    environment: str
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLetBack(Event):
    """A live drill let runs read a source again."""

    dataset_id: str
    drill_id: str
    environment: str
