"""The journal's tables: observations, which bump no revision and have no history of their own.

Only `audit_log` is append-only. Runs and stage runs are updated in the transaction that records
the event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import (
    ColumnKind,
    choice,
    flag,
    items,
    key,
    mapping,
    moment,
    number,
    text,
    whole,
)
from goldsmith.catalog.rows import Row, table
from goldsmith.journal.access_tables import OF_ACCESS
from goldsmith.journal.gateway_tables import OF_GATEWAY
from goldsmith.journal.healing_tables import OF_HEALING
from goldsmith.journal.lakehouse_tables import OF_LAKEHOUSE
from goldsmith.journal.lineage_tables import OF_LINEAGE
from goldsmith.journal.push_tables import OF_PUSH
from goldsmith.journal.tables_of_ledgers import OF_LEDGERS
from goldsmith.journal.tables_of_service import OF_SERVICE


class RunStatus(StrEnum):
    """The status of a run or a stage run."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    FAILED = "failed"
    STOPPED = "stopped"
    BLOCKED = "blocked"
    INTERRUPTED = "interrupted"


class RequestStatus(StrEnum):
    """The status of a request."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    CANCELLED = "cancelled"


@table(
    "audit_log",
    purpose="The events: written once, never changed. All reports read it.",
    read_by="runs, status, why, healing, API, people's own BI",
)
class AuditEvent(Row):
    """One event."""

    event_id: int = key(kind=ColumnKind.WHOLE, doc="Rises with every event.", serial=True)
    at: datetime = moment(default=None, doc="When it was recorded.", generated=True)
    kind: str | None = text(default=None, doc="What happened: StageFinished, RunStopped …")
    pipeline_id: str | None = text(default=None, doc="The pipeline concerned.")
    stage_order: int | None = whole(default=None, doc="The stage concerned.")
    status: str | None = text(default=None, doc="The status after the event: running, succeeded …")
    started_at: datetime | None = moment(default=None, doc="When it began.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    error_code: str | None = text(default=None, doc="The error's code.")
    error_message: str | None = text(default=None, doc="The error in one sentence.")
    resolution: str | None = text(default=None, doc="What was done about it.")
    request_id: str | None = text(default=None, doc="The request.")
    run_id: str | None = text(default=None, doc="The run.")
    stage_run_id: str | None = text(default=None, doc="The stage run.")
    attempt: int | None = whole(default=None, doc="The number of the attempt, from 1.")
    actor: str | None = text(default=None, doc="Who: a person, a worker, the scheduler.")
    facts: Mapping[str, Any] = mapping(default=None, doc="Everything else, by name.")


@table(
    "requests",
    purpose="Requests for runs: waiting, taken by a worker, done. Workers take them from here.",
    read_by="scheduling, status, why",
)
class Request(Row):
    """A request to run pipelines."""

    request_id: str = key(doc="The request.")
    selection: tuple[str, ...] = items(default=None, doc="What to run, as it was typed.")
    pipelines: tuple[str, ...] = items(default=None, doc="The pipelines the selection names.")
    options: Mapping[str, Any] = mapping(default=None, doc="full_refresh, window, limit …")
    status: str = choice(default="waiting", choices=RequestStatus, doc="The request's status.")
    because: str | None = text(default=None, doc="The reason for the status.")
    asked_by: str | None = text(default=None, doc="Who asked for it.")
    asked_at: datetime | None = moment(default=None, doc="When it was asked for.")
    not_before: datetime | None = moment(default=None, doc="Not due earlier: the wait of a retry.")
    attempt: int = whole(default=1, doc="The number of the attempt, from 1.")
    after_run_id: str | None = text(default=None, doc="The run this one retries or resumes.")
    run_ids: tuple[str, ...] = items(default=None, doc="The runs it led to.")
    worker: str | None = text(default=None, doc="The worker that runs it.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    token: int = whole(default=0, doc="The fencing token: rises each time a worker takes it.")
    expires_at: datetime | None = moment(
        default=None, doc="When its worker's lease expires; another worker then takes it over."
    )
    due_at: datetime | None = moment(default=None, doc="The due time of a scheduled start.")
    backfill_id: str | None = text(default=None, doc="The backfill it is a part of.")


@table(
    "runs",
    purpose="One row a run of a pipeline: its status, who asked for it, its first error.",
    read_by="runs, status, why, planner (history)",
)
class Run(Row):
    """A run of a pipeline."""

    run_id: str = key(doc="The run.")
    request_id: str | None = text(default=None, doc="The request it answers.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    status: str = choice(default="running", choices=RunStatus, doc="The run's status.")
    because: str | None = text(default=None, doc="The reason for the status.")
    asked_by: str | None = text(default=None, doc="Who asked for it.")
    environment: str | None = text(default=None, doc="The environment it ran in.")
    catalog_revision: int | None = whole(
        default=None, doc="The catalog revision it was planned from."
    )
    started_at: datetime | None = moment(default=None, doc="When it began.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    error_code: str | None = text(default=None, doc="The first error's code.")
    error_message: str | None = text(default=None, doc="The first error in one sentence.")
    worker: str | None = text(default=None, doc="The process: host, pid and start.")


@table(
    "stage_runs",
    purpose="One attempt at one stage: what it read, wrote, quarantined, and how it ended.",
    read_by="runs, status, why, planner (history), healing",
)
class StageRun(Row):
    """One attempt at one stage."""

    stage_run_id: str = key(doc="The stage run; the target's snapshot or ledger names it.")
    run_id: str | None = text(default=None, doc="The run it belongs to.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    stage_name: str | None = text(default=None, doc="The stage's name.")
    target_id: str | None = text(default=None, doc="The dataset it writes.")
    attempt: int = whole(default=1, doc="The number of the attempt, from 1.")
    status: str = choice(default="waiting", choices=RunStatus, doc="The stage run's status.")
    step: str | None = text(default=None, doc="Which of the eight steps it is in, or ended in.")
    because: str | None = text(default=None, doc="The reason for the status.")
    started_at: datetime | None = moment(default=None, doc="When it began.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    rows_read: int | None = whole(default=None, doc="Rows read.")
    rows_written: int | None = whole(default=None, doc="Rows published.")
    rows_quarantined: int | None = whole(default=None, doc="Rows quarantined.")
    rows_dropped: int | None = whole(default=None, doc="Rows dropped by a check.")
    bytes_read: int | None = whole(default=None, doc="Bytes read.")
    bytes_written: int | None = whole(default=None, doc="Bytes written.")
    snapshot: str | None = text(default=None, doc="The id of the target's newest snapshot.")
    definition: str | None = text(default=None, doc="Hash of the definition it ran with.")
    token: int | None = whole(default=None, doc="The fencing token it held.")
    error_code: str | None = text(default=None, doc="The error's code.")
    error_message: str | None = text(default=None, doc="The error in one sentence.")
    facts: Mapping[str, Any] = mapping(default=None, doc="Timings, path taken, SQL, batches …")


#: Fact of a stage run that was skipped though its dataset may not be up to date.
LEFT_OUT = "left_out"
#: Fact of a stage run that read only some of its new files: how many the next one has to read.
FILES_LEFT = "files_left"


@table(
    "expectations",
    purpose="The expected next run of each stage: medians of its last ten successful runs.",
    read_by="planner, scheduling, people's own BI",
)
class Expectation(Row):
    """The expected size and duration of a stage's next run."""

    pipeline_id: str = key(doc="The pipeline.")
    stage_order: int = key(kind=ColumnKind.WHOLE, doc="The stage.")
    rows_written: int | None = whole(default=None, doc="Rows it is expected to publish.")
    bytes_written: int | None = whole(default=None, doc="Bytes it is expected to write.")
    seconds: float | None = number(default=None, doc="Seconds it is expected to take.")
    from_runs: int = whole(default=0, doc="How many successful runs the medians are of.")


