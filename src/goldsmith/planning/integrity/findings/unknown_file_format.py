"""A source's file_format is none we can read."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import FILE_FORMATS, Source
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(Gravity.ERROR, reads=(Source,))
def unknown_file_format(rows: Snapshot) -> Iterator[Wrong]:
    for source in rows.rows(Source):
        written = source.file_format
        if written is not None and written not in FILE_FORMATS:
            yield Wrong(
                source,
                f"Source '{source.source_id}' has the file_format '{written}', which is not known.",
                f"{did_you_mean(written, FILE_FORMATS)}Known: {', '.join(FILE_FORMATS)}.",
            )
