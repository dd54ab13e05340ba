"""The journal's tables of the service: workers, fired schedules, buckets of throttles, waits."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from goldsmith.catalog.columns import ColumnKind, choice, key, moment, number, text, whole
from goldsmith.catalog.rows import Row, table


class WorkerKind(StrEnum):
    """What a process of Goldsmith does."""

    SERVICE = "service"
    WORKER = "worker"


class WorkerStatus(StrEnum):
    """The status of a service or a worker."""

    ACTIVE = "active"
    DRAINING = "draining"
    ENDED = "ended"


@table(
    "workers",
    purpose="The services and workers: alive while expires_at lies ahead.",
    read_by="scheduling, workers, status, run",
)
class WorkerRow(Row):
    """One worker or service process."""

    worker: str = key(doc="The process: host, pid and start.")
    kind: str = choice(default="worker", choices=WorkerKind, doc="service or worker.")
    status: str = choice(default="active", choices=WorkerStatus, doc="Its status.")
    host: str | None = text(default=None, doc="Its host.")
    pid: int | None = whole(default=None, doc="Its process.")
    environment: str | None = text(default=None, doc="The environment it runs in.")
    slots: int = whole(default=0, doc="How many requests it runs at once.", least=0)
    catalog_version: str | None = text(default=None, doc="The catalog version it works with.")
    goldsmith_version: str | None = text(default=None, doc="Its version of Goldsmith.")
    started_at: datetime | None = moment(default=None, doc="When it started.")
    heartbeat_at: datetime | None = moment(default=None, doc="Its last heartbeat.")
    expires_at: datetime | None = moment(default=None, doc="When it counts as dead.")


@table(
    "schedule_fires",
    purpose="Each due start once: what fired, when it was due, the request it became.",
    read_by="service, schedules",
)
class ScheduleFire(Row):
    """One due start of one schedule."""

    subject: str = key(doc="pipeline:ID, maintenance:ID or check:RULE_SET:DATASET.")
    due_at: datetime = key(kind=ColumnKind.MOMENT, doc="When it was due.")
    schedule: str | None = text(default=None, doc="The schedule as it was then.")
    fired_at: datetime | None = moment(default=None, doc="When the service fired it.")
    fired_by: str | None = text(default=None, doc="The service that fired it.")
    request_id: str | None = text(default=None, doc="The request; unset: it was left out.")
    because: str | None = text(default=None, doc="Why it was left out, or what it caught up.")


@table(
    "waits",
    purpose="Each request or stage run that waits now, its gate and the reason.",
    read_by="why, queue, status",
)
class WaitRow(Row):
    """One wait of a request or a stage run."""

    subject: str = key(doc="The request or the stage run.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    gate: str | None = text(default=None, doc="The gate: window, lease, throttle, profile …")
    because: str | None = text(default=None, doc="The reason in one sentence.")
    since: datetime | None = moment(default=None, doc="Since when.")
    not_before: datetime | None = moment(default=None, doc="Not earlier, if the gate knows.")


@table(
    "throttle_buckets",
    purpose="The token bucket of each throttle that is in use, shared by all workers.",
    read_by="stages, the throttle gate, throttles",
)
class ThrottleBucket(Row):
    """The tokens of one throttle, by the database's clock."""

    throttle_id: str = key(doc="The throttle.")
    tokens: float | None = number(
        default=None, doc="Records, bytes or requests that may be used at once; negative: a debt."
    )
    counted_at: datetime | None = moment(default=None, doc="When `tokens` was computed.")
    effective: float | None = number(
        default=None, doc="The share of the threshold in effect, after the system refused load."
    )
    recovered_at: datetime | None = moment(
        default=None, doc="When the share in effect was last computed."
    )
    refused_at: datetime | None = moment(default=None, doc="When the system last refused load.")
    refused_because: str | None = text(default=None, doc="The error it refused with.")


@table(
    "throttle_leases",
    purpose="Tokens and slots of throttles that running micro-batches and stages hold.",
    read_by="stages, the throttle gate, throttles",
)
class ThrottleLease(Row):
    """Tokens or a slot of one throttle; those of a dead process are returned."""

    lease_id: str = key(doc="The lease: of all throttles of one micro-batch, or of one stage.")
    throttle_id: str = key(doc="The throttle.")
    owner: str | None = text(default=None, doc="The process that holds it.")
    stage_run_id: str | None = text(default=None, doc="The stage run that holds it.")
    tokens: float | None = number(default=None, doc="The tokens granted; 1 for a slot.")
    granted_at: datetime | None = moment(default=None, doc="When it was granted.")
    expires_at: datetime | None = moment(default=None, doc="When its tokens come back.")


@table(
    "throttle_usage",
    purpose="The use of each throttle in each minute of the last day.",
    read_by="throttles",
)
class ThrottleUsage(Row):
    """One minute of one throttle."""

    throttle_id: str = key(doc="The throttle.")
    minute: datetime = key(kind=ColumnKind.MOMENT, doc="The start of the minute.")
    used: float | None = number(default=None, doc="Records, bytes or requests granted in it.")


OF_SERVICE: tuple[type[Row], ...] = (
    WorkerRow,
    ScheduleFire,
    WaitRow,
    ThrottleBucket,
    ThrottleLease,
    ThrottleUsage,
)
