"""One stage: resolve, pre-check, read what is new, shape, write aside, audit, publish, record.

*Why it is exactly once.* What a stage run will consume is written down before the publish;
whether it counts is decided by one thing only: is its id in the target? A restart asks the
target and completes the record, or cleans up and starts over (`recover.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldsmith.engine import adjusting, audit, faults, ledger, quarantine, recover, restoring
from goldsmith.engine.cancel import tagged
from goldsmith.engine.choosing import choose_for, note_on
from goldsmith.engine.destinations.destination import Aside, Destination, Order, Published
from goldsmith.engine.destinations.lake import LakeDestination
from goldsmith.engine.destinations.warehouse import WarehouseDestination
from goldsmith.engine.inputs import Chosen, Read, let_go, read
from goldsmith.engine.leasing import Held, place_of
from goldsmith.engine.schema import fit
from goldsmith.engine.session import own_session
from goldsmith.engine.shaping import Shape, shape
from goldsmith.engine.work import Tools, Work
from goldsmith.engine.writers.scd2 import with_validity
from goldsmith.journal import events, leases, stage_runs
from goldsmith.journal.tables import StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.words import is_lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def run_stage(work: Work, tools: Tools, held: Held) -> StageRun:
    """Write one dataset, all of it or nothing; its target's lease is held."""
    _settle(work, tools)
    chosen = adjusting.fewer(choose_for(work, tools), work)
    faults.reach("inputs-listed")
    if chosen.because is None:
        return _skip(work, tools)  # Spark is not even started
    with own_session(tools.spark()) as spark, tagged(spark, work):
        try:
            return _write(spark, work, tools, held, chosen)
        finally:
            let_go(work.near, tools, work.stage_run_id)


def _settle(work: Work, tools: Tools) -> None:
    """Settle what dead processes left of this target, before its inputs are looked at."""
    target = str(work.near.stage.target_id)
    for left in (dead := recover.unsettled(tools, target)):
        let_go(work.near, tools, left.stage_run_id)
    if dead:
        with own_session(tools.spark()) as spark:
            recover.settle(tools, destination_of(spark, work.near, tools), target)
        faults.reach("settled")
    restoring.settle(tools, work.near.target)


def _write(spark: SparkSession, work: Work, tools: Tools, held: Held, chosen: Chosen) -> StageRun:
    destination = destination_of(spark, work.near, tools)
    work.ended.cancels.append(destination.cancel)
    work.ended.check()
    _start(work, tools, held, chosen)
    adjusting.prepare(spark, destination, work, tools)
    faults.reach("started")
    ledger.note(
        tools.journal, work.near.stage_id, work.stage_run_id, chosen.noted or chosen.consumed
    )
    faults.reach("inputs-noted")
    _step(work, tools, "read")
    found = read(spark, work, chosen, tools)
    faults.reach("read")
    _pre_check(work, found)
    _step(work, tools, "shape")
    rows = shape(spark, work.near, found.rows, Shape(run_id=work.run_id, at=work.at))
    rows = adjusting.rows(rows, work)
    faults.reach("shaped")
    _step(work, tools, "write")
    order, before = _order(work, destination, rows, chosen)
    aside = destination.write_aside(order)
    kept = _keep_malformed(work, tools, found)
    _step(work, tools, "audit")
    audited = _audit(work, tools, order, aside, before)
    faults.reach("audited")
    if work.asked.limit is not None:
        return _tried_out(work, tools, destination)
    _step(work, tools, "publish")
    held.still_mine()
    faults.reach("before-publish")
    work.ended.check()
    published = destination.publish(order, aside, held.lease.token)
    return record(work, tools, held, published, aside=aside, quarantined=kept, audited=audited)


def _tried_out(work: Work, tools: Tools, destination: Destination) -> StageRun:
    """A few rows went all the way but the last step: to publish them would lose the others."""
    destination.clean(work.stage_run_id)
    because = f"tried out with {work.asked.limit:,} rows; nothing was published"
    with tools.journal.writing() as connection:
        ledger.forget(connection, work.stage_run_id)
        return stage_runs.finish_stage_run(
            tools.journal,
            work.stage_run_id,
            events.StageSkipped(because=because),
            connection=connection,
        )


def destination_of(spark: SparkSession, near: Neighbourhood, tools: Tools) -> Destination:
    """The place a stage writes."""
    assert near.target is not None  # integrity refuses a stage without one
    target = near.target.target
    assert target is not None
    if is_lake(target):
        return LakeDestination(spark, tools.places, target, near.words.layer)
    return WarehouseDestination(tools.places, target, tools.warehouse(str(target.type)))


def resource_of(near: Neighbourhood) -> str:
    """What the lease of a stage is held on: the place it writes, whatever its id."""
    target = near.target.target if near.target is not None else None
    assert target is not None
    return place_of(target)


def stage_run_of(work: Work, token: int | None = None) -> StageRun:
    """The row of one try at a stage."""
    stage = work.near.stage
    return StageRun(
        stage_run_id=work.stage_run_id,
        run_id=work.run_id,
        pipeline_id=stage.pipeline_id,
        stage_order=stage.stage_order,
        stage_name=stage.stage_name,
        target_id=stage.target_id,
        attempt=work.attempt,
        definition=definition_of(work.near),
        token=token,
    )


