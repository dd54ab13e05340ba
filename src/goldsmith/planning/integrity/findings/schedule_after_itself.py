"""Pipelines wait for each other in a circle (`after: …`), so none of them ever starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.circles import circles, drawn
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.schedules import BadSchedule, parse


@catalog_rule(Gravity.ERROR, reads=(Pipeline,))
def schedule_after_itself(rows: Snapshot) -> Iterator[Wrong]:
    after: dict[str, tuple[str]] = {}
    for pipeline in rows.rows(Pipeline):
        text = pipeline.schedule
        if text is not None and text.lstrip()[:5].lower() == "after":
            with suppress(BadSchedule):
                first = parse(text).after
                if first is not None:
                    after[pipeline.pipeline_id] = (first,)
    for circle in circles(after):
        # Read backwards: `a` after `b` is drawn as b → a.
        shown = drawn(circle[:1] + circle[:0:-1])
        for name in circle:
            yield Wrong(
                rows.table(Pipeline)[(name,)],
                f"Pipeline '{name}' waits for itself: {shown}.",
                "Give one of them a time of its own (a cron line or `every 1h`).",
            )
