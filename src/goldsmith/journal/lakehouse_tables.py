"""The table of loads into the raw lakehouse: what was submitted, and what became of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import choice, items, key, moment, text, whole
from goldsmith.catalog.rows import Row, table


class LoadStatus(StrEnum):
    """What became of a load; in capitals, as clients compare it."""

    ACCEPTED = "ACCEPTED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


class LoadMode(StrEnum):
    """How a load adds its records."""

    APPEND = "APPEND"
    UPSERT = "UPSERT"


@table(
    "lakehouse_loads",
    purpose="Each load into the raw lakehouse: its files, its status and its rows.",
    read_by="the load API, the service",
)
class RawLoad(Row):
    """One load of files into the table of an application."""

    load_id: str = key(doc="The load: the jobId of the API, and goldsmith.load-id of its snapshot.")
    tenant_id: str | None = text(default=None, doc="The tenant.")
    table_name: str | None = text(default=None, doc="The application.")
    mode: str = choice(default="APPEND", choices=LoadMode, doc="How records are added.")
    patterns: tuple[str, ...] = items(default=None, doc="The patterns as they were sent.")
    file_keys: tuple[str, ...] = items(default=None, doc="The file keys as they were sent.")
    files: tuple[Any, ...] = items(
        default=None, doc="The files they matched when it was submitted, with etags and sizes."
    )
    #: Empty once the load has failed or was canceled, so that it may be submitted again.
    content_hash: str | None = text(
        default=None, doc="SHA-256 of tenant, table, mode and files; unique among loads."
    )
    status: str = choice(default="ACCEPTED", choices=LoadStatus, doc="What became of it.")
    problem: str | None = text(default=None, doc="Why it failed, in a sentence.")
    matched_files: int | None = whole(default=None, doc="How many files matched.")
    rows_loaded: int | None = whole(default=None, doc="How many records it added.")
    snapshot_id: str | None = text(default=None, doc="The snapshot of the table it committed.")
    attempt_count: int = whole(default=0, doc="How often a service began it.")
    owner: str | None = text(default=None, doc="The process that carries it out.")
    owned_until: datetime | None = moment(
        default=None, doc="When another process may take it over."
    )
    submitted_at: datetime | None = moment(default=None, doc="When it was submitted.")
    started_at: datetime | None = moment(default=None, doc="When it was first begun.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")


OF_LAKEHOUSE: tuple[type[Row], ...] = (RawLoad,)
