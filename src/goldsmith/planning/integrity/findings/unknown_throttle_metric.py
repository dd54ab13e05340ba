"""A throttle has no metric, or one that is not measured, so it limits nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import METRICS, Throttle
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(Throttle,))
def unknown_throttle_metric(rows: CatalogRows) -> Iterator[FoundProblem]:
    for throttle in rows.rows(Throttle):
        metric = throttle.metric
        if metric not in METRICS:
            problem = "names no metric" if metric is None else f"counts '{metric}'"
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' {problem}.",
                f"{did_you_mean(metric or '', METRICS)}Known: {', '.join(METRICS)}.",
            )
