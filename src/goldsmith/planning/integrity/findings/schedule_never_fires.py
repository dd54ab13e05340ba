"""A schedule cannot be parsed, waits for a pipeline or dataset that does not exist, or names a date
that never occurs."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.upkeep_schedules import CheckSchedule, MaintenanceSchedule
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.schedules import BadSchedule, Schedule, parse

_Scheduled = Pipeline | MaintenanceSchedule | CheckSchedule
_KINDS: tuple[type[_Scheduled], ...] = (Pipeline, MaintenanceSchedule, CheckSchedule)


@catalog_rule(FindingSeverity.ERROR, reads=(*_KINDS, Target))
def schedule_never_fires(rows: CatalogRows) -> Iterator[FoundProblem]:
    for kind in _KINDS:
        for row in rows.rows(kind):
            if row.schedule is None:
                continue
            name = _name(row)
            try:
                schedule = parse(row.schedule)
            except BadSchedule as error:
                yield FoundProblem(row, f"The schedule of {name}: {error}", error.hint)
                continue
            yield from _never(row, name, schedule, rows)


def _never(
    row: _Scheduled, name: str, schedule: Schedule, rows: CatalogRows
) -> Iterator[FoundProblem]:
    for after, table, known in (
        (schedule.after, "pipelines", rows.pipeline_ids),
        (schedule.after_dataset, "targets", [key[0] for key in rows.table(Target)]),
    ):
        if after is not None and after not in known:
            yield FoundProblem(
                row,
                f"{name.capitalize()} runs after '{after}', which has no row in {table}.",
                f"{did_you_mean(after, known)}Correct its schedule.",
            )
    if schedule.on_arrival and not isinstance(row, Pipeline):
        yield FoundProblem(
            row,
            f"The schedule of {name} never fires: files arrive only for a pipeline.",
            "Give it a cron line or an interval.",
        )
    elif not schedule.fires:
        yield FoundProblem(
            row,
            f"The schedule of {name} never fires: '{row.schedule}' names a day that never comes.",
            "Correct the day or the month; `none` means that it runs only on request.",
        )


def _name(row: _Scheduled) -> str:
    match row:
        case Pipeline():
            return f"pipeline '{row.pipeline_id}'"
        case MaintenanceSchedule():
            return f"maintenance '{row.maintenance_id}'"
        case _:
            return f"the checks of '{row.dataset_id}' by '{row.rule_set_id}'"
