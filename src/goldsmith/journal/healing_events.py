"""Events after a failure: retries, remedies, breakers, incidents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from goldsmith.journal.event_base import Event, StageEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryScheduled(StageEvent):
    """A failed stage will be retried, not before this time."""

    attempt: int
    not_before: datetime
    error_code: str | None = None
    resolution: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RemedyChosen(StageEvent):
    """A remedy was chosen for a failure."""

    remedy: str
    error_code: str
    resolution: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RemedyFailed(StageEvent):
    """A remedy for a failure failed itself; the next remedy is tried."""

    remedy: str
    error_code: str
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageHeld(StageEvent):
    """A failed stage is not retried: it needs a person."""

    error_code: str | None = None
    resolution: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageHealed(StageEvent):
    """A stage got past the error a remedy was used for."""

    remedy: str
    error_code: str
    resolution: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RemedyDidNotHelp(StageEvent):
    """A stage failed with the same error after a remedy was used."""

    remedy: str
    error_code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSetAside(StageEvent):
    """A file that cannot be read is left out until it is rewritten."""

    file: str
    dataset_id: str
    error_code: str | None = None
    resolution: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PairSwitchedOff(Event):
    """A remedy helped less often than its row's success floor, and was switched off."""

    error_code: str
    remedy: str
    step_order: int
    rate: float
    floor: float


@dataclass(frozen=True, kw_only=True, slots=True)
class IncidentOpened(StageEvent):
    """A person has to look: a failure did not heal, or a dataset is stale."""

    incident_id: str
    severity: str
    dataset_id: str | None = None
    error_code: str | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class IncidentChanged(Event):
    """An incident was acknowledged, closed, or became more severe."""

    incident_id: str
    severity: str | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationDelivered(Event):
    """A receiver accepted the message about an incident."""

    incident_id: str
    route_id: str
    attempts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationDelayed(Event):
    """A receiver did not accept a message; it is sent again, not before this time."""

    incident_id: str
    route_id: str
    attempts: int
    not_before: datetime | None = None
    because: str | None = None
