"""Audit a stage run: its input before it is shaped, its rows before they are published."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from goldsmith.checks.evaluate import evaluate
from goldsmith.engine import faults, ledger
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.audit import judge
from goldsmith.engine.audit.check_context import check_context
from goldsmith.engine.personal_data import masked_outcomes, personal
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.engine.read.inputs import InputRows
from goldsmith.engine.stage_write import StagedStage
from goldsmith.engine.write.destinations.destination import Destination
from goldsmith.journal import stage_runs
from goldsmith.planning.input_selection import InputSelection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pre_check(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    found: InputRows,
    selection: InputSelection,
) -> None:
    """Evaluate the pre-checks on the input; they cannot quarantine or drop rows."""
    context = attempt.context
    if context.pre_rules is None or not context.inputs:
        return
    first = context.inputs[0].dataset_id
    checks_context = check_context(spark, attempt, resources, selection, dataset_id=first)
    after = len(context.rules.check_def) if context.rules is not None else 0
    checks = judge.planned(context.pre_rules, checks_context, first=after)
    started = time.monotonic()
    hide = personal(context.inputs[0].target) | personal(context.target and context.target.target)
    outcomes = masked_outcomes(evaluate(found.rows[first], checks, checks_context), hide)
    took = time.monotonic() - started
    judged = judge.judge(
        outcomes,
        marks=_marks(attempt, first),
        seconds=dict.fromkeys((check.index for check in checks), took),
        rows_go=False,
    )
    with resources.journal.writing(lasts=False) as connection:
        ledger.keep_verdicts(connection, judged.verdicts)
    faults.reach("verdicts-noted")
    if judged.failures:
        raise judge.CheckFailed(target=first, failures=judged.failures)


def audit_rows(
    attempt: Attempt,
    resources: WorkerResources,
    held_lease: HeldLease,
    destination: Destination,
    staged: StagedStage,
) -> None:
    """Audit the staged rows and record the verdicts; raise if a critical check failed.

    If the rows may be published, the transaction is durable, and with it everything that the
    stage run has recorded so far.
    """
    target = str(attempt.context.stage.target_id)
    steps, facts = ["audit"], staged.counts.as_facts()
    if staged.prepared.of_table:  # only these checks take long enough to record the step now
        stage_runs.step(resources.journal, attempt.stage_run_id, *steps, facts=facts)
        steps, facts = [], {}
    judged = _judge(attempt, destination, staged)
    publishes = not judged.failures and attempt.run_options.limit is None
    if not judged.failures:
        faults.reach("audited")
    # Renew the lease last: a stage run that lost it, or cannot renew it, publishes nothing.
    with resources.journal.writing(lasts=publishes) as connection:
        is_mine = held_lease.renew(connection)
        if is_mine:
            ledger.keep_verdicts(connection, judged.verdicts)
            steps += ["publish"] if publishes else []
            if steps:
                stage_runs.step(
                    resources.journal,
                    attempt.stage_run_id,
                    *steps,
                    facts=facts,
                    connection=connection,
                )
    if not is_mine:
        held_lease.ensure_held()
    faults.reach("verdicts-noted")
    if judged.failures:
        raise judge.CheckFailed(target=target, failures=judged.failures)


def _judge(attempt: Attempt, destination: Destination, staged: StagedStage) -> judge.Audited:
    """Judge the measures of the write, then the table as it would be published."""
    writing, write = staged.prepared, staged.write
    outcomes = writing.evaluation.outcomes(write.measured, write.beside)
    took = dict.fromkeys((outcome.planned.index for outcome in outcomes), staged.seconds)
    if writing.of_table:
        started = time.monotonic()
        outcomes += writing.outcomes_of_table(destination)
        rest = time.monotonic() - started
        took |= dict.fromkeys((outcome.index for outcome in writing.of_table), rest)
    outcomes.sort(key=lambda outcome: outcome.planned.index)
    marks = _marks(attempt, str(attempt.context.stage.target_id))
    hide = personal(attempt.context.target and attempt.context.target.target)
    outcomes = masked_outcomes(outcomes, hide)
    return judge.judge(outcomes, marks=marks, samples=write.samples, seconds=took)


def _marks(attempt: Attempt, dataset_id: str) -> dict[str, Any]:
    stage = attempt.context.stage
    return {
        "stage_run_id": attempt.stage_run_id,
        "run_id": attempt.run_id,
        "pipeline_id": stage.pipeline_id,
        "stage_order": stage.stage_order,
        "dataset_id": dataset_id,
    }
