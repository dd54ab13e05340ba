"""A limit of a throttle is missing, zero or negative, so nothing could ever run."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.ERROR, reads=(Throttle,))
def throttle_of_zero(rows: CatalogRows) -> Iterator[FoundProblem]:
    for throttle in rows.rows(Throttle):
        threshold = throttle.threshold
        if threshold is None or not threshold > 0:
            problem = "no threshold" if threshold is None else f"a threshold of {threshold:g}"
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' on '{throttle.entity_id}' has {problem}.",
                "Give it a threshold above zero, or remove the row for no limit. To stop a dataset"
                " use a control flag.",
            )
        for name in ("burst", "safe_threshold"):
            value = getattr(throttle, name)
            if value is not None and not value > 0:
                yield FoundProblem(
                    throttle,
                    f"Throttle '{throttle.throttle_id}' has a {name} of {value:g}.",
                    f"Give it a {name} above zero, or leave it unset for the default.",
                )
