"""The breaker of a dataset: down after failed probes in a row, up after being well for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from goldsmith.journal.lineage_tables import DatasetHealth, HealthStatus
from goldsmith.settings.sections import HealthSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaker:
    """When a dataset counts as down, and when as healthy again."""

    #: Failed probes in a row.
    down_after: int = 2
    #: How long every probe must succeed before the dataset is used again.
    well_for: timedelta = timedelta(seconds=60)

    @classmethod
    def of(cls, health: HealthSettings) -> Breaker:
        """The breaker of the settings."""
        return cls(
            down_after=max(1, health.down_after), well_for=timedelta(seconds=health.well_for_sec)
        )


def after_probe(
    before: DatasetHealth | None,
    dataset_id: str,
    problem: str | None,
    at: datetime,
    breaker: Breaker,
) -> DatasetHealth:
    """The health after one probe; `problem` is None if the probe succeeded."""
    known = before or DatasetHealth(dataset_id=dataset_id, since=at)
    is_down = known.status == HealthStatus.DOWN
    if problem is not None:
        failures = known.failures + 1
        goes_down = not is_down and failures >= breaker.down_after
        return known.with_(
            status=HealthStatus.DOWN if is_down or goes_down else HealthStatus.HEALTHY,
            since=at if goes_down else known.since,
            checked_at=at,
            failures=failures,
            well_since=None,
            because=problem,
        )
    if not is_down:
        return known.with_(checked_at=at, failures=0, well_since=None, because=None)
    well_since = known.well_since or at
    if at - well_since < breaker.well_for:
        seconds = f"{breaker.well_for.total_seconds():g} s"
        why = f"well since {well_since:%H:%M:%S}, used again after {seconds}"
        return known.with_(checked_at=at, failures=0, well_since=well_since, because=why)
    return known.with_(
        status=HealthStatus.HEALTHY,
        since=at,
        checked_at=at,
        failures=0,
        well_since=None,
        because=None,
    )