def _skip(work: Work, tools: Tools) -> StageRun:
    note = note_on(work, tools)
    because = "nothing new of its inputs" + (f"; {note}" if note else "")
    skipped = events.StageSkipped(because=because)
    return stage_runs.pass_over(tools.journal, stage_run_of(work), skipped)


def _start(work: Work, tools: Tools, held: Held, chosen: Chosen) -> None:
    """Write down that it begins, with what whoever finds it dead has to know."""
    facts = {"starts_over": chosen.starts_over, "restored_to": work.asked.as_of}
    if work.asked.window is not None:
        facts["window"] = str(work.asked.window)
    note = note_on(work, tools)
    begun = replace(
        stage_run_of(work, held.lease.token),
        because="; ".join(said for said in (chosen.because, note) if said),
        facts={name: value for name, value in facts.items() if value},
    )
    stage_runs.start_stage_run(tools.journal, begun)


def _step(work: Work, tools: Tools, step: str) -> None:
    work.ended.check()
    stage_runs.step(tools.journal, work.stage_run_id, step)


def _pre_check(work: Work, found: Read) -> None:
    """Checks of the input, before it is shaped."""
    checks = audit.planned(work.near.pre_rules)
    if not checks or not work.near.inputs:
        return
    rows = found.rows[work.near.inputs[0].dataset_id]
    measured = audit.measure(rows, checks)
    marks = {"stage_run_id": work.stage_run_id}
    judged = audit.judge(checks, measured, before=None, now=rows.schema, marks=marks)
    if judged.failures:
        raise audit.CheckFailed(target=work.near.inputs[0].dataset_id, failures=judged.failures)


def _order(
    work: Work, destination: Destination, rows: DataFrame, chosen: Chosen
) -> tuple[Order, StructType | None]:
    """What is to be written, fitted to the target, with what is to be measured on the way."""
    from pyspark.sql import functions as F

    stage, words = work.near.stage, work.near.words
    checks = audit.planned(work.near.rules)
    if words.write_mode == "scd2":
        rows = with_validity(rows, stage.watermark_column or "_ingested_at")
    before = destination.schema(rows)
    fitted = fit(rows, before, words.schema_policy, target=str(stage.target_id))
    measures = list(audit.measures(checks))
    if fitted.discard is not None:
        measures.append(F.count(F.when(fitted.discard, F.lit(1))).alias("discarded"))
    order = Order(
        stage_run_id=work.stage_run_id,
        fitted=fitted,
        mode=words.write_mode,
        keys=stage.keys,
        watermark=stage.watermark_column,
        partition_by=stage.partition_by,
        options=stage.options,
        measures=measures,
        needs_pass=audit.needs_pass(checks),
        from_scratch=chosen.starts_over,
        replaced_files=chosen.rewritten,
        replaced_rows=chosen.rows_of,
    )
    return order, before


def _keep_malformed(work: Work, tools: Tools, found: Read) -> int:
    """Keep records that could not be parsed; how many there were."""
    target, kept = str(work.near.stage.target_id), 0
    for malformed in found.malformed.values():
        quarantine.keep_malformed(
            malformed,
            tools.places,
            target_id=target,
            stage_run_id=work.stage_run_id,
            run_id=work.run_id,
        )
        # Of all inputs so far: the last answer is the whole.
        kept = quarantine.count(malformed.sparkSession, target, work.stage_run_id)
    faults.reach("quarantine-written")
    return kept


def _audit(
    work: Work, tools: Tools, order: Order, aside: Aside, before: StructType | None
) -> audit.Audited:
    stage = work.near.stage
    marks = {
        "stage_run_id": work.stage_run_id,
        "run_id": work.run_id,
        "pipeline_id": stage.pipeline_id,
        "stage_order": stage.stage_order,
        "dataset_id": stage.target_id,
    }
    audited = audit.judge(
        audit.planned(work.near.rules),
        aside.measured,
        before=before,
        now=order.fitted.rows.drop("_discard").schema,
        marks=marks,
    )
    with tools.journal.writing() as connection:
        ledger.keep_verdicts(connection, audited.verdicts)
    faults.reach("verdicts-noted")
    if audited.failures:
        raise audit.CheckFailed(target=str(stage.target_id), failures=audited.failures)
    return audited


def record(
    work: Work,
    tools: Tools,
    held: Held,
    published: Published,
    *,
    aside: Aside | None = None,
    quarantined: int = 0,
    audited: audit.Audited | None = None,
) -> StageRun:
    """Write down that the stage run was published, in one transaction with its ledger and lease."""
    del audited
    measured = aside.measured if aside is not None else {}
    finished = events.StageFinished(
        rows_read=measured.get("rows"),
        rows_written=published.rows,
        rows_quarantined=quarantined,
        rows_dropped=measured.get("discarded"),
        bytes_written=None if aside is None else aside.bytes,
        snapshot=published.snapshot,
        recognised=None if aside is not None else True,
    )
    with tools.journal.writing() as connection:
        begun = recover.known(tools, work.stage_run_id, connection)
        assert begun is not None  # `_start` wrote it down
        recover.count(tools, begun, connection)
        faults.reach("inputs-counted")
        done = stage_runs.finish_stage_run(
            tools.journal, work.stage_run_id, finished, connection=connection
        )
        leases.release(tools.journal, held.lease, connection=connection)
    faults.reach("recorded")
    return done
