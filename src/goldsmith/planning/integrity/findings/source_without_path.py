"""A source that no stage writes has no s3_path, so the location of its files is not known."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.ERROR, reads=(Source, Target, Stage))
def source_without_path(rows: CatalogRows) -> Iterator[FoundProblem]:
    for source in rows.rows(Source):
        if source.s3_path or source.source_id in rows.writers_of:
            continue
        target = rows.get(Target, source.source_id)
        if target is None or not target.location:
            yield FoundProblem(
                source,
                f"Source '{source.source_id}' has no s3_path, and no stage writes it.",
                "Set s3_path to where its files lie, or add the stage that writes it.",
            )
