"""Turns of the service and of admission on real rows: schedules, arrivals, gates, profiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import pytest

from goldsmith.catalog import bundle
from goldsmith.engine.run import ExecutionOptions
from goldsmith.journal import leases, requests, waits, workers
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import Request, RequestStatus
from goldsmith.journal.tables_of_service import ScheduleFire, WorkerRow
from goldsmith.planning import apply_files
from goldsmith.planning.run_options import RunOptions
from goldsmith.runtime import Runtime
from goldsmith.scheduling.values import QueuedStage
from goldsmith.service.arrivals import Arrivals
from goldsmith.service.clock import Clock
from goldsmith.worker import loop, upkeep
from goldsmith.worker.admission import Admission, admit
from goldsmith.worker.queue_state import StageEstimates
from goldsmith.worker.queue_view import queue_entries
from goldsmith.worker.resources import worker_resources
from plain_sql import PlainSql
from servers import s3 as s3_server

CATALOG = """
pipelines:
  - {pipeline_id: orders, schedule: "0 6 * * * Europe/Zurich"}
  - {pipeline_id: visits}
sources:
  - {source_id: raw_orders, s3_path: "s3://shop/raw/orders/", file_format: jsonl}
  - {source_id: raw_visits, s3_path: "s3://shop/raw/visits/", file_format: jsonl}
targets:
  - {target_id: bronze_orders, location: "s3://shop/bronze/orders/", type: s3}
  - {target_id: bronze_visits, location: "s3://shop/bronze/visits/", type: s3}
  - {target_id: order_visits, location: "s3://shop/silver/visits/", type: s3}
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw_orders, target_id: bronze_orders}
  - {pipeline_id: visits, stage_order: 1, source_id: raw_visits, target_id: bronze_visits}