@table(
    "leases",
    purpose="Who may write a target now; a fencing token stops a process whose lease expired.",
    read_by="engine, scheduling, status, why",
)
class Lease(Row):
    """The right of one process to write a target's location."""

    resource: str = key(doc="The location of the target that is leased.")
    token: int = whole(default=0, doc="The fencing token: rises each time the lease is acquired.")
    owner: str | None = text(default=None, doc="The worker that holds it; unset: free.")
    host: str | None = text(default=None, doc="The worker's host.")
    pid: int | None = whole(default=None, doc="The worker's process.")
    run_id: str | None = text(default=None, doc="The run it is held for.")
    stage_run_id: str | None = text(default=None, doc="The stage run it is held for.")
    acquired_at: datetime | None = moment(default=None, doc="When it was acquired.")
    expires_at: datetime | None = moment(default=None, doc="When it expires.")


@table(
    "retention_pass",
    purpose="The events that the current transaction may delete; the row is never committed.",
    read_by="the trigger that keeps audit_log append-only",
)
class RetentionPass(Row):
    """Permission to delete old events in the current transaction."""

    transaction_id: int = key(
        kind=ColumnKind.WHOLE, doc="PostgreSQL's transaction; 0 on SQLite, which has one writer."
    )
    older_than: datetime = moment(default=None, doc="Only events older than this.", required=True)


