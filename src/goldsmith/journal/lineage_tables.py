"""The journal's tables of lineage: health, and evidence of edges by origin."""

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


@table(
    "lineage_evidence",
    purpose="Each edge between datasets as one origin reported it; no origin overwrites another.",
    read_by="lineage, findings",
)
class EdgeEvidence(Row):
    """One edge as one origin reported it."""

    from_dataset_id: str = key(doc="The dataset that was read.")
    to_dataset_id: str = key(doc="The dataset that was written.")
    origin: str = key(
        doc="Who reported it: observed (stages that ran), digested (SQL), push_ingest, or another."
    )
    seen_at: datetime | None = moment(default=None, doc="When the origin last reported it.")
    expires_at: datetime | None = moment(
        default=None, doc="From when it counts for nothing; empty: never."
    )
    seen_by: str | None = text(default=None, doc="What saw it: a stage run, a file, an API key.")

    def is_current(self, now: datetime) -> bool:
        """Whether it still counts."""
        return self.expires_at is None or now < self.expires_at


OF_LINEAGE: tuple[type[Row], ...] = (DatasetHealth, EdgeEvidence)
