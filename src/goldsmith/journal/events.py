"""Every kind of event, defined once. Metrics, emitters, healing and people read these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from goldsmith.journal import events_of_healing
from goldsmith.journal.event import Event, LeaseEvent, RunEnded, StageEnded, StageEvent
from goldsmith.journal.events_of_healing import RemedyChosen as RemedyChosen
from goldsmith.journal.events_of_healing import RetryScheduled as RetryScheduled
from goldsmith.journal.tables import AuditEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRequested(Event):
    """Somebody or something asked for a run."""

    status: str | None = "waiting"
    selection: tuple[str, ...] = ()
    pipelines: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    after_run_id: str | None = None
    not_before: datetime | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestWaiting(Event):
    """A request was looked at and has to wait, for this reason."""

    status: str | None = "waiting"
    because: str
    not_before: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestTaken(Event):
    """A worker carries a request out."""

    status: str | None = "running"
    worker: str
    attempt: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestRequeued(Event):
    """A request waits again: its worker died, or what stopped it was released."""

    status: str | None = "waiting"
    because: str
    not_before: datetime | None = None
    attempt: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestEnded(Event):
    """A request is over: done, failed, stopped or cancelled."""

    because: str | None = None
    run_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted(Event):
    """A pipeline began to be carried out."""

    status: str | None = "running"
    started_at: datetime | None = None
    because: str | None = None
    environment: str | None = None
    catalog_revision: int | None = None
    worker: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFinished(RunEnded):
    """Every stage of a run was published, or had nothing to do."""

    status: str | None = "succeeded"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFailed(RunEnded):
    """A stage of a run failed for good."""

    status: str | None = "failed"
    error_code: str | None = None
    error_message: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStopped(RunEnded):
    """A run was stopped by a flag or a person, with nothing half-done."""

    status: str | None = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunInterrupted(RunEnded):
    """A run was found whose process had died."""

    status: str | None = "interrupted"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunBlocked(RunEnded):
    """A run could not go on because what it reads failed or was stopped."""

    status: str | None = "blocked"


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStarted(StageEvent):
    """A try at a stage began."""

    status: str | None = "running"
    started_at: datetime | None = None
    token: int | None = None
    definition: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStepped(StageEvent):
    """A stage came to its next step."""

    status: str | None = "running"
    step: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageSkipped(StageEnded):
    """A stage had nothing to do."""

    status: str | None = "skipped"
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageBlocked(StageEnded):
    """A stage could not run because what it reads failed or was stopped."""

    status: str | None = "blocked"
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageFinished(StageEnded):
    """A stage was published, with what it read, wrote and kept aside."""

    status: str | None = "succeeded"
    rows_read: int | None = None
    rows_written: int | None = None
    rows_quarantined: int | None = None
    rows_dropped: int | None = None
    bytes_read: int | None = None
    bytes_written: int | None = None
    snapshot: str | None = None
    #: Published by a process that died before it could say so; the target knew.
    recognised: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageFailed(StageEnded):
    """A try at a stage failed; nothing of it was published."""

    status: str | None = "failed"
    error_code: str
    error_message: str
    transient: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStopped(StageEnded):
    """A stage was stopped: the four times that prove it, and tasks that would not die."""

    status: str | None = "stopped"
    because: str
    driver_returned_at: datetime | None = None
    last_task_ended_at: datetime | None = None
    statement_cancelled_at: datetime | None = None
    nothing_published_at: datetime | None = None
    zombie_tasks: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageInterrupted(StageEnded):
    """A try at a stage was found whose process had died before it published."""

    status: str | None = "interrupted"
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictGiven(StageEvent):
    """A check said yes or no of a dataset, and because."""

    dataset_id: str | None = None
    rule_set_id: str | None = None
    check_name: str
    passed: bool
    severity: str | None = None
    on_fail: str | None = None
    broken: int | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckFailed(VerdictGiven):
    """A check that may hold data back did not hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseTaken(LeaseEvent):
    """A process may write a place now, and whoever held it before may not."""

    taken_from: str | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseLost(LeaseEvent):
    """A process found that another one had taken over its place."""

    holder: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerEnded(Event):
    """A worker process ended or was ended, and what it carried out waits again."""

    worker: str
    because: str
    requeued: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagSeen(Event):
    """A process saw a flag change and acts on it."""

    entity_type: str
    entity_id: str
    flag_name: str
    flag_value: bool
    because: str | None = None
    set_by: str | None = None
    set_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogApplied(Event):
    """Declared rows were changed from files."""

    revision: int
    added: int
    changed: int
    removed: int
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogUndone(Event):
    """Changes of declared rows were taken back."""

    revision: int
    rows: int
    undone: int | None = None
    since: int | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogMigrated(Event):
    """The catalog's tables were brought to a newer version."""

    from_version: str | None = None
    to_version: str
    backup: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetRestored(Event):
    """A dataset was taken back to an earlier state, and its ledgers with it."""

    dataset_id: str
    to_snapshot: str
    from_snapshot: str | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetMaintained(Event):
    """A dataset's files were compacted, or old snapshots expired."""

    dataset_id: str
    did: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class EventsForgotten(Event):
    """Old events and what belongs to them were forgotten, as retention says."""

    before: datetime
    events: int
    runs: int
    requests: int


#: Every kind of event by its name, as it stands in `audit_log.kind`.
EVENTS: Mapping[str, type[Event]] = {
    name: kind
    for module in (globals(), vars(events_of_healing))
    for name, kind in list(module.items())
    if isinstance(kind, type) and issubclass(kind, Event) and kind.__module__ == module["__name__"]
}


def event_of(row: AuditEvent) -> Event | None:
    """The event a row holds; None for a kind this version does not know."""
    kind = EVENTS.get(row.kind or "")
    return None if kind is None else kind.from_row(row)
