"""The schedules of pipelines form a cycle (`after: …`), so none of them ever starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.cycles import circles, drawn
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.schedules import BadSchedule, parse


@catalog_rule(FindingSeverity.ERROR, reads=(Pipeline,))
def schedule_after_itself(rows: CatalogRows) -> Iterator[FoundProblem]:
    after: dict[str, tuple[str]] = {}
    for pipeline in rows.rows(Pipeline):
        text = pipeline.schedule
        if text is not None and text.lstrip()[:5].lower() == "after":
            with suppress(BadSchedule):
                first = parse(text).after
                if first is not None:
                    after[pipeline.pipeline_id] = (first,)
    for circle in circles(after):
        # Reverse the cycle: `a` after `b` is shown as b → a.
        shown = drawn(circle[:1] + circle[:0:-1])
        for name in circle:
            yield FoundProblem(
                rows.table(Pipeline)[(name,)],
                f"Pipeline '{name}' waits for itself: {shown}.",
                "Give one of them a time of its own (a cron line or `every 1h`).",
            )
