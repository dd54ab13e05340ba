"""The journal's tables about failures: remedies used, files left out, incidents, messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import choice, items, key, mapping, moment, text, whole
from goldsmith.catalog.rows import Row, table


class RemedyOutcome(StrEnum):
    """Whether a remedy got a stage past its error."""

    PENDING = "pending"
    HELPED = "helped"
    FAILED = "failed"


class IncidentStatus(StrEnum):
    """The status of an incident."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"


class MessageStatus(StrEnum):
    """The status of a message."""

    WAITING = "waiting"
    SENT = "sent"
    CANCELLED = "cancelled"


@table(
    "healing_uses",
    purpose="Each time a remedy was used: for which failure, what it decided, and if it helped.",
    read_by="healing, people's own BI",
)
class HealingUse(Row):
    """One use of one remedy."""

    use_id: str = key(doc="The use.")
    at: datetime | None = moment(default=None, doc="When it was decided.")
    error_code: str | None = text(default=None, doc="The error's code.")
    step_order: int = whole(default=1, doc="1: of healing_actions; 2, 3 …: of healing_steps.")
    remedy: str | None = text(default=None, doc="The remedy, spelled as in its row.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    request_id: str | None = text(default=None, doc="The request that is retried.")
    run_id: str | None = text(default=None, doc="The run that failed.")
    stage_run_id: str | None = text(default=None, doc="The stage run that failed.")
    did: str | None = text(
        default=None, doc="rerun, skip or hold; failed: the remedy itself failed."
    )
    because: str | None = text(default=None, doc="Why, in one sentence.")
    adjust: Mapping[str, Any] = mapping(default=None, doc="What the next attempt does differently.")
    outcome: str = choice(
        default="pending", choices=RemedyOutcome, doc="Whether the next attempt passed the error."
    )
    judged_at: datetime | None = moment(default=None, doc="When the outcome was recorded.")


@table(
    "files_aside",
    purpose="Files that could not be read: stages leave them out until they are rewritten.",
    read_by="planner, engine",
)
class FileAside(Row):
    """A file that stages leave out until it is rewritten."""

    dataset_id: str = key(doc="The dataset it belongs to.")
    path: str = key(doc="The file's address, spelled as in the catalog.")
    etag: str = key(doc="The version left out: a rewritten file is read again.")
    size: int | None = whole(default=None, doc="Its size in bytes.")
    error_code: str | None = text(default=None, doc="Why: the error's code.")
    because: str | None = text(default=None, doc="Why, in one sentence.")
    stage_run_id: str | None = text(default=None, doc="The stage run that failed on it.")
    at: datetime | None = moment(default=None, doc="When it was first left out.")


@table(
    "incidents",
    purpose="Problems that need a person: failures that did not heal, stale datasets.",
    read_by="incidents, status, why, people's own BI",
)
class Incident(Row):
    """A failure or stale dataset that needs a person."""

    incident_id: str = key(doc="The incident.")
    status: str = choice(default="open", choices=IncidentStatus, doc="The incident's status.")
    severity: str | None = text(default=None, doc="A severity of `severities`: P1 is the worst.")
    about: str | None = text(default=None, doc="Its subject; each has at most one open incident.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    dataset_id: str | None = text(default=None, doc="The dataset that is not up to date.")
    error_code: str | None = text(default=None, doc="The error's code; DatasetStale: too old.")
    cause: str | None = text(default=None, doc="What happened, in one sentence.")
    runbook: str | None = text(default=None, doc="What to do about it.")
    tried: tuple[str, ...] = items(default=None, doc="What healing tried.")
    affected: tuple[str, ...] = items(default=None, doc="Datasets downstream of it.")
    owner: str | None = text(default=None, doc="Who owns the pipeline.")
    request_id: str | None = text(default=None, doc="The request.")
    run_id: str | None = text(default=None, doc="The run.")
    times: int = whole(default=1, doc="How often it happened while the incident was open.")
    opened_at: datetime | None = moment(default=None, doc="When it was opened.")
    last_at: datetime | None = moment(default=None, doc="When it happened last.")
    acknowledged_by: str | None = text(default=None, doc="Who works on it.")
    acknowledged_at: datetime | None = moment(default=None, doc="When it was acknowledged.")
    closed_by: str | None = text(default=None, doc="Who closed it; goldsmith: it resolved itself.")
    closed_at: datetime | None = moment(default=None, doc="When it was closed.")
    because: str | None = text(default=None, doc="Why it was closed.")


@table(
    "outbox",
    purpose="Messages to people: each waits until its receiver accepts it.",
    read_by="notifications",
)
class Message(Row):
    """A message to one receiver."""

    message_id: str = key(doc="Route, incident and severity; the same is not sent twice.")
    route_id: str | None = text(default=None, doc="The route.")
    incident_id: str | None = text(default=None, doc="The incident.")
    body: Mapping[str, Any] = mapping(default=None, doc="What is sent.")
    status: str = choice(default="waiting", choices=MessageStatus, doc="The message's status.")
    attempts: int = whole(default=0, doc="How often sending was tried.")
    not_before: datetime | None = moment(default=None, doc="Not sent earlier.")
    last_error: str | None = text(default=None, doc="The receiver's last error.")
    written_at: datetime | None = moment(default=None, doc="When it was written.")
    sent_at: datetime | None = moment(default=None, doc="When the receiver accepted it.")


OF_HEALING: tuple[type[Row], ...] = (HealingUse, FileAside, Incident, Message)
