"""The journal's table of dataset health, as probes found it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from goldsmith.catalog.columns import choice, key, moment, text, whole
from goldsmith.catalog.rows import Row, table


class HealthStatus(StrEnum):
    """Whether a dataset may be read."""

    HEALTHY = "healthy"
    DOWN = "down"


@table(
    "dataset_health",
    purpose="Whether each probed dataset can be read, since when, and why not.",
    read_by="planner, datasets health, gates",
)
class DatasetHealth(Row):
    """The health of one dataset."""

    dataset_id: str = key(doc="The dataset.")
    status: HealthStatus = choice(
        choices=HealthStatus, default=HealthStatus.HEALTHY, doc="healthy or down."
    )
    since: datetime | None = moment(default=None, doc="When it got this status.")
    checked_at: datetime | None = moment(default=None, doc="When it was last probed.")
    failures: int = whole(default=0, doc="Failed probes in a row.")
    well_since: datetime | None = moment(
        default=None, doc="While down: the first of the good probes in a row."
    )
    because: str | None = text(default=None, doc="Why it is down, or what the last probe found.")


OF_LINEAGE: tuple[type[Row], ...] = (DatasetHealth,)
