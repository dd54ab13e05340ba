"""One stage: resolve, pre-check, read what is new, shape, write aside, audit, publish, record.

*Why it is exactly once.* What a stage run will consume is written down before the publish;
whether it counts is decided by one thing only: is its id in the target? A restart asks the
target and completes the record, or cleans up and starts over (`recover.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from goldsmith.engine import (
    adjusting,
    faults,
    judging,
    ledger,
    recover,
    replaying,
    restoring,
    staging,
)
from goldsmith.engine.cancel import tagged
from goldsmith.engine.choosing import choose_for, note_on
from goldsmith.engine.destinations.destination import Aside, Destination, Published
from goldsmith.engine.destinations.lake import LakeDestination
from goldsmith.engine.destinations.warehouse import WarehouseDestination
from goldsmith.engine.inputs import Chosen, Read, let_go, read
from goldsmith.engine.leasing import Held, place_of
from goldsmith.engine.parting import CountsDisagree
from goldsmith.engine.session import own_session
from goldsmith.engine.shaping import Shape, shape
from goldsmith.engine.surroundings import scratch_of
from goldsmith.engine.work import Tools, Work, Written
from goldsmith.engine.writing import Writing, keeper_of, prepare
from goldsmith.errors import GoldsmithError
from goldsmith.journal import events, leases, stage_runs
from goldsmith.journal.tables import LEFT_OUT, StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.words import is_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
            staging.remove(tools.places, scratch_of(tools, work.stage_run_id))


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
    begun = _start(work, tools, held, chosen)
    faults.reach("started")
    adjusting.prepare(spark, destination, work, tools)
    faults.reach("inputs-noted")
    replay = None
    found = Read(rows={})
    if work.asked.replay is not None:
        replay = replaying.mended(spark, work, tools, work.asked.replay)
        rows = replay.rows
        faults.reach("read")
    else:
        found = read(spark, work, chosen, tools)
        faults.reach("read")
        judging.pre_check(spark, work, tools, found, chosen)
        with _step_if_it_fails(work, tools, "shape"):
            rows = shape(spark, work.near, found.rows, Shape(run_id=work.run_id, at=work.at))
            rows = adjusting.rows(rows, work)
    faults.reach("shaped")
    work.ended.check()
    steps = ("write",) if replay is not None else ("shape", "write")
    stage_runs.step(tools.journal, work.stage_run_id, *steps)
    writing = prepare(spark, work, tools, destination, rows, chosen)
    started = time.monotonic()
    aside = _write_aside(work, writing, destination)
    malformed = _keep_malformed(work, tools, found)
    written = Written(
        rows=aside.kept + aside.aside + aside.out + malformed,
        quarantined=aside.aside + malformed,
        dropped=aside.out,
    )
    took = time.monotonic() - started
    judging.audit_rows(work, tools, held, writing, destination, aside, written, seconds=took)
    if work.asked.limit is not None:
        return _tried_out(work, tools, destination)
    faults.reach("before-publish")
    work.ended.check()
    published = destination.publish(writing.order, aside, held.lease.token)
    done = record(begun, tools, held, published, written, bytes_written=aside.bytes)
    if replay is not None:
        replay.forget()
        faults.reach("replayed-forgotten")
    return done


@contextmanager
def _step_if_it_fails(work: Work, tools: Tools, step: str) -> Iterator[None]:
    """A step that takes no time is written down with the next one, or when it is the last."""
    try:
        yield
    except Exception:
        if work.ended.cause is None:
            stage_runs.step(tools.journal, work.stage_run_id, step)
        raise


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
            facts={LEFT_OUT: True},
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


def _start(work: Work, tools: Tools, held: Held, chosen: Chosen) -> StageRun:
    """Write down that it begins and what it reads: all that whoever finds it dead has to know."""
    facts = {"starts_over": chosen.starts_over, "restored_to": work.asked.as_of}
    if work.asked.window is not None:
        facts["window"] = str(work.asked.window)
    note = note_on(work, tools)
    begun = replace(
        stage_run_of(work, held.lease.token),
        because="; ".join(said for said in (chosen.because, note) if said),
        facts={name: value for name, value in facts.items() if value},
    )
    consumed = chosen.noted or chosen.consumed
    # Nothing can be published before the next one that lasts, and with it this does.
    with tools.journal.writing(lasts=False) as connection:
        ledger.note(connection, work.near.stage_id, work.stage_run_id, consumed)
        return stage_runs.start_stage_run(tools.journal, begun, step="read", connection=connection)


def _keep_malformed(work: Work, tools: Tools, found: Read) -> int:
    """Keep records that could not be parsed; how many there were."""
    keeper = keeper_of(work, tools)
    kept = 0
    for name, malformed in found.malformed.items():
        seen = found.counted[name].get.get("malformed") if name in found.counted else None
        if seen == 0:  # the pass that wrote the rows met none
            continue
        there = keeper.keep_malformed(malformed)
        if seen is not None and there != seen:
            raise CountsDisagree(
                target=name, counted=f"{seen:,} malformed records", written=f"{there:,}"
            )
        kept += there
    faults.reach("quarantine-written")
    return kept


def _write_aside(work: Work, writing: Writing, destination: Destination) -> Aside:
    """Write the rows aside; a check that raises on some row is failed and left out of the write."""
    try:
        return destination.write_aside(writing.order)
    except GoldsmithError:
        raise
    except Exception:
        if work.ended.cause is not None or not writing.some_check_raises():
            raise
        return destination.write_aside(writing.order)


def record(
    begun: StageRun,
    tools: Tools,
    held: Held,
    published: Published,
    written: Written,
    *,
    bytes_written: int | None,
) -> StageRun:
    """Write down that the stage run was published, in one transaction with its ledger and lease."""
    finished = events.StageFinished(
        rows_read=written.rows,
        rows_written=published.rows,
        rows_quarantined=written.quarantined,
        rows_dropped=written.dropped,
        bytes_written=bytes_written,
        snapshot=published.snapshot,
    )
    # After a power cut the target says that it was published, and the record is made again.
    with tools.journal.writing(lasts=False) as connection:
        recover.count(tools, begun, connection)
        faults.reach("inputs-counted")
        done = stage_runs.finish_stage_run(
            tools.journal, begun.stage_run_id, finished, connection=connection
        )
        leases.release(tools.journal, held.lease, connection=connection)
    held.is_given_back = True
    faults.reach("recorded")
    return done
