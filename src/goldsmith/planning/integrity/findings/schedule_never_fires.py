"""A pipeline's schedule cannot be parsed, waits for a pipeline that does not exist, or names a date
that never occurs."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.schedules import BadSchedule, parse


@catalog_rule(FindingSeverity.ERROR, reads=(Pipeline,))
def schedule_never_fires(rows: CatalogRows) -> Iterator[FoundProblem]:
    for pipeline in rows.rows(Pipeline):
        text = pipeline.schedule
        if text is None:
            continue
        name = pipeline.pipeline_id
        try:
            schedule = parse(text)
        except BadSchedule as error:
            yield FoundProblem(pipeline, f"The schedule of pipeline '{name}': {error}", error.hint)
            continue
        if schedule.after is not None and schedule.after not in rows.pipeline_ids:
            yield FoundProblem(
                pipeline,
                f"Pipeline '{name}' runs after '{schedule.after}', which has no row in pipelines.",
                f"{did_you_mean(schedule.after, rows.pipeline_ids)}Correct its schedule.",
            )
        elif not schedule.fires:
            yield FoundProblem(
                pipeline,
                f"The schedule of pipeline '{name}' never fires: '{text}' names a day that never"
                " comes.",
                "Correct the day or the month; `none` means that it runs only on request.",
            )
