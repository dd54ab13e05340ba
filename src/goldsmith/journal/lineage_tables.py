"""The journal's tables of lineage: health, and evidence of edges by origin."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from goldsmith.catalog.columns import (
    ColumnKind,
    choice,
    flag,
    key,
    moment,
    number,
    text,
    whole,
)
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


@table(
    "cut_sources",
    purpose="Sources that a live drill cuts off: no run of the environment reads them meanwhile.",
    read_by="planner, datasets health",
)
class CutSource(Row):
    """One source that a drill cuts off."""

    dataset_id: str = key(doc="The dataset.")
    environment: str = key(doc="The environment whose runs must not read it.")
    drill_id: str | None = text(default=None, doc="The drill.")
    cut_at: datetime | None = moment(default=None, doc="From when.")
    ends_at: datetime | None = moment(
        default=None, doc="Until when; the cut ends by itself if the drill dies."
    )
    actor: str | None = text(default=None, doc="Who cut it off.")


@table(
    "computed_paths",
    purpose="The cheapest paths to each dataset, computed from stages and lineage edges.",
    read_by="paths",
)
class ComputedPath(Row):
    """One computed path to a dataset."""

    dataset_id: str = key(doc="The dataset wanted.")
    path_order: int = key(kind=ColumnKind.WHOLE, doc="1, 2, 3 … the cheapest first.")
    path_sequence: str | None = text(
        default=None, doc="Comma list of datasets from the origin to the one wanted."
    )
    cost: float | None = number(default=None, doc="What the path costs.")
    latency_sec: float | None = number(
        default=None, doc="How long its slowest chain of steps takes; empty: not known."
    )
    can_run: bool = flag(default=True, doc="Whether stages run every step of it.")
    computed_at: datetime | None = moment(default=None, doc="When it was first computed like this.")
    revision: int | None = whole(
        default=None, doc="The catalog revision it was first computed like this from."
    )


@table(
    "computed_revisions",
    purpose="The catalog revision that each computed table was last brought up to.",
    read_by="paths",
)
class ComputedRevision(Row):
    """The catalog revision that a computed table is up to date with."""

    computed_table: str = key(doc="The table.")
    revision: int | None = whole(default=None, doc="The catalog revision.")
    computed_at: datetime | None = moment(default=None, doc="When.")


OF_LINEAGE: tuple[type[Row], ...] = (
    DatasetHealth,
    EdgeEvidence,
    CutSource,
    ComputedPath,
    ComputedRevision,
)
