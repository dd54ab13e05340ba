"""A schedule of maintenance or checks names nothing that it could work on, so it does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.upkeep_schedules import CheckSchedule, MaintenanceSchedule, MaintenanceTask
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(
    FindingSeverity.ERROR, reads=(MaintenanceSchedule, CheckSchedule, RuleSet, Target, Stage)
)
def upkeep_of_nothing(rows: CatalogRows) -> Iterator[FoundProblem]:
    for row in rows.rows(MaintenanceSchedule):
        name = row.maintenance_id
        if row.task == MaintenanceTask.FORGET:
            if row.keep_days is None:
                yield FoundProblem(
                    row,
                    f"Maintenance '{name}' deletes nothing: it has no keep_days.",
                    "Set keep_days to the number of days of events and runs to keep.",
                )
        elif row.dataset_id is not None and row.dataset_id not in rows.writers_of:
            yield FoundProblem(
                row,
                f"Maintenance '{name}' is of '{row.dataset_id}', which no stage writes.",
                f"{did_you_mean(row.dataset_id, rows.writers_of)}Correct dataset_id, or leave it"
                " out for every dataset that a stage writes.",
            )
    targets = [key[0] for key in rows.table(Target)]
    rule_sets = [key[0] for key in rows.table(RuleSet)]
    for check in rows.rows(CheckSchedule):
        for value, table, known in (
            (check.rule_set_id, "validation_rules", rule_sets),
            (check.dataset_id, "targets", targets),
        ):
            if value not in known:
                yield FoundProblem(
                    check,
                    f"Scheduled checks name '{value}', which has no row in {table}.",
                    f"{did_you_mean(value, known)}Correct the row in check_schedules.",
                )
