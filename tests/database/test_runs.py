"""Runs and stage runs: every change together with its event, every end only once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from goldsmith.journal import runs, stage_runs
from goldsmith.journal.errors import AlreadyOver, UnknownRun
from goldsmith.journal.events import (
    RunFailed,
    RunFinished,
    RunInterrupted,
    StageBlocked,
    StageFailed,
    StageFinished,
    StageSkipped,
    StageStopped,
)
from goldsmith.journal.journal import Journal
from goldsmith.journal.runs import Expected
from goldsmith.journal.tables import Run, StageRun

NOON = datetime(2025, 11, 16, 12, tzinfo=UTC)
RUN = Run(run_id="run-1", pipeline_id="orders", asked_by="ann", catalog_revision=4, worker="w1")
BRONZE = StageRun(
    stage_run_id="try-1",
    run_id="run-1",
    pipeline_id="orders",
    stage_order=1,
    stage_name="bronze",
    target_id="orders_bronze",
    definition="abc",
    token=7,
)


def minutes(count: float) -> datetime:
    return NOON + timedelta(minutes=count)


def kinds(journal: Journal) -> list[str | None]:
    return [event.kind for event in journal.read()]


def publish(journal: Journal, number: int, *, rows: int | None, took: float) -> None:
    """One successful run of bronze, minutes after the last."""
    tried = BRONZE.with_(stage_run_id=f"try-{number}")
    stage_runs.start_stage_run(journal, tried, at=minutes(number))
    stage_runs.finish_stage_run(
        journal,
        tried.stage_run_id,
        StageFinished(rows_written=rows, bytes_written=None if rows is None else rows * 10),
        at=minutes(number) + timedelta(seconds=took),
    )


def test_a_run_begins_and_ends(journal: Journal) -> None:
    started = runs.start_run(journal, RUN, at=NOON)
    assert started == RUN.with_(status="running", started_at=NOON)
    ended = runs.finish_run(journal, "run-1", at=minutes(3))
    assert ended == started.with_(status="succeeded", ended_at=minutes(3))
    assert runs.run(journal, "run-1") == ended
    first, last = journal.read(run_id="run-1")
    assert (first.kind, first.actor, first.facts["worker"]) == ("RunStarted", "ann", "w1")
    assert (last.kind, last.status, last.started_at, last.ended_at) == (
        "RunFinished",
        "succeeded",
        NOON,
        minutes(3),
    )


def test_a_failed_run_keeps_its_error(journal: Journal) -> None:
    runs.start_run(journal, RUN)
    failed = RunFailed(error_code="DiskFull", error_message="No room is left.")
    ended = runs.finish_run(journal, "run-1", failed)
    assert (ended.status, ended.error_code) == ("failed", "DiskFull")
    last = journal.read()[-1]
    assert (last.error_code, last.error_message) == ("DiskFull", "No room is left.")


def test_a_run_ends_once(journal: Journal) -> None:
    runs.start_run(journal, RUN)
    runs.finish_run(journal, "run-1", RunInterrupted(because="its process died"))
    with pytest.raises(AlreadyOver, match="interrupted"):
        runs.finish_run(journal, "run-1", RunFinished())
    assert runs.run(journal, "run-1").status == "interrupted"
    assert kinds(journal) == ["RunStarted", "RunInterrupted"]


def test_an_unknown_run_names_the_nearest(journal: Journal) -> None:
    runs.start_run(journal, RUN)
    with pytest.raises(UnknownRun) as raised:
        runs.run(journal, "run-l")
    assert raised.value.suggestions == ("run-1",)


def test_recent_runs_come_newest_first(journal: Journal) -> None:
    for number, pipeline in enumerate(["orders", "users", "orders"]):
        run = Run(run_id=f"run-{number}", pipeline_id=pipeline)
        runs.start_run(journal, run, at=minutes(number))
    runs.finish_run(journal, "run-0", at=minutes(9))

    def found(**filters: str | int) -> list[str]:
        return [run.run_id for run in runs.recent_runs(journal, **filters)]  # type: ignore[arg-type]

    assert found() == ["run-2", "run-1", "run-0"]
    assert found(pipeline_id="orders") == ["run-2", "run-0"]
    assert found(status="running", most=1) == ["run-2"]


def test_a_stage_run_goes_through_its_steps(journal: Journal) -> None:
    stage_runs.start_stage_run(journal, BRONZE, at=NOON)
    stage_runs.step(journal, "try-1", "read", facts={"files": 3})
    stage_runs.step(journal, "try-1", "publish", facts={"branch": "b"})
    ended = stage_runs.finish_stage_run(
        journal,
        "try-1",
        StageFinished(rows_read=10, rows_written=8, rows_quarantined=2, snapshot="77"),
        facts={"seconds_in_spark": 1.5},
        at=minutes(1),
    )
    assert ended == BRONZE.with_(
        status="succeeded",
        step="publish",
        started_at=NOON,
        ended_at=minutes(1),
        rows_read=10,
        rows_written=8,
        rows_quarantined=2,
        snapshot="77",
        facts={"files": 3, "branch": "b", "seconds_in_spark": 1.5},
    )
    assert runs.stage_runs_of(journal, "run-1") == [ended]
    assert kinds(journal) == ["StageStarted", "StageStepped", "StageStepped", "StageFinished"]
    event = journal.read()[-1]
    assert (event.stage_order, event.attempt, event.facts["target_id"]) == (1, 1, "orders_bronze")


def test_a_stopped_stage_has_the_four_times_in_its_event(journal: Journal) -> None:
    stage_runs.start_stage_run(journal, BRONZE)
    stopped = StageStopped(
        because="ann: vendor outage",
        driver_returned_at=minutes(1),
        last_task_ended_at=minutes(2),
        statement_cancelled_at=minutes(3),
        nothing_published_at=minutes(4),
        zombie_tasks=0,
    )
    ended = stage_runs.finish_stage_run(journal, "try-1", stopped)
    assert (ended.status, ended.because) == ("stopped", "ann: vendor outage")
    facts = journal.read()[-1].facts
    assert facts["last_task_ended_at"] == minutes(2).isoformat()
    assert facts["zombie_tasks"] == 0


def test_a_stage_run_that_was_taken_over_cannot_publish_its_end(journal: Journal) -> None:
    runs.start_run(journal, RUN)
    stage_runs.start_stage_run(journal, BRONZE)
    [left] = stage_runs.interrupt_stage_runs(journal, "run-1", "its process died")
    assert left.status == "interrupted"
    with pytest.raises(AlreadyOver):
        stage_runs.finish_stage_run(journal, "try-1", StageFinished(rows_written=5))
    with pytest.raises(AlreadyOver):
        stage_runs.step(journal, "try-1", "publish")
    assert runs.stage_runs_of(journal, "run-1")[0].rows_written is None


@pytest.mark.parametrize(
    "happened", [StageSkipped(because="nothing new"), StageBlocked(because="orders-1 failed")]
)
def test_a_stage_passed_over_has_its_reason(
    journal: Journal, happened: StageSkipped | StageBlocked
) -> None:
    passed = stage_runs.pass_over(journal, BRONZE, happened, at=NOON)
    assert (passed.status, passed.because) == (happened.status, happened.because)
    assert passed.started_at == passed.ended_at == NOON
    assert kinds(journal) == [happened.kind]


def test_only_a_publication_counts_as_the_last_success(journal: Journal) -> None:
    assert runs.last_success(journal, "orders", 1) is None
    publish(journal, 1, rows=5, took=1)
    failed = BRONZE.with_(stage_run_id="try-2")
    stage_runs.start_stage_run(journal, failed, at=minutes(2))
    stage_runs.finish_stage_run(
        journal, "try-2", StageFailed(error_code="DiskFull", error_message="No room is left.")
    )
    newest = runs.last_success(journal, "orders", 1)
    assert newest is not None
    assert newest.stage_run_id == "try-1"


def test_nothing_is_expected_of_a_stage_without_history(journal: Journal) -> None:
    assert runs.expected(journal, [("orders", 1)]) == {}
    assert runs.expected(journal) == {}


def test_what_to_expect_is_the_median_of_the_last_ten_successes(journal: Journal) -> None:
    publish(journal, 0, rows=1_000_000, took=59)
    for number in range(1, 11):
        publish(journal, number, rows=number * 100, took=number)
    [(stage, found)] = runs.expected(journal, [("orders", 1), ("orders", 2)]).items()
    assert stage == "orders-1"
    assert (found.rows, found.bytes, found.from_runs) == (550, 5_500, 10)
    assert found.seconds == pytest.approx(5.5, abs=0.01)
    assert runs.expected(journal) == {"orders-1": found}


def test_what_was_not_measured_is_not_expected(journal: Journal) -> None:
    publish(journal, 1, rows=None, took=2)
    publish(journal, 2, rows=7, took=2)
    found = runs.expected(journal)["orders-1"]
    assert found == Expected(rows=7, bytes=70, seconds=found.seconds, from_runs=2)
