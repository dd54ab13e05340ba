"""A throttle allows more while the catalog cannot be reached than while it can."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.WARNING, reads=(Throttle,))
def safe_threshold_above_threshold(rows: CatalogRows) -> Iterator[FoundProblem]:
    for throttle in rows.rows(Throttle):
        safe, threshold = throttle.safe_threshold, throttle.threshold
        if safe is not None and threshold is not None and safe > threshold:
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' has a safe_threshold of {safe:g}, above its"
                f" threshold of {threshold:g}.",
                "While the catalog cannot be reached, each process uses up to safe_threshold:"
                " lower it, or leave it unset for a tenth of the threshold.",
            )
