"""The audit log is append-only, except for retention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from goldsmith.journal import requests, runs, stage_runs
from goldsmith.journal.events import RunFinished, RunStarted, StageEnded, StageFailed, StageFinished
from goldsmith.journal.journal import Journal
from goldsmith.journal.retention import forget_before
from goldsmith.journal.tables import Request, Run, StageRun
from plain_sql import REFUSED, PlainSql

NOON = datetime(2025, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("UPDATE audit_log SET status = 'succeeded'", id="changing"),
        pytest.param("DELETE FROM audit_log", id="deleting"),
        pytest.param("DELETE FROM audit_log WHERE event_id = 1", id="deleting one"),
        pytest.param(
            "INSERT INTO audit_log (event_id, kind) VALUES (1, 'Forged')"
            " ON CONFLICT (event_id) DO UPDATE SET kind = 'Forged'",
            id="changing by an insert",
        ),
    ],
)
def test_the_database_refuses_changes(journal: Journal, plain: PlainSql, statement: str) -> None:
    journal.record(RunStarted(run_id="run-1"))
    with pytest.raises(REFUSED, match="audit_log is append-only"):
        plain.run(statement)
    assert [event.kind for event in journal.read()] == ["RunStarted"]


def test_replacing_and_truncating_are_refused_too(journal: Journal, plain: PlainSql) -> None:
    journal.record(RunStarted(run_id="run-1"))
    statement = (
        "INSERT OR REPLACE INTO audit_log (event_id, kind) VALUES (1, 'Forged')"
        if plain.is_sqlite
        else "TRUNCATE audit_log"
    )
    with pytest.raises(REFUSED, match="audit_log is append-only"):
        plain.run(statement)
    assert [event.kind for event in journal.read()] == ["RunStarted"]


def test_plain_sql_may_add_events(journal: Journal, plain: PlainSql) -> None:
    plain.run("INSERT INTO audit_log (kind, status) VALUES ('Noted', 'succeeded')")
    [event] = journal.read()
    assert event.kind == "Noted"
    assert event.at is not None


def test_retention_forgets_what_is_older_and_says_so(journal: Journal) -> None:
    journal.record(RunStarted(run_id="old"), at=NOON - HOUR)
    journal.record(RunStarted(run_id="new"), at=NOON)
    forgotten = forget_before(journal, NOON, actor="ann")
    assert forgotten.events == 1
    kept, recorded = journal.read()
    assert kept.run_id == "new"
    assert (recorded.kind, recorded.actor, recorded.facts["events"]) == (
        "EventsForgotten",
        "ann",
        1,
    )


def test_the_gate_is_shut_again_after_retention(journal: Journal, plain: PlainSql) -> None:
    journal.record(RunStarted(run_id="run-1"), at=NOON)
    forget_before(journal, NOON)
    assert plain.run("SELECT * FROM retention_pass") == []
    with pytest.raises(REFUSED, match="append-only"):
        plain.run("DELETE FROM audit_log")


def test_ids_of_forgotten_events_are_never_used_again(journal: Journal, plain: PlainSql) -> None:
    journal.record(RunStarted(run_id="run-1"), at=NOON)
    last = journal.newest()
    forget_before(journal, NOON + HOUR)
    journal.record(RunStarted(run_id="run-2"))
    assert min(event.event_id for event in journal.read()) > last


def test_retention_keeps_the_newest_success_of_each_stage(journal: Journal) -> None:
    for number in (1, 2):
        at = NOON + number * HOUR
        runs.start_run(journal, Run(run_id=f"run-{number}", pipeline_id="orders"), at=at)
        stage_runs.start_stage_run(
            journal,
            StageRun(
                stage_run_id=f"try-{number}",
                run_id=f"run-{number}",
                pipeline_id="orders",
                stage_order=1,
            ),
            at=at,
        )
        stage_runs.finish_stage_run(journal, f"try-{number}", StageFinished(), at=at)
        runs.finish_run(journal, f"run-{number}", RunFinished(), at=at)
    requests.put(journal, Request(request_id="request-1"), at=NOON)
    requests.cancel(journal, "request-1", at=NOON)
    forgotten = forget_before(journal, NOON + 9 * HOUR)
    assert (forgotten.runs, forgotten.stage_runs, forgotten.requests) == (1, 1, 1)
    assert [run.run_id for run in runs.recent_runs(journal)] == ["run-2"]
    newest = runs.last_success(journal, "orders", 1)
    assert newest is not None
    assert newest.stage_run_id == "try-2"


def test_retention_keeps_published_runs_that_kept_rows_aside(journal: Journal) -> None:
    for number, (quarantined_rows, fails) in enumerate(
        [(2, False), (0, True), (0, False), (0, False)]
    ):
        name, at = f"run-{number}", NOON + number * HOUR
        runs.start_run(journal, Run(run_id=name, pipeline_id="orders"), at=at)
        tried = StageRun(
            stage_run_id=f"try-{number}", run_id=name, pipeline_id="orders", stage_order=1
        )
        stage_runs.start_stage_run(journal, tried, at=at)
        ended: StageEnded = StageFailed(error_code="CheckFailed", error_message="it does not hold")
        if not fails:
            ended = StageFinished(rows_quarantined=quarantined_rows)
        stage_runs.finish_stage_run(journal, tried.stage_run_id, ended, at=at)
        runs.finish_run(journal, name, RunFinished(), at=at)
    forget_before(journal, NOON + 9 * HOUR)
    assert {run.run_id for run in runs.recent_runs(journal)} == {"run-0", "run-3"}


def test_a_run_under_way_is_never_forgotten(journal: Journal) -> None:
    runs.start_run(journal, Run(run_id="run-1", pipeline_id="orders"), at=NOON)
    requests.put(journal, Request(request_id="request-1"), at=NOON)
    forgotten = forget_before(journal, NOON + HOUR)
    assert (forgotten.runs, forgotten.requests) == (0, 0)
