"""Every kind of event, defined once. Metrics, emitters, healing and people read these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from goldsmith.journal import access_events, healing_events, lineage_events
from goldsmith.journal.event_base import Event, LeaseEvent, RunEnded, StageEnded, StageEvent
from goldsmith.journal.healing_events import RemedyChosen as RemedyChosen
from goldsmith.journal.healing_events import RetryScheduled as RetryScheduled
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
    """A request was considered and has to wait, for this reason."""

    status: str | None = "waiting"
    because: str
    not_before: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestTaken(Event):
    """A worker took a request to run it."""

    status: str | None = "running"
    worker: str
    attempt: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestRequeued(Event):
    """A request waits again: its worker died, it is retried, or its stop was released."""

    status: str | None = "waiting"
    because: str
    not_before: datetime | None = None
    attempt: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestEnded(Event):
    """A request ended: done, failed, stopped or cancelled."""

    because: str | None = None
    run_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted(Event):
    """A run of a pipeline began."""

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
    """A run was stopped by a flag or a person; nothing is half published."""

    status: str | None = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunInterrupted(RunEnded):
    """A run was found whose process had died."""

    status: str | None = "interrupted"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunBlocked(RunEnded):
    """A run could not go on because its input failed or was stopped."""

    status: str | None = "blocked"


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStarted(StageEvent):
    """An attempt at a stage began."""

    status: str | None = "running"
    started_at: datetime | None = None
    token: int | None = None
    definition: str | None = None
    #: The datasets it reads and writes instead of its default; None: the default.
    route: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStepped(StageEvent):
    """A stage run reached its next step."""

    status: str | None = "running"
    step: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageSkipped(StageEnded):
    """A stage had nothing to do."""

    status: str | None = "skipped"
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageBlocked(StageEnded):
    """A stage could not run because its input failed or was stopped."""

    status: str | None = "blocked"
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageFinished(StageEnded):
    """A stage was published; has the numbers of rows read, written and quarantined."""

    status: str | None = "succeeded"
    rows_read: int | None = None
    rows_written: int | None = None
    rows_quarantined: int | None = None
    rows_dropped: int | None = None
    bytes_read: int | None = None
    bytes_written: int | None = None
    snapshot: str | None = None
    #: The process died between publishing and recording; recovery found the rows in the target.
    recognised: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageFailed(StageEnded):
    """An attempt at a stage failed; nothing of it was published."""

    status: str | None = "failed"
    error_code: str
    error_message: str
    transient: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStopped(StageEnded):
    """A stage was stopped: the four times that prove it, and tasks that did not end."""

    status: str | None = "stopped"
    because: str
    driver_returned_at: datetime | None = None
    last_task_ended_at: datetime | None = None
    statement_cancelled_at: datetime | None = None
    nothing_published_at: datetime | None = None
    zombie_tasks: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StageInterrupted(StageEnded):
    """An attempt at a stage was found whose process had died before it published."""

    status: str | None = "interrupted"
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictGiven(StageEvent):
    """Not recorded yet: a check of a dataset passed or failed, and why."""

    dataset_id: str | None = None
    rule_set_id: str | None = None
    check_name: str
    passed: bool
    severity: str | None = None
    on_fail: str | None = None
    broken: int | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckFailedEvent(VerdictGiven):
    """Not recorded yet: a check that can quarantine, drop or fail did not pass."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseTaken(LeaseEvent):
    """A process acquired the lease of a target; its earlier holder may no longer write."""

    taken_from: str | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaseLostEvent(LeaseEvent):
    """A process found that another process had acquired its lease."""

    holder: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerEndedEvent(Event):
    """Not recorded yet: a worker process ended, and its requests were requeued."""

    worker: str
    because: str
    requeued: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagSeen(Event):
    """Not recorded yet: a process saw a flag change and acts on it."""

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
    """Changes of declared rows were undone."""

    revision: int
    rows: int
    undone: int | None = None
    since: int | None = None
    because: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogMigrated(Event):
    """Not recorded yet: the catalog's tables were migrated to a newer version."""

    from_version: str | None = None
    to_version: str
    backup: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetRestored(Event):
    """A dataset was restored to an earlier snapshot, and its ledgers with it."""

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
class RowsDiscarded(Event):
    """Somebody removed quarantined rows of a dataset for good."""

    dataset_id: str
    discard_id: str
    rows: int
    because: str | None = None
    #: The rows are of stage runs that were not published: their input is read again.
    unpublished: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EventsForgotten(Event):
    """Old events, runs and requests were deleted by retention."""

    before: datetime
    events: int
    runs: int
    requests: int


#: Every kind of event by its name in `audit_log.kind`.
EVENTS: Mapping[str, type[Event]] = {
    name.removesuffix("Event"): kind
    for module in (globals(), vars(healing_events), vars(access_events), vars(lineage_events))
    for name, kind in list(module.items())
    if isinstance(kind, type) and issubclass(kind, Event) and kind.__module__ == module["__name__"]
}


def event_of(row: AuditEvent) -> Event | None:
    """The event of a row; None for a kind this version does not know."""
    kind = EVENTS.get(row.kind or "")
    return None if kind is None else kind.from_row(row)
