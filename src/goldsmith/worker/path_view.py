"""Show the paths to a dataset: their cost, the age of their data, and their health now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.edges import RecoveryPath
from goldsmith.journal import health
from goldsmith.journal.lineage_tables import HealthStatus
from goldsmith.lineage.paths import Path, Paths, find_paths
from goldsmith.lineage.walk import number_of
from goldsmith.planning.stage_context import dataset_of
from goldsmith.runtime import Runtime
from goldsmith.worker.computed_paths import keep_computed
from goldsmith.worker.drill import last_data
from goldsmith.worker.incidents import freshness
from goldsmith.worker.lineage_view import current_graph
from goldsmith.worker.probes import Probes


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownWays:
    """The paths to one dataset, those that people wrote first, with their health."""

    found: Paths
    declared: list[dict[str, Any]]
    #: One entry for each of `found.cheapest`.
    listed: list[dict[str, Any]]

    def as_plain(self) -> dict[str, Any]:
        return {
            "dataset_id": self.found.dataset,
            "count": self.found.count,
            "declared": self.declared,
            "paths": self.listed,
            "is_cut": self.found.is_cut,
            "cycles": [list(cycle) for cycle in self.found.cycles],
        }


def ways_to(
    runtime: Runtime, dataset_id: str, *, most: int, downs: Collection[str], probes: bool
) -> KnownWays:
    """Count the paths to a dataset, and return the cheapest with the health of each.

    With `probes` the datasets at the start of the listed paths are probed.
    """
    graph = current_graph(runtime)
    for name in downs:
        number_of(graph, name)
    found = find_paths(graph, dataset_id, most=most, forbidden=downs)
    keep_computed(runtime)
    rows = runtime.catalog_indexer.catalog_index().rows.rows(RecoveryPath)
    written = sorted(
        (row for row in rows if row.dataset_id == dataset_id and row.computed_at is None),
        key=lambda row: row.path_order,
    )
    state = _State(runtime, probes=probes)
    declared = [
        {
            "path_order": row.path_order,
            "path_sequence": row.path_sequence,
            "cost": row.cost,
            **state.of(_names(row.path_sequence)),
        }
        for row in written
        if not any(name in downs for name in _names(row.path_sequence))
    ]
    listed = [_plain(way) | state.of(way.datasets, way.starts) for way in found.cheapest]
    return KnownWays(found=found, declared=declared, listed=listed)


class _State:
    """The health of paths right now, and the age of the data they begin at."""

    def __init__(self, runtime: Runtime, *, probes: bool) -> None:
        self._rows = runtime.catalog_indexer.catalog_index().rows
        self._probes = Probes.of_service(runtime) if probes else None
        ages = {entry.dataset_id: entry.last_update for entry in freshness(runtime)}
        self._last_data = last_data(runtime, ages)
        self._down = {
            row.dataset_id: row.because or "a probe failed"
            for row in health.all_health(runtime.journal)
            if row.status == HealthStatus.DOWN
        }
        self._probed: dict[str, tuple[str | None, datetime | None]] = {}

    def of(self, datasets: Collection[str], starts: Collection[str] = ()) -> dict[str, Any]:
        """Whether a path is healthy, why not, and how old the newest data of its origins is."""
        origins = starts or list(datasets)[:1]
        reasons = {name: self._down[name] for name in datasets if name in self._down}
        newest: list[datetime | None] = []
        for name in origins if self._probes is not None else ():
            because, last = self._look(name)
            newest.append(last)
            if because is not None:
                reasons.setdefault(name, because)
        known = [at for at in newest if at is not None]
        stale = None
        if known and len(known) == len(newest):
            stale = round((datetime.now(UTC) - min(known)).total_seconds(), 1)
        return {
            "healthy": not reasons,
            "because": "; ".join(f"{name}: {why}" for name, why in reasons.items()) or None,
            "stale_sec": stale,
        }

    def _look(self, name: str) -> tuple[str | None, datetime | None]:
        if name not in self._rows.dataset_ids:
            return "it has no row in sources or targets", None
        if name not in self._probed:
            assert self._probes is not None
            because = self._probes.problem(dataset_of(name, self._rows))
            last = self._last_data(name) if because is None else None
            self._probed[name] = because, last
        return self._probed[name]


def _names(sequence: str | None) -> list[str]:
    return [name.strip() for name in (sequence or "").split(",") if name.strip()]


def _plain(way: Path) -> dict[str, Any]:
    return {
        "path_sequence": way.sequence,
        "cost": way.cost,
        "latency_sec": way.latency_sec,
        "starts": list(way.starts),
        "steps": [step.name for step in way.steps],
        "runs": all(step.runs for step in way.steps),
    }
