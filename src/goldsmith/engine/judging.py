"""A stage run judged: its input before it is shaped, its rows before they are published."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from goldsmith.checks.evaluate import evaluate
from goldsmith.engine import audit, faults, ledger
from goldsmith.engine.destinations.destination import Aside, Destination
from goldsmith.engine.inputs import Chosen, Read
from goldsmith.engine.leasing import Held
from goldsmith.engine.surroundings import surroundings
from goldsmith.engine.work import Tools, Work, Written
from goldsmith.engine.writing import Writing
from goldsmith.journal import stage_runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pre_check(spark: SparkSession, work: Work, tools: Tools, found: Read, chosen: Chosen) -> None:
    """Checks of the input, before it is shaped; no row can go elsewhere yet."""
    near = work.near
    if near.pre_rules is None or not near.inputs:
        return
    first = near.inputs[0].dataset_id
    context = surroundings(spark, work, tools, chosen, dataset_id=first)
    after = len(near.rules.check_def) if near.rules is not None else 0
    checks = audit.planned(near.pre_rules, context, first=after)
    started = time.monotonic()
    outcomes = evaluate(found.rows[first], checks, context)
    took = time.monotonic() - started
    judged = audit.judge(
        outcomes,
        marks=_marks(work, first),
        seconds=dict.fromkeys((one.place for one in checks), took),
        rows_go=False,
    )
    with tools.journal.writing(lasts=False) as connection:
        ledger.keep_verdicts(connection, judged.verdicts)
    faults.reach("verdicts-noted")
    if judged.failures:
        raise audit.CheckFailed(target=first, failures=judged.failures)


def audit_rows(
    work: Work,
    tools: Tools,
    held: Held,
    writing: Writing,
    destination: Destination,
    aside: Aside,
    written: Written,
    *,
    seconds: float,
) -> None:
    """Judge the rows that lie aside; where they may be published it is written down, for good.

    With that all that was written down so far lasts, before anything can be published.
    """
    target = str(work.near.stage.target_id)
    steps, facts = ["audit"], written.as_facts()
    if writing.of_table:  # only then does it take a while
        stage_runs.step(tools.journal, work.stage_run_id, *steps, facts=facts)
        steps, facts = [], {}
    judged = _judge(work, writing, destination, aside, seconds=seconds)
    publishes = not judged.failures and work.asked.limit is None
    if not judged.failures:
        faults.reach("audited")
    # The lease is asked for last: whoever lost it meanwhile, or cannot ask, publishes nothing.
    with tools.journal.writing(lasts=publishes) as connection:
        is_mine = held.renew(connection)
        if is_mine:
            ledger.keep_verdicts(connection, judged.verdicts)
            steps += ["publish"] if publishes else []
            if steps:
                stage_runs.step(
                    tools.journal, work.stage_run_id, *steps, facts=facts, connection=connection
                )
    if not is_mine:
        held.still_mine()
    faults.reach("verdicts-noted")
    if judged.failures:
        raise audit.CheckFailed(target=target, failures=judged.failures)


def _judge(
    work: Work, writing: Writing, destination: Destination, aside: Aside, *, seconds: float
) -> audit.Audited:
    """Judge what was measured on the way, then the table as it would be published."""
    outcomes = writing.evaluation.outcomes(aside.measured, aside.beside)
    took = dict.fromkeys((one.planned.place for one in outcomes), seconds)
    if writing.of_table:
        started = time.monotonic()
        outcomes += writing.outcomes_of_table(destination)
        rest = time.monotonic() - started
        took |= dict.fromkeys((one.place for one in writing.of_table), rest)
    outcomes.sort(key=lambda one: one.planned.place)
    marks = _marks(work, str(work.near.stage.target_id))
    return audit.judge(outcomes, marks=marks, samples=aside.samples, seconds=took)


def _marks(work: Work, dataset_id: str) -> dict[str, Any]:
    stage = work.near.stage
    return {
        "stage_run_id": work.stage_run_id,
        "run_id": work.run_id,
        "pipeline_id": stage.pipeline_id,
        "stage_order": stage.stage_order,
        "dataset_id": dataset_id,
    }
