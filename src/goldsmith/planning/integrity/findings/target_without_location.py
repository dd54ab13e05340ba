"""A target has no location, so nobody knows where its rows go."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule


@catalog_rule(Gravity.ERROR, reads=(Target,))
def target_without_location(rows: Snapshot) -> Iterator[Wrong]:
    for target in rows.rows(Target):
        if not target.location:
            yield Wrong(
                target,
                f"Target '{target.target_id}' has no location.",
                "Set location: an S3 prefix for a lake table, schema.table for a warehouse.",
            )