@table(
    "verdicts",
    purpose="The result of each check in each stage run.",
    read_by="checks, planner (history), people's own BI",
)
class Verdict(Row):
    """The result of one check: whether the data passed, and why."""

    stage_run_id: str = key(doc="The stage run.")
    place: int = key(kind=ColumnKind.WHOLE, doc="The check's index among the stage's checks.")
    run_id: str | None = text(default=None, doc="The run.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    dataset_id: str | None = text(default=None, doc="The dataset checked.")
    rule_set_id: str | None = text(default=None, doc="The rule set.")
    check_name: str | None = text(default=None, doc="The check: not_null, row_count …")
    settings: Mapping[str, Any] = mapping(default=None, doc="The check's settings.")
    severity: str | None = text(default=None, doc="critical, warning or info.")
    on_fail: str | None = text(default=None, doc="fail, quarantine, drop or warn.")
    passed: bool = flag(default=False, doc="The data passed the check.")
    broken: int | None = whole(default=None, doc="Rows that failed the check.")
    observed: str | None = text(default=None, doc="What was found.")
    expected: str | None = text(default=None, doc="What the check expects.")
    message: str | None = text(default=None, doc="The verdict in one sentence.")
    sample: tuple[Any, ...] = items(default=None, doc="Some failed rows, tagged columns masked.")
    duration_ms: float | None = number(default=None, doc="How long the check took.")
    at: datetime | None = moment(default=None, doc="When the check was evaluated.")


@table(
    "input_files",
    purpose="The ledger of files: which stage run read which file, for which target.",
    read_by="planner, engine",
)
class InputFile(Row):
    """A file a stage run reads; it counts as read once the stage run is published."""

    consumer: str = key(doc="The stage's ledger: see stage_ledgers.")
    dataset_id: str = key(doc="The dataset the file belongs to.")
    path: str = key(doc="The file's address, spelled as in the catalog.")
    stage_run_id: str = key(doc="The stage run that reads it.")
    size: int | None = whole(default=None, doc="Its size in bytes.")
    etag: str | None = text(default=None, doc="Changes when the file is rewritten.")
    modified_at: datetime | None = moment(default=None, doc="When it was last written.")
    counted: bool = flag(default=False, doc="The stage run was published.")
    superseded_by: str | None = text(
        default=None, doc="The stage run that replaced all rows: this entry no longer counts."
    )
    token: int | None = whole(default=None, doc="Rises with every stage run of the target.")


@table(
    "input_snapshots",
    purpose="Up to which snapshot of an input a stage run has read.",
    read_by="planner, engine",
)
class InputSnapshot(Row):
    """How far a stage run has read an input table."""

    consumer: str = key(doc="The stage's ledger: see stage_ledgers.")
    dataset_id: str = key(doc="The input.")
    stage_run_id: str = key(doc="The stage run that reads it.")
    snapshot: str | None = text(default=None, doc="The input's snapshot it read up to.")
    at: datetime | None = moment(default=None, doc="When it was recorded.")
    counted: bool = flag(default=False, doc="The stage run was published.")
    superseded_by: str | None = text(
        default=None, doc="The stage run that replaced all rows: this entry no longer counts."
    )
    token: int | None = whole(default=None, doc="Rises with every stage run of the target.")


@table(
    "restores",
    purpose="Restores of lake tables; the next process finishes or undoes an interrupted one.",
    read_by="engine",
)
class Restore(Row):
    """One restore of a lake table to an earlier snapshot."""

    restore_id: str = key(doc="The restore.")
    dataset_id: str | None = text(default=None, doc="The dataset.")
    from_snapshot: str | None = text(default=None, doc="Its snapshot before the restore.")
    to_snapshot: str | None = text(default=None, doc="The snapshot to restore.")
    taken_back: tuple[str, ...] = items(default=None, doc="The stage runs whose rows it removes.")
    asked_by: str | None = text(default=None, doc="Who asked for it.")
    started_at: datetime | None = moment(default=None, doc="When it was recorded.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    done: bool = flag(default=False, doc="The table was restored; false once ended: it was not.")


@table(
    "kept_schemas",
    purpose="Inferred schemas, stored so that a column's type does not change from run to run.",
    read_by="readers",
)
class KeptSchema(Row):
    """The inferred schema of a dataset whose files declare none."""

    dataset_id: str = key(doc="The dataset.")
    schema_json: str | None = text(default=None, doc="The schema as Spark's JSON.")
    inferred_at: datetime | None = moment(default=None, doc="When columns were last added.")


@table(
    "sql_facts",
    purpose="The facts parsed from a stage's SQL, by the hash of its shape.",
    read_by="planner",
)
class SqlFacts(Row):
    """The facts parsed from one SQL text."""

    text_hash: str = key(doc="Hash of dialect and text.")
    facts: Mapping[str, Any] = mapping(default=None, doc="Tables read, target, shape, errors.")


OBSERVED: tuple[type[Row], ...] = (
    AuditEvent,
    Request,
    Run,
    StageRun,
    Expectation,
    Lease,
    RetentionPass,
    Verdict,
    InputFile,
    InputSnapshot,
    Restore,
    KeptSchema,
    SqlFacts,
    *OF_LEDGERS,
    *OF_HEALING,
    *OF_SERVICE,
    *OF_ACCESS,
    *OF_PUSH,
    *OF_GATEWAY,
    *OF_LAKEHOUSE,
    *OF_LINEAGE,
)
