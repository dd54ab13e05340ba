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
    Kind,
    flag,
    items,
    key,
    mapping,
    moment,
    number,
    text,
    whole,
    word,
)
from goldsmith.catalog.rows import Row, table
from goldsmith.journal.tables_of_healing import OF_HEALING


class RunStatus(StrEnum):
    """Where a run or a stage run stands."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    FAILED = "failed"
    STOPPED = "stopped"
    BLOCKED = "blocked"
    INTERRUPTED = "interrupted"


class RequestStatus(StrEnum):
    """Where a request stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    CANCELLED = "cancelled"


@table(
    "audit_log",
    purpose="What happened, written once, never changed. Everything that reports reads it.",
    read_by="runs, status, why, healing, metrics, emitters, people's own BI",
)
class AuditEvent(Row):
    """One thing that happened."""

    event_id: int = key(kind=Kind.WHOLE, doc="Rises with every event.", serial=True)
    at: datetime = moment(default=None, doc="When it was recorded.", generated=True)
    kind: str | None = text(default=None, doc="What happened: StageFinished, RunStopped …")
    pipeline_id: str | None = text(default=None, doc="The pipeline concerned.")
    stage_order: int | None = whole(default=None, doc="The stage concerned.")
    status: str | None = text(default=None, doc="How it stands since: running, succeeded …")
    started_at: datetime | None = moment(default=None, doc="When it began.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    error_code: str | None = text(default=None, doc="The error's code.")
    error_message: str | None = text(default=None, doc="The error in one sentence.")
    resolution: str | None = text(default=None, doc="What was done about it.")
    request_id: str | None = text(default=None, doc="The request.")
    run_id: str | None = text(default=None, doc="The run.")
    stage_run_id: str | None = text(default=None, doc="The stage run.")
    attempt: int | None = whole(default=None, doc="Which try at it.")
    actor: str | None = text(default=None, doc="Who: a person, a worker, the scheduler.")
    facts: Mapping[str, Any] = mapping(default=None, doc="Everything else, by name.")


@table(
    "requests",
    purpose="What was asked for: waiting, taken by a worker, done. The inbox of the tick.",
    read_by="scheduling, status, why",
)
class Request(Row):
    """Something somebody asked for."""

    request_id: str = key(doc="The request.")
    selection: tuple[str, ...] = items(default=None, doc="What to run, as it was typed.")
    pipelines: tuple[str, ...] = items(default=None, doc="The pipelines that means.")
    options: Mapping[str, Any] = mapping(default=None, doc="full_refresh, window, limit …")
    status: str = word(default="waiting", words=RequestStatus, doc="Where it stands.")
    because: str | None = text(default=None, doc="Why it stands there.")
    asked_by: str | None = text(default=None, doc="Who asked.")
    asked_at: datetime | None = moment(default=None, doc="When.")
    not_before: datetime | None = moment(default=None, doc="Not due earlier: the wait of a retry.")
    attempt: int = whole(default=1, doc="Which try at it.")
    after_run_id: str | None = text(default=None, doc="The run this one retries or resumes.")
    run_ids: tuple[str, ...] = items(default=None, doc="The runs it led to.")
    worker: str | None = text(default=None, doc="Who carries it out.")
    ended_at: datetime | None = moment(default=None, doc="When it was over.")


@table(
    "runs",
    purpose="A pipeline being carried out.",
    read_by="runs, status, why, planner (history)",
)
class Run(Row):
    """A pipeline being carried out."""

    run_id: str = key(doc="The run.")
    request_id: str | None = text(default=None, doc="The request it answers.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    status: str = word(default="running", words=RunStatus, doc="Where it stands.")
    because: str | None = text(default=None, doc="Why it stands there.")
    asked_by: str | None = text(default=None, doc="Who asked.")
    environment: str | None = text(default=None, doc="The environment it ran in.")
    catalog_revision: int | None = whole(default=None, doc="The rows it was planned from.")
    started_at: datetime | None = moment(default=None, doc="When it began.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    error_code: str | None = text(default=None, doc="The first error's code.")
    error_message: str | None = text(default=None, doc="The first error in one sentence.")
    worker: str | None = text(default=None, doc="The process: host, pid and start.")


@table(
    "stage_runs",
    purpose="One try at one stage of a run: what it read, wrote, kept aside, and how it ended.",
    read_by="runs, status, why, planner (history), healing, advice",
)
class StageRun(Row):
    """One try at one stage."""

    stage_run_id: str = key(doc="The stage run; also in the snapshot or ledger it published.")
    run_id: str | None = text(default=None, doc="The run it belongs to.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    stage_name: str | None = text(default=None, doc="The stage's name.")
    target_id: str | None = text(default=None, doc="The dataset it writes.")
    attempt: int = whole(default=1, doc="Which try.")
    status: str = word(default="waiting", words=RunStatus, doc="Where it stands.")
    step: str | None = text(default=None, doc="The step of eight it is in, or ended in.")
    because: str | None = text(default=None, doc="Why it stands there.")
    started_at: datetime | None = moment(default=None, doc="When it began.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    rows_read: int | None = whole(default=None, doc="Rows read.")
    rows_written: int | None = whole(default=None, doc="Rows published.")
    rows_quarantined: int | None = whole(default=None, doc="Rows kept aside.")
    rows_dropped: int | None = whole(default=None, doc="Rows dropped by a rule.")
    bytes_read: int | None = whole(default=None, doc="Bytes read.")
    bytes_written: int | None = whole(default=None, doc="Bytes written.")
    snapshot: str | None = text(default=None, doc="What the target's newest state is called.")
    definition: str | None = text(default=None, doc="Hash of the definition it ran with.")
    token: int | None = whole(default=None, doc="The fencing token it held.")
    error_code: str | None = text(default=None, doc="The error's code.")
    error_message: str | None = text(default=None, doc="The error in one sentence.")
    facts: Mapping[str, Any] = mapping(default=None, doc="Timings, path taken, SQL, batches …")


#: The fact of a stage run that was skipped though its dataset may not be up to date.
LEFT_OUT = "left_out"


@table(
    "expectations",
    purpose="What the next run of each stage will be like: medians of its last ten successes.",
    read_by="planner, scheduling, people's own BI",
)
class Expectation(Row):
    """What the next run of a stage will be like."""

    pipeline_id: str = key(doc="The pipeline.")
    stage_order: int = key(kind=Kind.WHOLE, doc="The stage.")
    rows_written: int | None = whole(default=None, doc="Rows it will publish.")
    bytes_written: int | None = whole(default=None, doc="Bytes it will write.")
    seconds: float | None = number(default=None, doc="How long it will take.")
    from_runs: int = whole(default=0, doc="How many successes that is learnt from.")


@table(
    "leases",
    purpose="Who may write a place right now; a fencing token keeps a sleeper from writing later.",
    read_by="engine, scheduling, status, why",
)
class Lease(Row):
    """Who may write a place right now."""

    resource: str = key(doc="What is held: a target's location.")
    token: int = whole(default=0, doc="Rises with every taking; never goes back.")
    owner: str | None = text(default=None, doc="The worker; unset: free.")
    host: str | None = text(default=None, doc="The worker's host.")
    pid: int | None = whole(default=None, doc="The worker's process.")
    run_id: str | None = text(default=None, doc="The run it is held for.")
    stage_run_id: str | None = text(default=None, doc="The stage run it is held for.")
    acquired_at: datetime | None = moment(default=None, doc="When it was taken.")
    expires_at: datetime | None = moment(default=None, doc="When it frees itself.")


@table(
    "retention_pass",
    purpose="Up to when events may be forgotten in the transaction under way; never committed.",
    read_by="the trigger that keeps audit_log append-only",
)
class RetentionPass(Row):
    """Leave to forget old events."""

    transaction_id: int = key(
        kind=Kind.WHOLE, doc="PostgreSQL's transaction; 0 on SQLite, which has one writer."
    )
    older_than: datetime = moment(default=None, doc="Only older events.", required=True)


@table(
    "verdicts",
    purpose="What each check said of each stage run.",
    read_by="checks, planner (history), people's own BI",
)
class Verdict(Row):
    """Yes or no, and because."""

    stage_run_id: str = key(doc="The stage run.")
    place: int = key(kind=Kind.WHOLE, doc="The check's place among the stage's checks.")
    run_id: str | None = text(default=None, doc="The run.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    dataset_id: str | None = text(default=None, doc="The dataset looked at.")
    rule_set_id: str | None = text(default=None, doc="The rule set.")
    check_name: str | None = text(default=None, doc="The check: not_null, row_count …")
    settings: Mapping[str, Any] = mapping(default=None, doc="Its settings.")
    severity: str | None = text(default=None, doc="critical, warning or info.")
    on_fail: str | None = text(default=None, doc="fail, quarantine, drop or warn.")
    passed: bool = flag(default=False, doc="It held.")
    broken: int | None = whole(default=None, doc="Rows that broke it.")
    observed: str | None = text(default=None, doc="What was found.")
    expected: str | None = text(default=None, doc="What was wanted.")
    message: str | None = text(default=None, doc="The verdict in one sentence.")
    sample: tuple[Any, ...] = items(default=None, doc="Some broken rows, masked where tagged.")
    duration_ms: float | None = number(default=None, doc="What it took.")
    at: datetime | None = moment(default=None, doc="When it was given.")


@table(
    "input_files",
    purpose="The ledger of files: which stage run consumed which file, for which target.",
    read_by="planner, engine",
)
class InputFile(Row):
    """A file a stage run consumes; it counts once the stage run is published."""

    consumer: str = key(doc="The stage: pipeline_id-stage_order.")
    dataset_id: str = key(doc="The dataset the file belongs to.")
    path: str = key(doc="The file's address, as the catalog says it.")
    stage_run_id: str = key(doc="The stage run that consumes it.")
    size: int | None = whole(default=None, doc="Its size in bytes.")
    etag: str | None = text(default=None, doc="What tells a rewritten file apart.")
    modified_at: datetime | None = moment(default=None, doc="When it was last written.")
    counted: bool = flag(default=False, doc="The stage run was published.")
    superseded_by: str | None = text(
        default=None, doc="The stage run that started over: since it, this counts no more."
    )


@table(
    "input_snapshots",
    purpose="Up to which snapshot of an input a stage run has read.",
    read_by="planner, engine",
)
class InputSnapshot(Row):
    """How far a stage run has read an input table."""

    consumer: str = key(doc="The stage: pipeline_id-stage_order.")
    dataset_id: str = key(doc="The input.")
    stage_run_id: str = key(doc="The stage run that consumes it.")
    snapshot: str | None = text(default=None, doc="The input's snapshot it read up to.")
    at: datetime | None = moment(default=None, doc="When it was written down.")
    counted: bool = flag(default=False, doc="The stage run was published.")
    superseded_by: str | None = text(
        default=None, doc="The stage run that started over: since it, this counts no more."
    )


@table(
    "restores",
    purpose="Lake tables being taken back to an earlier state: what a restart finishes or undoes.",
    read_by="engine",
)
class Restore(Row):
    """A lake table on its way back to an earlier state."""

    restore_id: str = key(doc="The restore.")
    dataset_id: str | None = text(default=None, doc="The dataset.")
    from_snapshot: str | None = text(default=None, doc="Its newest state before.")
    to_snapshot: str | None = text(default=None, doc="The state it goes back to.")
    taken_back: tuple[str, ...] = items(default=None, doc="The stage runs whose rows go.")
    asked_by: str | None = text(default=None, doc="Who asked.")
    started_at: datetime | None = moment(default=None, doc="When it was written down.")
    ended_at: datetime | None = moment(default=None, doc="When it was over.")
    done: bool = flag(default=False, doc="The table went back; unset once it is over: it did not.")


@table(
    "kept_schemas",
    purpose="Schemas that were inferred once and are kept, so that types do not change by the day.",
    read_by="readers",
)
class KeptSchema(Row):
    """The schema of a dataset whose files say none."""

    dataset_id: str = key(doc="The dataset.")
    schema_json: str | None = text(default=None, doc="The schema as Spark's JSON.")
    inferred_at: datetime | None = moment(default=None, doc="When it was last added to.")


@table(
    "sql_facts",
    purpose="What parsing found in a stage's SQL, by the hash of its text.",
    read_by="planner",
)
class SqlFacts(Row):
    """What parsing found in one text."""

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
    *OF_HEALING,
)
