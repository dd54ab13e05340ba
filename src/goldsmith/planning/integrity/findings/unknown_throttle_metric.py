"""A throttle has no metric, or one that is not measured, so it limits nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttle_metrics import metric_names, metric_of
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(Throttle,))
def unknown_throttle_metric(rows: CatalogRows) -> Iterator[FoundProblem]:
    for throttle in rows.rows(Throttle):
        metric = throttle.metric
        if metric_of(metric) is None:
            problem = "names no metric" if metric is None else f"counts '{metric}'"
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' {problem}.",
                f"{did_you_mean(metric or '', metric_names())}Known: {', '.join(metric_names())}.",
            )
