"""The journal's tables about failures: remedies used, files set aside, incidents, messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import items, key, mapping, moment, text, whole, word
from goldsmith.catalog.rows import Row, table


class Outcome(StrEnum):
    """Whether a remedy got a stage past its error."""

    PENDING = "pending"
    HELPED = "helped"
    FAILED = "failed"


class IncidentStatus(StrEnum):
    """Where an incident stands."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"


class MessageStatus(StrEnum):
    """Where a message stands."""

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
    remedy: str | None = text(default=None, doc="The remedy, as its row says it.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    request_id: str | None = text(default=None, doc="The request that is tried again.")
    run_id: str | None = text(default=None, doc="The run that failed.")
    stage_run_id: str | None = text(default=None, doc="The stage run that failed.")
    did: str | None = text(default=None, doc="rerun, skip or hold.")
    because: str | None = text(default=None, doc="Why, in one sentence.")
    adjust: Mapping[str, Any] = mapping(default=None, doc="What the next attempt does otherwise.")
    outcome: str = word(default="pending", words=Outcome, doc="Did the next attempt get past it?")
    judged_at: datetime | None = moment(default=None, doc="When that was known.")


@table(
    "files_aside",
    purpose="Files that could not be read and are left out until somebody writes them anew.",
    read_by="planner, engine",
)
class FileAside(Row):
    """A file that is not read as it is."""

    dataset_id: str = key(doc="The dataset it belongs to.")
    path: str = key(doc="The file's address, as the catalog says it.")
    etag: str = key(doc="The file as it was: one that is written anew is read again.")
    size: int | None = whole(default=None, doc="Its size in bytes.")
    error_code: str | None = text(default=None, doc="Why: the error's code.")
    because: str | None = text(default=None, doc="Why, in one sentence.")
    stage_run_id: str | None = text(default=None, doc="The stage run that failed on it.")
    at: datetime | None = moment(default=None, doc="When it was set aside.")


@table(
    "incidents",
    purpose="What people have to see to: failures that did not heal, datasets gone stale.",
    read_by="incidents, status, why, people's own BI",
)
class Incident(Row):
    """Something a person has to see to."""

    incident_id: str = key(doc="The incident.")
    status: str = word(default="open", words=IncidentStatus, doc="Where it stands.")
    severity: str | None = text(default=None, doc="As `severities` says: P1 is the worst.")
    about: str | None = text(default=None, doc="What it is about; one open incident for each.")
    pipeline_id: str | None = text(default=None, doc="The pipeline.")
    stage_order: int | None = whole(default=None, doc="The stage.")
    dataset_id: str | None = text(default=None, doc="The dataset that is not up to date.")
    error_code: str | None = text(default=None, doc="The error's code; DatasetStale: too old.")
    cause: str | None = text(default=None, doc="What happened, in one sentence.")
    runbook: str | None = text(default=None, doc="What to do about it.")
    tried: tuple[str, ...] = items(default=None, doc="What healing tried.")
    affected: tuple[str, ...] = items(default=None, doc="Datasets downstream of it.")
    owner: str | None = text(default=None, doc="Who is told.")
    request_id: str | None = text(default=None, doc="The request.")
    run_id: str | None = text(default=None, doc="The run.")
    times: int = whole(default=1, doc="How often it happened while the incident was open.")
    opened_at: datetime | None = moment(default=None, doc="When it was opened.")
    last_at: datetime | None = moment(default=None, doc="When it happened last.")
    acknowledged_by: str | None = text(default=None, doc="Who looks after it.")
    acknowledged_at: datetime | None = moment(default=None, doc="Since when.")
    closed_by: str | None = text(default=None, doc="Who closed it; goldsmith: it passed.")
    closed_at: datetime | None = moment(default=None, doc="When.")
    because: str | None = text(default=None, doc="Why it was closed.")


@table(
    "outbox",
    purpose="Messages to people: waiting until the receiver took them.",
    read_by="notifications",
)
class Message(Row):
    """A message on its way to one receiver."""

    message_id: str = key(doc="What it says to whom; the same is not sent twice.")
    route_id: str | None = text(default=None, doc="The route.")
    incident_id: str | None = text(default=None, doc="The incident.")
    body: Mapping[str, Any] = mapping(default=None, doc="What is sent.")
    status: str = word(default="waiting", words=MessageStatus, doc="Where it stands.")
    attempts: int = whole(default=0, doc="How often it was tried.")
    not_before: datetime | None = moment(default=None, doc="Not tried earlier.")
    last_error: str | None = text(default=None, doc="What the receiver said last.")
    written_at: datetime | None = moment(default=None, doc="When it was written.")
    sent_at: datetime | None = moment(default=None, doc="When it was taken.")


OF_HEALING: tuple[type[Row], ...] = (HealingUse, FileAside, Incident, Message)
