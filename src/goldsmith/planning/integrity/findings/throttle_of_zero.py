"""A throttle's threshold is zero, less, or missing: nothing could ever pass it."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.snapshot import Snapshot
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule


@catalog_rule(Gravity.ERROR, reads=(Throttle,))
def throttle_of_zero(rows: Snapshot) -> Iterator[Wrong]:
    for throttle in rows.rows(Throttle):
        threshold = throttle.threshold
        if threshold is None or not threshold > 0:
            said = "no threshold" if threshold is None else f"a threshold of {threshold:g}"
            yield Wrong(
                throttle,
                f"Throttle '{throttle.throttle_id}' on '{throttle.entity_id}' has {said}.",
                "Give it a threshold above zero, or remove the row for no limit. To stop a dataset"
                " use a control flag.",
            )
