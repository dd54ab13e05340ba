"""Prepare a write: fit the rows to the target's schema and plan the checks to evaluate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation, evaluate
from goldsmith.checks.outcome import CheckOutcome, raised
from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.engine import apply_overrides
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.audit import judge, samples
from goldsmith.engine.audit.check_context import check_context
from goldsmith.engine.pace.targets import load_pace
from goldsmith.engine.personal_data import personal
from goldsmith.engine.quarantine.quarantine_table import QuarantineWriter
from goldsmith.engine.quarantine.row_router import RowRouter
from goldsmith.engine.shape.schema_policy import fit
from goldsmith.engine.write.destinations.destination import Destination, WriteRequest
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.ledgers import replaces_all
from goldsmith.planning.routes import route_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedWrite:
    """A write request for a destination, with the checks that audit it."""

    request: WriteRequest
    #: Checks of the rows to write (scope batch).
    evaluation: Evaluation
    #: Checks of the whole table as it would be published.
    of_table: tuple[PlannedCheck, ...]
    checks_context: Context
    #: How many checks of `evaluation` raised while it was planned.
    raising: int

    def some_check_raises(self) -> bool:
        """After a failed write: whether some check, not the rows themselves, raised."""
        rows = self.request.fitted.rows
        if len(self.evaluation.errors) > self.raising:  # raised while broken rows were quarantined
            return True
        try:
            rows.write.format("noop").mode("overwrite").save()
        except Exception:  # the rows themselves raise
            return False
        self.evaluation.measure(rows)
        return len(self.evaluation.errors) > self.raising

    def outcomes_of_table(self, destination: Destination) -> list[CheckOutcome]:
        """Evaluate the checks of the whole table; a check that cannot be evaluated fails."""
        try:
            rows = destination.as_published(self.request)
        except Exception as error:  # the destination cannot read the staged table
            return [raised(check, error) for check in self.of_table]
        return evaluate(rows, self.of_table, self.checks_context)


def prepare_write(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    destination: Destination,
    rows: DataFrame,
    selection: InputSelection,
) -> PreparedWrite:
    """Fit the rows to the target and build the write request with its checks."""
    context, stage, resolved = attempt.context, attempt.context.stage, attempt.context.resolved
    target = str(stage.target_id)
    if resolved.mode.add_columns is not None:
        rows = resolved.mode.add_columns(
            rows, stage.watermark_column, attempt.loaded_at or attempt.at
        )
    before = destination.schema(rows)
    dropped = apply_overrides.repeats(rows, attempt)
    fitted = fit(rows, before, resolved.schema_policy, target=target, discard=dropped)
    checks_context = check_context(
        spark, attempt, resources, selection, dataset_id=target, schema_before=before
    )
    checks = judge.planned(context.rules, checks_context)
    batch = [check for check in checks if check.scope == "batch"]
    evaluation = Evaluation(fitted.plain.schema, batch, checks_context)
    evaluation.resolve_expressions(fitted.rows)
    router = RowRouter(evaluation=evaluation, discard=fitted.discard)
    keeper = keeper_of(attempt, resources)
    hide = personal(context.target.target if context.target is not None else None)
    request = WriteRequest(
        stage_run_id=attempt.stage_run_id,
        route=route_of(attempt.context),
        fitted=fitted,
        mode=resolved.write_mode,
        keys=stage.keys,
        watermark=stage.watermark_column,
        partition_by=stage.partition_by,
        options=stage.options,
        router=router,
        measure_beside=evaluation.measure_beside if judge.needs_pass(batch) else None,
        keep_broken=lambda broken, repeats: keeper.keep_broken(broken, router, repeats),
        sample_broken_rows=partial(samples.sample_broken_rows, evaluation, hide=hide),
        from_scratch=selection.starts_over,
        replaced_files=selection.rewritten,
        replaced_rows=selection.rows_of,
        table_uuid=_table_added_to(attempt, resources, selection),
        pace=load_pace(attempt, resources),
    )
    return PreparedWrite(
        request=request,
        evaluation=evaluation,
        of_table=tuple(check for check in checks if check.scope != "batch"),
        checks_context=checks_context,
        raising=len(evaluation.errors),
    )


def _table_added_to(
    attempt: Attempt, resources: WorkerResources, selection: InputSelection
) -> str | None:
    """The UUID of the table that the stage adds to; None if all rows are replaced."""
    match = resources.increments.ledger(attempt.context)
    if selection.starts_over or replaces_all(attempt.context) or not match.is_published:
        return None
    return None if match.ledger is None else match.ledger.table_uuid


def keeper_of(attempt: Attempt, resources: WorkerResources) -> QuarantineWriter:
    """The quarantine writer of a stage run."""
    return QuarantineWriter(
        storage=resources.storage,
        target_id=str(attempt.context.stage.target_id),
        stage_run_id=attempt.stage_run_id,
        run_id=attempt.run_id,
    )
