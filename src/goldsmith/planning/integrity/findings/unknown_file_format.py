"""A source's file_format is not supported."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.ERROR, reads=(Source,))
def unknown_file_format(rows: CatalogRows) -> Iterator[FoundProblem]:
    for source in rows.rows(Source):
        written = source.file_format
        if written is not None and written not in FORMATS:
            yield FoundProblem(
                source,
                f"Source '{source.source_id}' has the file_format '{written}', which is not known.",
                f"{did_you_mean(written, FORMATS.names())}Known: {', '.join(FORMATS.names())}.",
            )
