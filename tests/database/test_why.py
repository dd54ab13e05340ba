"""`why`: the reason something runs, waits, was stopped, failed, is blocked or never ran."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.cli.main import goldsmith
from goldsmith.journal import healing, requests, runs, stage_runs
from goldsmith.journal.errors import UnknownEntity
from goldsmith.journal.events import (
    RunFailed,
    RunInterrupted,
    StageBlocked,
    StageFailed,
    StageFinished,
)
from goldsmith.journal.journal import Journal
from goldsmith.journal.reasons import why
from goldsmith.journal.status_screen import status_screen
from goldsmith.journal.tables import Request, Run, StageRun
from plain_sql import PlainSql


@pytest.fixture(autouse=True)
def declared(catalog: Catalog) -> None:
    """Orders, in two stages, and users with a schedule."""
    with catalog.change(actor="ann", reason="first") as change:
        change.put(
            [
                Pipeline(pipeline_id="orders"),
                Pipeline(pipeline_id="users", schedule="every 15m"),
                Stage(
                    pipeline_id="orders",
                    stage_order=1,
                    stage_name="load",
                    source_id="orders_raw",
                    target_id="orders_bronze",
                ),
                Stage(
                    pipeline_id="orders",
                    stage_order=2,
                    stage_name="clean",
                    source_id="orders_bronze",
                    target_id="orders_silver",
                ),
                Source(source_id="orders_raw"),
                Target(target_id="orders_bronze"),
            ]
        )


def stop(catalog: Catalog, entity_type: str, entity_id: str) -> None:
    with catalog.change(actor="bob", reason="the vendor is down") as change:
        change.put([Flag(entity_type=entity_type, entity_id=entity_id, flag_name="enabled")])


def stage_run(order: int, name: str) -> StageRun:
    return StageRun(
        stage_run_id=f"try-{order}",
        run_id="run-1",
        pipeline_id="orders",
        stage_order=order,
        stage_name=name,
    )


def start(journal: Journal) -> None:
    """A run of orders comes to the shaping of its first stage."""
    run = Run(run_id="run-1", pipeline_id="orders", asked_by="ann", request_id="request-1")
    runs.start_run(journal, run)
    stage_runs.start_stage_run(journal, stage_run(1, "load"))
    stage_runs.step(journal, "try-1", "shape")


def fail(journal: Journal) -> None:
    """A run of orders fails in its first stage."""
    start(journal)
    failed = {"error_code": "DiskFull", "error_message": "No room is left."}
    stage_runs.finish_stage_run(journal, "try-1", StageFailed(**failed))
    blocked = StageBlocked(because="orders-1 failed")
    stage_runs.pass_over(journal, stage_run(2, "clean"), blocked)
    runs.finish_run(journal, "run-1", RunFailed(**failed))


@pytest.mark.parametrize("name", ["orders", "pipeline:orders", "orders-2", "stage:orders-2"])
def test_what_nobody_asked_for_never_ran(catalog_url: str, name: str) -> None:
    answer = why(catalog_url, name)
    assert answer.state == "never ran"
    assert answer.because == "It never ran: nobody asked for it, and it has no schedule."


def test_a_schedule_that_has_not_come_up_is_named(catalog_url: str) -> None:
    assert "'every 15m'" in why(catalog_url, "users").because


def test_what_runs_says_who_asked(catalog_url: str, journal: Journal) -> None:
    start(journal)
    answer = why(catalog_url, "orders")
    assert answer.state == "running"
    assert answer.because == "Run run-1 is running, asked for by ann."
    sentences = [reason.says for reason in answer.reasons]
    assert "Stage orders-1 (load) is running in step 'shape'." in sentences
    assert why(catalog_url, "orders-1").state == "running"


def test_what_waits_says_for_what(catalog_url: str, journal: Journal) -> None:
    requests.put(journal, Request(request_id="request-1", pipelines=("orders",)))
    requests.wait(journal, "request-1", "3 of 3 slots are taken")
    for name in ("orders", "orders-1", "request-1", "request:request-1"):
        answer = why(catalog_url, name)
        assert answer.state == "waiting"
        assert answer.because == "Request request-1 waits: 3 of 3 slots are taken."
    assert why(catalog_url, "users").state == "never ran"


def test_what_failed_says_its_code_and_what_it_blocked(catalog_url: str, journal: Journal) -> None:
    fail(journal)
    answer = why(catalog_url, "orders")
    assert answer.state == "failed"
    assert answer.because == "Run run-1 failed: DiskFull: No room is left."
    sentences = [reason.says for reason in answer.reasons]
    assert "Stage orders-1 (load) failed in step 'shape': DiskFull: No room is left." in sentences
    assert "Stage orders-2 (clean) is blocked: orders-1 failed." in sentences
    assert why(catalog_url, "orders-2").state == "blocked"


@pytest.mark.parametrize("options", [{"limit": 5}, {"replay": {"sql": "SELECT 1"}}])
def test_a_failed_trial_run_or_replay_does_not_count_for_its_pipeline(
    catalog_url: str, journal: Journal, options: dict[str, object]
) -> None:
    requests.put(journal, Request(request_id="request-1", selection=("orders",), options=options))
    fail(journal)
    assert why(catalog_url, "orders").state == "never ran"
    assert why(catalog_url, "orders-1").state == "never ran"
    assert status_screen(catalog_url).parts["failed"].count == 0
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    assert healing.failures_since_success(journal, "orders", long_ago) == 0


def test_a_long_error_is_printed_once(catalog_url: str, journal: Journal, tmp_path: Path) -> None:
    error = "The column 'amount' of the row with id 17 is 'twelve', which is: no DECIMAL(10,2)."
    start(journal)
    failed = {"error_code": "ValueDoesNotFit", "error_message": error}
    stage_runs.finish_stage_run(journal, "try-1", StageFailed(**failed))
    runs.finish_run(journal, "run-1", RunFailed(**failed))
    (tmp_path / "goldsmith.toml").write_text(f'[catalog]\nurl = "{catalog_url}"\n')
    shown = CliRunner().invoke(goldsmith, ["--project", str(tmp_path), "why", "orders"]).output
    assert shown.count(error) == 1
    assert "Stage orders-1 (load) failed in step 'shape': ValueDoesNotFit." in shown


def test_a_run_tells_its_whole_story_newest_first(catalog_url: str, journal: Journal) -> None:
    fail(journal)
    for name in ("run-1", "run:run-1", "try-1"):
        answer = why(catalog_url, name)
        assert (answer.subject, answer.state) == ("run:run-1", "failed")
    moments = [reason.at for reason in answer.reasons]
    assert moments == sorted(moments, reverse=True)  # type: ignore[type-var]
    assert len(answer.reasons) == 3


def test_an_interrupted_run_says_what_was_found(catalog_url: str, journal: Journal) -> None:
    start(journal)
    stage_runs.interrupt_stage_runs(journal, "run-1", "its process died")
    runs.finish_run(journal, "run-1", RunInterrupted(because="its process died"))
    assert why(catalog_url, "run-1").because == "Run run-1 was interrupted: its process died."


@pytest.mark.parametrize(
    ("entity", "name"),
    [
        (("everything", "*"), "everything"),
        (("everything", "*"), "orders"),
        (("pipeline", "orders"), "orders"),
        (("pipeline", "orders"), "orders-1"),
        (("stage", "orders-1"), "stage:orders-1"),
        (("source", "orders_raw"), "orders-1"),
        (("source", "orders_raw"), "orders_raw"),
        (("target", "orders_bronze"), "orders-1"),
        (("target", "orders_bronze"), "dataset:orders_bronze"),
    ],
)
def test_what_is_stopped_says_by_whom_and_why(
    catalog: Catalog, catalog_url: str, entity: tuple[str, str], name: str
) -> None:
    stop(catalog, *entity)
    answer = why(catalog_url, name)
    what = "everything" if entity[0] == "everything" else ":".join(entity)
    assert answer.state == "stopped"
    assert answer.because.endswith(f"bob stopped {what} by a flag: the vendor is down.")
    assert any(reason.at is not None and "bob" in reason.says for reason in answer.reasons)


def test_a_stopped_stage_does_not_stop_its_pipeline_but_is_told(
    catalog: Catalog, catalog_url: str
) -> None:
    stop(catalog, "stage", "orders-2")
    answer = why(catalog_url, "orders")
    assert answer.state == "never ran"
    assert [reason.says for reason in answer.reasons] == [
        "bob stopped stage:orders-2 by a flag: the vendor is down."
    ]


def test_what_runs_while_it_is_stopped_is_being_stopped(
    catalog: Catalog, catalog_url: str, journal: Journal
) -> None:
    start(journal)
    stop(catalog, "pipeline", "orders")
    assert why(catalog_url, "orders").state == "stopping"


def test_a_row_switched_off_by_plain_sql_is_told_like_any_other(
    catalog_url: str, plain: PlainSql
) -> None:
    plain.run("UPDATE pipelines SET enabled = FALSE WHERE pipeline_id = 'orders'")
    answer = why(catalog_url, "orders")
    assert answer.state == "stopped"
    assert "switched pipeline:orders off in its row" in answer.because


def test_a_dataset_stands_as_the_stage_that_writes_it(catalog_url: str, journal: Journal) -> None:
    start(journal)
    stage_runs.finish_stage_run(journal, "try-1", StageFinished(rows_written=3))
    answer = why(catalog_url, "orders_bronze")
    assert answer.state == "succeeded"
    assert answer.because == "stage:orders-1 writes it. Stage orders-1 (load) succeeded."
    source = why(catalog_url, "orders_raw")
    assert source.state == "not written"
    assert source.because == "No stage writes it; it is read by stage:orders-1."


@pytest.mark.parametrize("name", ["ordes", "pipeline:ordres", "run:run-9", "", "'; --", "a:b"])
def test_an_unknown_name_is_an_error(catalog_url: str, name: str) -> None:
    with pytest.raises(UnknownEntity) as raised:
        why(catalog_url, name)
    assert raised.value.exit_code == 2
    assert ("orders" in raised.value.hint) is name.endswith(("ordes", "ordres"))


def test_the_command_answers_in_words_and_in_json(
    catalog_url: str, journal: Journal, tmp_path: Path
) -> None:
    fail(journal)
    (tmp_path / "goldsmith.toml").write_text(f'[catalog]\nurl = "{catalog_url}"\n')

    def invoke(*arguments: str) -> str:
        result = CliRunner().invoke(goldsmith, ["--project", str(tmp_path), *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    assert "pipeline:orders (failed)" in invoke("why", "orders")
    assert json.loads(invoke("why", "orders", "--json"))["state"] == "failed"
    assert "run-1" in invoke("runs", "list")
    [run] = json.loads(invoke("runs", "list", "--status", "failed", "--json"))
    assert run["error_code"] == "DiskFull"
    assert json.loads(invoke("runs", "list", "--pipeline", "users", "--json")) == []
    assert "No such runs." in invoke("runs", "list", "--pipeline", "users")
    shown = json.loads(invoke("runs", "show", "run-1", "--json"))
    assert [stage["status"] for stage in shown["stage_runs"]] == ["failed", "blocked"]
    assert shown["events"][0]["kind"] == "RunStarted"
    assert "DiskFull: No room is left." in invoke("runs", "show", "run-1")