"""
WORKER = "elsewhere:1:"


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    rows = bundle.load([("catalog.yaml", CATALOG)])
    proposal = apply_files.propose(opened.catalog_indexer, rows)
    apply_files.apply(opened.catalog_indexer, rows, proposal, actor="test", reason="the shop")
    yield opened
    opened.close()


def turn_after_days(runtime: Runtime, plain: PlainSql, days: int) -> list[ScheduleFire]:
    """Let a service see the schedule, and turn again some days later."""
    clock = Clock(runtime, "service")
    assert clock.turn() == []
    past = datetime.now(UTC) - timedelta(days=days)
    plain.run(f"UPDATE schedule_fires SET due_at = '{past:%Y-%m-%d %H:%M:%S}'")
    return clock.turn()


def put(runtime: Runtime, pipeline: str) -> Request:
    request = Request(
        request_id=f"request-{pipeline}",
        selection=(f"pipeline:{pipeline}",),
        pipelines=(pipeline,),
    )
    return requests.put(runtime.journal, request)


def admitted(runtime: Runtime, **how: dict[str, float]) -> Admission:
    return admit(runtime, StageEstimates(runtime), **how)


def published(plain: PlainSql, dataset: str, at: datetime) -> None:
    """Record that a stage run published a dataset."""
    plain.run(
        "INSERT INTO stage_runs (stage_run_id, target_id, status, attempt, ended_at)"
        f" VALUES ('run-{at:%H%M%S}', '{dataset}', 'succeeded', 1, '{at:%Y-%m-%d %H:%M:%S}')"
    )


def gate_of(runtime: Runtime, pipeline: str) -> str | None:
    """The gate at which the request of a pipeline waits."""
    admitted(runtime)
    row = waits.listed(runtime.journal).get(f"request-{pipeline}")
    return None if row is None else row.gate


@pytest.mark.parametrize(("policy", "count"), [("once", 1), ("all", 3), ("skip", 0)])
def test_missed_starts_follow_the_policy_in_the_row(
    runtime: Runtime, plain: PlainSql, policy: str, count: int
) -> None:
    plain.run(f"UPDATE pipelines SET missed_runs = '{policy}' WHERE pipeline_id = 'orders'")
    fired = turn_after_days(runtime, plain, 3)

    assert len(fired) == count
    put_requests = requests.due(runtime.journal)
    assert [request.due_at for request in put_requests] == [fire.due_at for fire in fired]
    assert Clock(runtime, "another service").turn() == []


def test_a_paused_schedule_leaves_its_starts_out(runtime: Runtime, plain: PlainSql) -> None:
    plain.run(
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, reason)"
        " VALUES ('pipeline', 'orders', 'schedule', false, 'holidays')"
    )
    [fire] = turn_after_days(runtime, plain, 1)
    assert (fire.request_id, fire.because) == (None, "the schedule is paused (holidays)")
    assert requests.due(runtime.journal) == []


@pytest.mark.parametrize(
    ("overlap", "statuses"),
    [
        ("queue", ["waiting", "waiting"]),
        ("skip", ["waiting"]),
        ("stop", ["cancelled", "waiting"]),
    ],
)
def test_a_start_that_overlaps_follows_the_policy_in_the_row(
    runtime: Runtime, plain: PlainSql, overlap: str, statuses: list[str]
) -> None:
    plain.run(f"UPDATE pipelines SET overlap = '{overlap}' WHERE pipeline_id = 'orders'")
    earlier = put(runtime, "orders").request_id
    plain.run("UPDATE requests SET asked_by = 'schedule:pipeline:orders'")
    turn_after_days(runtime, plain, 1)
    found = [
        request.status
        for status in RequestStatus
        for request in requests.with_status(runtime.journal, status)
    ]
    assert sorted(found) == statuses
    assert requests.get(runtime.journal, earlier).status == statuses[0]


def test_a_schedule_that_cannot_be_read_stops_no_other(runtime: Runtime, plain: PlainSql) -> None:
    plain.run("INSERT INTO pipelines (pipeline_id, schedule) VALUES ('bad', '99 * * * *')")
    assert len(turn_after_days(runtime, plain, 1)) == 1


def test_files_that_arrive_start_a_pipeline_once(
    runtime: Runtime, plain: PlainSql, tmp_path: Path
) -> None:
    plain.run("UPDATE pipelines SET schedule = 'on arrival' WHERE pipeline_id = 'visits'")
    folder = tmp_path / ".goldsmith" / "s3" / "shop" / "raw" / "visits"
    folder.mkdir(parents=True)
    arrivals = Arrivals(runtime, "service")
    assert arrivals.turn(now=0) == []
    (folder / "one.jsonl").write_text("{}\n")
    assert arrivals.turn(now=1) == []  # listed again only after the back-off
    [fire] = arrivals.turn(now=100)
    assert fire.because == "new files in raw_visits"
    assert arrivals.turn(now=500) == []
    assert len(requests.due(runtime.journal)) == 1


def test_old_rows_of_the_journal_are_deleted_on_a_schedule(
    runtime: Runtime, plain: PlainSql
) -> None:
    plain.run(
        "INSERT INTO maintenance_schedules (maintenance_id, task, schedule, keep_days)"
        " VALUES ('old rows', 'forget', '@daily', 30)"
    )
    plain.run("UPDATE pipelines SET schedule = NULL")
    [fire] = turn_after_days(runtime, plain, 1)
    assert fire.subject == "maintenance:old rows"
    [request] = requests.due(runtime.journal)
    assert request.options == {upkeep.TASK: upkeep.FORGET, "keep_days": 30}
    with worker_resources(runtime) as resources:
        options = ExecutionOptions(request_id=None, run_options=RunOptions(), asked_by="test")
        [outcome] = loop.tick(runtime, resources, options)
    assert outcome.request.status == "done"
    assert "deleted 0 events and 0 runs" in str(outcome.request.because)


@pytest.mark.parametrize("foreground", [False, True])
def test_upkeep_waits_while_what_it_works_on_is_stopped(
    runtime: Runtime, plain: PlainSql, foreground: bool
) -> None:
    maintain = {upkeep.TASK: upkeep.MAINTAIN, "dataset_id": "bronze_orders"}
    requests.put(
        runtime.journal,
        Request(request_id="request-maintain", selection=(), options=maintain, asked_by="service"),
    )
    for entity in (("everything", "*"), ("target", "bronze_orders")):
        plain.run(
            "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, reason) "
            f"VALUES ('{entity[0]}', '{entity[1]}', 'enabled', false, 'a leak')"
        )
        held = admit(runtime, StageEstimates(runtime), foreground=foreground)
        assert held.start == ()
        waiting = waits.listed(runtime.journal)["request-maintain"]
        assert waiting.gate == "kill_switch"
        assert "a leak" in str(waiting.because)
        plain.run("DELETE FROM control_flags")
    started = admit(runtime, StageEstimates(runtime), foreground=True).start
    assert [request.request_id for request in started] == ["request-maintain"]


def test_each_closed_gate_is_a_row(runtime: Runtime, plain: PlainSql) -> None:
    put(runtime, "visits")
    assert gate_of(runtime, "visits") == "profile"
    assert waits.listed(runtime.journal)["request-visits"].because == "No worker is alive."
    workers.register(runtime.journal, WorkerRow(worker=WORKER, slots=1))
    assert gate_of(runtime, "visits") is None

    window = datetime.now(UTC) + timedelta(hours=2)
    closed = f"{window:%H}:00-{window + timedelta(hours=1):%H}:00"
    plain.run(f"UPDATE pipelines SET run_window = '{closed}' WHERE pipeline_id = 'visits'")
    assert gate_of(runtime, "visits") == "window"
    plain.run(
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value)"
        " VALUES ('pipeline', 'visits', 'enabled', false)"
    )
    assert gate_of(runtime, "visits") == "kill_switch"
    plain.run("DELETE FROM control_flags")
    plain.run("UPDATE pipelines SET run_window = NULL")
    assert gate_of(runtime, "visits") is None
    assert leases.acquire(runtime.journal, "s3://shop/bronze/visits", Owner.this_process())
    assert gate_of(runtime, "visits") == "target_lease"


def test_a_stage_waits_for_an_input_that_is_too_old(runtime: Runtime, plain: PlainSql) -> None:
    put(runtime, "visits")
    workers.register(runtime.journal, WorkerRow(worker=WORKER, slots=1))
    plain.run(
        "UPDATE stages SET source_id = 'bronze_orders',"
        " options = '{\"max_input_age_minutes\": 60}' WHERE pipeline_id = 'visits'"
    )
    assert gate_of(runtime, "visits") == "upstream_freshness"  # it was never written
    published(plain, "bronze_orders", datetime.now(UTC) - timedelta(hours=2))
    assert gate_of(runtime, "visits") == "upstream_freshness"
    published(plain, "bronze_orders", datetime.now(UTC))
    assert gate_of(runtime, "visits") is None


def test_a_published_dataset_starts_the_pipelines_after_it_once(
    runtime: Runtime, plain: PlainSql
) -> None:
    plain.run("UPDATE pipelines SET schedule = NULL")
    plain.run(
        "UPDATE pipelines SET schedule = 'after: dataset:bronze_orders'"
        " WHERE pipeline_id = 'visits'"
    )
    clock = Clock(runtime, "service")
    assert clock.turn() == []
    published(plain, "bronze_orders", datetime.now(UTC) + timedelta(seconds=1))
    [fire] = clock.turn()
    assert fire.because == "bronze_orders was published"
    assert clock.turn() == []


def test_a_notification_of_s3_starts_a_pipeline_and_is_deleted(
    catalog_url: str, plain: PlainSql, tmp_path: Path, runtime: Runtime
) -> None:
    with s3_server.running() as s3:
        environ = {
            "GOLDSMITH_CATALOG__URL": catalog_url,
            "GOLDSMITH_LAKE__WAREHOUSE": "s3://shop/lake/",
            "GOLDSMITH_STORAGE__ENDPOINT": s3.endpoint,
            "GOLDSMITH_STORAGE__REGION": s3_server.REGION,
            "GOLDSMITH_STORAGE__ACCESS_KEY": "env:S3_KEY",
            "GOLDSMITH_STORAGE__SECRET_KEY": "env:S3_SECRET",
            "S3_KEY": s3_server.ACCESS_KEY,
            "S3_SECRET": s3_server.SECRET_KEY,
        }
        sqs = boto3.client(
            "sqs",
            endpoint_url=s3.endpoint,
            region_name=s3_server.REGION,
            aws_access_key_id=s3_server.ACCESS_KEY,
            aws_secret_access_key=s3_server.SECRET_KEY,
        )
        queue = sqs.create_queue(QueueName="arrivals")["QueueUrl"]
        plain.run("UPDATE pipelines SET schedule = 'on arrival' WHERE pipeline_id = 'visits'")
        plain.run(
            "UPDATE sources SET options = ? WHERE source_id = 'raw_visits'",
            json.dumps({"arrival_queue": queue}),
        )
        created = {"bucket": {"name": "shop"}, "object": {"key": "raw/visits/a+b.jsonl"}}
        body = {"Records": [{"eventName": "ObjectCreated:Put", "s3": created}]}
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(body))
        served = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
        try:
            [fire] = Arrivals(served, "service").turn()
        finally:
            served.close()
        assert fire.because == "new files in raw_visits"
        state = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
    assert state["ApproximateNumberOfMessages"] == "0"
    assert state["ApproximateNumberOfMessagesNotVisible"] == "0"
    assert len(requests.due(runtime.journal)) == 1


def test_a_changed_weight_row_reorders_the_queue(runtime: Runtime, plain: PlainSql) -> None:
    put(runtime, "orders")
    put(runtime, "visits")
    plain.run("UPDATE pipelines SET criticality = 'low' WHERE pipeline_id = 'visits'")
    workers.register(runtime.journal, WorkerRow(worker=WORKER, slots=1))
    assert [r.request_id for r in admitted(runtime).start] == ["request-orders"]

    plain.run(
        "UPDATE profile_settings SET setting_value = 50"
        " WHERE profile_id = 'balanced' AND setting_key = 'priority_weight_noncritical'"
    )
    assert [r.request_id for r in admitted(runtime).start] == ["request-visits"]
    first, second = queue_entries(runtime)
    assert (first.pipeline, second.pipeline) == ("visits", "orders")
    assert first.terms[0].value == 50
    assert second.because == "All 1 slots are in use by stages with a higher score."


def test_critical_work_of_focus_takes_the_slot_of_a_running_request(
    runtime: Runtime, plain: PlainSql
) -> None:
    put(runtime, "orders")
    workers.register(runtime.journal, WorkerRow(worker=WORKER, slots=1))
    requests.take(runtime.journal, "request-orders", WORKER)
    put(runtime, "visits")
    assert admitted(runtime).decisions.yields == ()  # balanced work waits for its turn

    plain.run("INSERT INTO pipeline_profiles (pipeline_id, profile_id) VALUES ('visits', 'focus')")
    admission = admitted(runtime)
    [asked] = admission.decisions.yields
    now = admission.queue.at.timestamp()
    assert asked.running.stage.request_id == "request-orders"
    assert asked.stop_at == pytest.approx(now + 10)  # preempt_grace_sec
    [later] = admitted(runtime, yielding={"request-orders": now - 60}).decisions.yields
    assert later.stop_at == pytest.approx(now - 50)


def test_a_setting_that_nobody_knows_stops_no_worker(runtime: Runtime, plain: PlainSql) -> None:
    plain.run(
        "INSERT INTO profile_settings (profile_id, setting_key, setting_value)"
        " VALUES ('balanced', 'colour', 3)"
    )
    put(runtime, "orders")
    workers.register(runtime.journal, WorkerRow(worker=WORKER, slots=1))
    [stage] = admitted(runtime).queue.state.waiting
    assert isinstance(stage, QueuedStage)
    assert stage.request_total == stage.request_seconds > 0


def test_pipelines_that_never_ran_share_a_source_without_waiting(
    runtime: Runtime, plain: PlainSql
) -> None:
    plain.run("UPDATE stages SET source_id = 'raw_orders'")
    put(runtime, "orders")
    put(runtime, "visits")
    workers.register(runtime.journal, WorkerRow(worker=WORKER, slots=2))
    assert len(admitted(runtime).start) == 2
