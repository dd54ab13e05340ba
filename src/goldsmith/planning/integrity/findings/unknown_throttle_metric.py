"""A throttle counts something that nobody measures, so it limits nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.snapshot import Snapshot
from goldsmith.catalog.throttles import METRICS, Throttle
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(Gravity.WARNING, reads=(Throttle,))
def unknown_throttle_metric(rows: Snapshot) -> Iterator[Wrong]:
    for throttle in rows.rows(Throttle):
        metric = throttle.metric
        if metric not in METRICS:
            said = "names no metric" if metric is None else f"counts '{metric}'"
            yield Wrong(
                throttle,
                f"Throttle '{throttle.throttle_id}' {said}.",
                f"{did_you_mean(metric or '', METRICS)}Known: {', '.join(METRICS)}.",
            )
