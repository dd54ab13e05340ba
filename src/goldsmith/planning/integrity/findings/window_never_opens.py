"""The window in which a pipeline may run cannot be read, or never opens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.run_windows import BadRunWindow, next_open

_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@catalog_rule(FindingSeverity.ERROR, reads=(Pipeline,))
def window_never_opens(rows: CatalogRows) -> Iterator[FoundProblem]:
    for pipeline in rows.rows(Pipeline):
        try:
            next_open(pipeline.run_window, _SOME_DAY)
        except BadRunWindow as error:
            sentence = f"Pipeline '{pipeline.pipeline_id}' can never run: {error}"
            yield FoundProblem(pipeline, sentence, error.hint)
