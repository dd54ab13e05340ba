"""Applications: the connectors whose raw records the lakehouse stores, one table for each."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.catalog.columns import choice, key, names, text, whole
from goldsmith.catalog.rows import Row, table


class ApplicationStatus(StrEnum):
    """Whether an application's records are taken."""

    ACTIVE = "ACTIVE"
    WITHDRAWN = "WITHDRAWN"


@table(
    "applications",
    purpose="The applications whose raw records are stored, each in a table of `entity_raw`.",
    read_by="the load API, the service",
    takes_effect="at the next load; its table within 10 minutes",
)
class Application(Row):
    """One application that sends raw records."""

    name: str = key(doc="The name of the application and of its table.")
    status: str = choice(
        default="ACTIVE",
        choices=ApplicationStatus,
        doc="ACTIVE: it has a table and may load; WITHDRAWN: its loads are refused, its table "
        "stays.",
    )
    description: str | None = text(default=None, doc="What it reads.")
    upsert_keys: tuple[str, ...] = names(
        default=None,
        doc="The columns that, with typename and connection_qualified_name, identify a record in "
        "a load with UPSERT; unset: entity_name.",
    )
    retention_days: int | None = whole(
        default=None, doc="How long records are to be kept; nothing deletes by it yet.", least=1
    )
