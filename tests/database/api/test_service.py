"""What the routes of the service answer and do: queue, schedules, backfills, workers, throttles."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from goldsmith.catalog import bundle
from goldsmith.catalog.throttles import Throttle
from goldsmith.journal import requests, workers
from goldsmith.journal.access_tables import Role
from goldsmith.journal.tables import Request
from goldsmith.journal.tables_of_service import WorkerKind, WorkerRow
from goldsmith.planning import apply_files
from goldsmith.runtime import Runtime

SCHEDULES = """
pipelines:
  - {pipeline_id: orders, tags: [finance], schedule: "0 3 * * *"}
  - {pipeline_id: visits, schedule: "after:orders"}
"""
FINANCE = ("tag:finance",)


@pytest.fixture
def scheduled(runtime: Runtime) -> None:
    rows = bundle.load([("schedules.yaml", SCHEDULES)])
    proposal = apply_files.propose(runtime.catalog_indexer, rows)
    apply_files.apply(runtime.catalog_indexer, rows, proposal, actor="test", reason="daily")


def put_backfill(runtime: Runtime, name: str, pipeline: str, windows: int) -> list[str]:
    ids = [f"request-{name}-{number}" for number in range(windows)]
    for number, request_id in enumerate(ids):
        request = Request(
            request_id=request_id,
            selection=(f"pipeline:{pipeline}",),
            pipelines=(pipeline,),
            asked_by="test",
            asked_at=datetime.now(UTC) + timedelta(microseconds=number),
            backfill_id=name,
        )
        requests.put(runtime.journal, request)
    return ids


def test_the_queue_shows_scores_with_their_terms_in_pages(connect: Any) -> None:
    client = connect(Role.OPERATOR)
    made = [
        client.post("/api/v1/requests", json={"selection": [name]}).json()["request_id"]
        for name in ("orders", "visits")
    ]
    first = client.get("/api/v1/queue", params={"limit": 1}).json()
    rest = client.get("/api/v1/queue", params={"limit": 1, "cursor": first["next"]}).json()
    entries = first["items"] + rest["items"]
    assert [entry["position"] for entry in entries] == [1, 2]
    assert {entry["request_id"] for entry in entries} == set(made)
    assert all(entry["terms"] and entry["because"] for entry in entries)
    assert rest["next"] is None
    own = connect(Role.VIEWER, only=FINANCE).get("/api/v1/queue").json()["items"]
    assert [entry["pipeline"] for entry in own] == ["orders"]


@pytest.mark.usefixtures("scheduled")
def test_schedules_tell_their_next_start_and_can_be_paused(connect: Any, runtime: Runtime) -> None:
    client = connect(Role.OPERATOR)
    found = {row["subject"]: row for row in client.get("/api/v1/schedules").json()["items"]}
    assert found.keys() == {"pipeline:orders", "pipeline:visits"}
    starts = client.get("/api/v1/schedules/orders/next", params={"most": 2}).json()
    assert starts[0] == found["pipeline:orders"]["next"]
    assert len(starts) == 2
    assert client.get("/api/v1/schedules/visits/next").json() == []
    address = "/api/v1/schedules/orders"
    assert client.post(f"{address}/pause", json={}).status_code == 422
    paused = client.post(f"{address}/pause", json={"reason": "the source is being moved"})
    assert paused.json() == {"pipeline_id": "orders", "paused": True}
    [flag] = client.get("/api/v1/flags", params={"all": True}).json()
    assert (flag["updated_by"], flag["reason"]) == (
        "operator@example.com",
        "the source is being moved",
    )
    rows = client.get("/api/v1/schedules").json()["items"]
    assert [row["paused"] for row in rows] == [True, False]
    assert client.post(f"{address}/resume", json={}).json()["paused"] is False
    assert not any(row["paused"] for row in client.get("/api/v1/schedules").json()["items"])


@pytest.mark.usefixtures("scheduled")
def test_a_limited_key_sees_and_pauses_only_its_own_schedules(connect: Any) -> None:
    client = connect(Role.OPERATOR, only=FINANCE)
    items = client.get("/api/v1/schedules").json()["items"]
    assert [row["subject"] for row in items] == ["pipeline:orders"]
    assert client.get("/api/v1/schedules/visits/next").status_code == 403
    body = {"reason": "no"}
    for verb in ("pause", "resume"):
        answer = client.post(f"/api/v1/schedules/visits/{verb}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "KeyIsLimited")
    assert connect().get("/api/v1/flags", params={"all": True}).json() == []
    assert client.post("/api/v1/schedules/orders/pause", json=body).status_code == 200


def test_a_schedule_that_is_not_there_is_refused(connect: Any) -> None:
    client = connect(Role.OPERATOR)
    assert client.get("/api/v1/schedules/orders/next").json()["code"] == "BadRequest"
    body = {"reason": "no"}
    assert client.post("/api/v1/schedules/nothing/pause", json=body).status_code == 404


def test_backfills_are_listed_newest_first_with_their_windows(
    connect: Any, runtime: Runtime
) -> None:
    first = put_backfill(runtime, "backfill-20260101-000000-aaaaaaaa", "orders", 3)
    put_backfill(runtime, "backfill-20260102-000000-bbbbbbbb", "visits", 2)
    requests.cancel(runtime.journal, first[0], because="a test")
    client = connect(Role.VIEWER)
    newest = client.get("/api/v1/backfills", params={"limit": 1}).json()
    [visits] = newest["items"]
    assert (visits["pipelines"], visits["windows"], visits["waiting"]) == (["visits"], 2, 2)
    rest = client.get("/api/v1/backfills", params={"cursor": newest["next"]}).json()
    [orders] = rest["items"]
    assert (orders["windows"], orders["waiting"], orders["cancelled"]) == (3, 2, 1)
    shown = client.get(f"/api/v1/backfills/{orders['backfill_id']}").json()
    assert shown == orders
    limited = connect(Role.VIEWER, only=FINANCE)
    assert limited.get("/api/v1/backfills").json()["items"] == [orders]
    assert limited.get(f"/api/v1/backfills/{visits['backfill_id']}").status_code == 403
    assert client.get("/api/v1/backfills/backfill-1").status_code == 404


def test_workers_are_listed_with_what_they_run(connect: Any, runtime: Runtime) -> None:
    row = WorkerRow(worker="host/1/a", kind=WorkerKind.WORKER.value, host="host", pid=1, slots=2)
    workers.register(runtime.journal, row)
    client = connect(Role.VIEWER)
    [found] = client.get("/api/v1/workers").json()
    assert (found["worker"], found["alive"], found["running"]) == ("host/1/a", True, [])
    workers.end(runtime.journal, "host/1/a")
    assert client.get("/api/v1/workers").json() == []
    [ended] = client.get("/api/v1/workers", params={"all": True}).json()
    assert ended["alive"] is False


def test_throttles_show_their_live_rate(connect: Any, runtime: Runtime) -> None:
    row = Throttle(
        throttle_id="slow",
        entity_type="source",
        entity_id="raw_orders",
        metric="records_per_second",
        threshold=100.0,
    )
    with runtime.catalog.change(actor="test") as change:
        change.put([row])
    client = connect(Role.VIEWER)
    [found] = client.get("/api/v1/throttles").json()["items"]
    assert (found["throttle_id"], found["in_effect"], found["rate"]) == ("slow", 100.0, 0.0)
    assert found["problem"] is None
    assert client.get("/api/v1/throttles/slow").json() == found
    missing = client.get("/api/v1/throttles/slo")
    assert (missing.status_code, missing.json()["code"]) == (404, "UnknownName")
    assert "Did you mean 'slow'?" in missing.json()["hint"]


@pytest.mark.parametrize("path", ["workers", "throttles", "throttles/slow", "datasets/health"])
def test_a_limited_key_does_not_see_what_belongs_to_all(connect: Any, path: str) -> None:
    answer = connect(Role.ADMIN, only=FINANCE).get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["code"]) == (403, "KeyIsLimited")


def test_profiles_and_their_settings_are_rows_of_the_catalog(connect: Any) -> None:
    client = connect(Role.VIEWER)
    profiles = client.get("/api/v1/catalog/tables/profiles").json()["items"]
    assert {"balanced", "focus"} <= {row["profile_id"] for row in profiles}
    settings = client.get("/api/v1/catalog/tables/profile_settings").json()["items"]
    assert any(row["setting_key"] == "aging_minutes" for row in settings)
