"""The tables of pushes: each push with its receiver, and the batches that arrived."""

from __future__ import annotations

from datetime import datetime

from goldsmith.catalog.columns import key, moment, text, whole
from goldsmith.catalog.rows import Row, table


@table(
    "pushes",
    purpose="Each push of a manifest: resource, flow, when, and why sooner than an hour.",
    read_by="push",
)
class Push(Row):
    """One push of a manifest to a receiver."""

    push_id: str = key(doc="The push.")
    resource_uuid: str | None = text(default=None, doc="The resource the items belong to.")
    flow: str | None = text(default=None, doc="metadata, lineage or query_logs.")
    receiver: str | None = text(default=None, doc="The address of the receiver.")
    manifest_hash: str | None = text(default=None, doc="SHA-256 of the manifest's items.")
    started_at: datetime | None = moment(default=None, doc="When it started.")
    ended_at: datetime | None = moment(default=None, doc="When the last batch was accepted.")
    item_count: int | None = whole(default=None, doc="Items sent.")
    override_reason: str | None = text(default=None, doc="Why it did not wait for the hour.")
    requested_by: str | None = text(default=None, doc="Who pushed.")


@table(
    "push_batches",
    purpose="Each accepted batch of a push with its invocation id; a killed push resumes here.",
    read_by="push",
)
class PushBatch(Row):
    """One batch that the receiver accepted."""

    push_id: str = key(doc="The push.")
    body_hash: str = key(doc="SHA-256 of the body.")
    invocation_id: str | None = text(default=None, doc="The receiver's id of the request.")
    item_count: int | None = whole(default=None, doc="Items of the batch.")
    accepted_at: datetime | None = moment(default=None, doc="When the receiver accepted it.")


OF_PUSH: tuple[type[Row], ...] = (Push, PushBatch)
