"""A target has no location, so its rows cannot be written."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.ERROR, reads=(Target,))
def target_without_location(rows: CatalogRows) -> Iterator[FoundProblem]:
    for target in rows.rows(Target):
        if not target.location:
            yield FoundProblem(
                target,
                f"Target '{target.target_id}' has no location.",
                "Set location: an S3 prefix for a lake table, schema.table for a warehouse.",
            )
