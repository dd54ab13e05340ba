"""Scheduled pushes: which warehouse is collected and pushed when, and with which keys."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import choice, flag, key, mapping, names, text, whole
from goldsmith.catalog.rows import Row, table


class PushedFlow(StrEnum):
    """What a scheduled push collects."""

    METADATA = "metadata"
    LINEAGE = "lineage"
    QUERY_LOGS = "query_logs"


@table(
    "push_schedules",
    purpose="Warehouses that are collected and pushed on a schedule; `own` is our own lake.",
    read_by="service",
    takes_effect="at the next due time",
)
class PushSchedule(Row):
    """One flow of one warehouse that is collected and pushed on a schedule."""

    push_schedule_id: str = key(doc="The schedule's name.")
    warehouse: str | None = text(
        default=None, doc="A warehouse of `goldsmith collect`, or own: the tables of our own lake."
    )
    flow: str = choice(default="metadata", choices=PushedFlow, doc="What is collected.")
    connection: Mapping[str, Any] = mapping(
        default=None, doc="The settings of the connection; secrets are references."
    )
    resource_uuid: str | None = text(default=None, doc="The resource in the receiver.")
    resource_type: str | None = text(default=None, doc="Its type; unset: the warehouse's own.")
    include: tuple[str, ...] = names(default=None, doc="Patterns of tables; unset: every table.")
    exclude: tuple[str, ...] = names(default=None, doc="Patterns of tables that are left out.")
    only_volume: bool = flag(default=False, doc="True: freshness and volume, no columns.")
    look_back_hours: int = whole(
        default=24, doc="How far back queries are read; further after a failure.", least=1
    )
    endpoint: str | None = text(default=None, doc="The receiver; unset: Monte Carlo.")
    key_id: str | None = text(
        default="env:MCD_INGEST_ID", doc="A reference to the id of the Ingestion key."
    )
    key_token: str | None = text(default="env:MCD_INGEST_TOKEN", doc="A reference to its secret.")
    schedule: str | None = text(
        default=None, doc="A cron line, an interval, or `after: PIPELINE` for what it publishes."
    )
    enabled: bool = flag(default=True, doc="False: the schedule does not fire.")
