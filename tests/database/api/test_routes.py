"""What the routes answer and do, on each database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goldsmith.journal import requests, runs
from goldsmith.journal.access_tables import Role
from goldsmith.journal.tables import Run
from goldsmith.runtime import Runtime


def make_runs(runtime: Runtime, count: int) -> list[str]:
    names = [f"run-{number:03}" for number in range(count)]
    for name in names:
        runs.start_run(runtime.journal, Run(run_id=name, pipeline_id="orders", asked_by="test"))
    return names


def test_pages_hold_every_run_once_in_order(connect: Any, runtime: Runtime) -> None:
    names = make_runs(runtime, 7)
    client, seen, cursor = connect(Role.VIEWER), [], None
    while True:
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        answer = client.get("/api/v1/runs", params=query).json()
        seen += [run["run_id"] for run in answer["items"]]
        cursor = answer["next"]
        if cursor is None:
            break
    assert seen == sorted(names, reverse=True)


@pytest.mark.parametrize("cursor", ["x", "e30=", "W10=", "WyJhIiwgMV0=", "\u00fc", "W251bGwsIDFd"])
def test_a_broken_cursor_is_refused(connect: Any, cursor: str) -> None:
    answer = connect(Role.VIEWER).get("/api/v1/runs", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "BadRequest")


def test_a_stop_shows_its_blast_radius_first_and_then_stops(connect: Any) -> None:
    client = connect(Role.OPERATOR)
    order = {"entity": "source:raw_orders", "reason": "the source is being moved"}
    shown = client.post("/api/v1/flags/stop", json={**order, "dry_run": True}).json()
    assert shown["stopped"] is False
    assert shown["stages"] == ["orders-1"]
    assert shown["downstream_stages"] == ["orders-2"]
    assert shown["owners"] == ["ann@example.com"]
    assert client.get("/api/v1/flags").json() == []
    assert client.post("/api/v1/flags/stop", json=order).json()["stopped"] is True
    [flag] = client.get("/api/v1/flags").json()
    assert (flag["updated_by"], flag["reason"]) == ("operator@example.com", order["reason"])
    released = client.post("/api/v1/flags/release", json={"entity": "source:raw_orders"}).json()
    assert released["released"] is True
    assert client.get("/api/v1/flags").json() == []


def test_a_stop_without_a_reason_is_refused(connect: Any) -> None:
    answer = connect(Role.OPERATOR).post("/api/v1/flags/stop", json={"entity": "everything"})
    assert (answer.status_code, answer.json()["code"]) == (422, "BadRequest")


def test_a_request_is_stored_and_can_be_cancelled(connect: Any, runtime: Runtime) -> None:
    client = connect(Role.OPERATOR)
    made = client.post("/api/v1/requests", json={"selection": ["orders"]})
    assert made.status_code == 202
    stored = requests.get(runtime.journal, made.json()["request_id"])
    assert (stored.status, stored.asked_by) == ("waiting", "operator@example.com")
    assert client.delete(f"/api/v1/requests/{stored.request_id}").json()["status"] == "cancelled"
    again = client.delete(f"/api/v1/requests/{stored.request_id}")
    assert (again.status_code, again.json()["code"]) == (409, "RequestElsewhere")


def test_repeating_a_request_with_its_idempotency_key_acts_once(
    connect: Any, runtime: Runtime
) -> None:
    client = connect(Role.OPERATOR)
    header = {"Idempotency-Key": "k1"}
    body = {"selection": ["orders"]}
    first = client.post("/api/v1/requests", json=body, headers=header)
    second = client.post("/api/v1/requests", json=body, headers=header)
    assert first.json() == second.json()
    assert second.status_code == 202
    assert second.headers["idempotency-replayed"] == "true"
    assert len(requests.due(runtime.journal)) == 1
    other = client.post("/api/v1/requests", json={"selection": ["visits"]}, headers=header)
    assert (other.status_code, other.json()["code"]) == (422, "KeyUsedForAnother")
    # A refused request frees its key.
    wrong = {"Idempotency-Key": "k2"}
    assert (
        client.post("/api/v1/requests", json={"selection": ["nothing"]}, headers=wrong).status_code
        == 404
    )
    assert client.post("/api/v1/requests", json=body, headers=wrong).status_code == 202


def test_a_row_is_changed_only_by_somebody_who_has_seen_it(connect: Any) -> None:
    client = connect(Role.EDITOR)
    address = "/api/v1/catalog/tables/pipelines/rows/orders"
    read = client.get(address)
    etag = read.headers["etag"]
    values = {**read.json()["file"], "owner": "eve@example.com"}
    tried = client.put(address, json={"values": values, "dry_run": True})
    assert tried.json()["counts"]["changed"] == 1
    done = client.put(
        address, json={"values": values, "reason": "eve takes over"}, headers={"If-Match": etag}
    )
    assert done.json()["applied"] is True
    assert done.headers["etag"] != etag
    late = client.put(address, json={"values": values}, headers={"If-Match": etag})
    assert (late.status_code, late.json()["code"]) == (412, "RowChanged")
    newest = client.get(address).json()["history"][0]
    assert (newest["actor"], newest["reason"]) == ("editor@example.com", "eve takes over")


def test_rows_that_bring_errors_are_refused_with_their_findings(connect: Any) -> None:
    client = connect(Role.EDITOR)
    rows = {
        "stages": [
            {
                "pipeline_id": "orders",
                "stage_order": 3,
                "source_id": "nowhere",
                "target_id": "gold_orders",
            }
        ]
    }
    shown = client.post("/api/v1/catalog/diff", json={"rows": rows}).json()
    assert shown["findings"]
    answer = client.post("/api/v1/catalog/apply", json={"rows": rows})
    assert (answer.status_code, answer.json()["code"]) == (422, "CatalogHasErrors")
    assert answer.json()["facts"]["findings"]
    tables = client.get("/api/v1/catalog/tables/stages").json()["items"]
    assert len(tables) == 3


def test_an_apply_can_be_undone(connect: Any) -> None:
    client = connect(Role.EDITOR)
    text = "pipelines:\n  - {pipeline_id: returns}\n"
    done = client.post("/api/v1/catalog/apply", json={"yaml": text, "reason": "new"}).json()
    assert done["applied"] is True
    undone = client.post("/api/v1/catalog/undo", json={"revision": done["revision"]}).json()
    assert undone["undone"] is True
    missing = client.get("/api/v1/catalog/tables/pipelines/rows/returns")
    assert missing.status_code == 404
    kinds = [
        change["operation"] for change in client.get("/api/v1/catalog/history").json()["items"]
    ]
    assert kinds[:2] == ["delete", "insert"]


def test_an_apply_from_another_revision_is_refused(connect: Any) -> None:
    client = connect(Role.EDITOR)
    body = {"yaml": "pipelines:\n  - {pipeline_id: returns}\n", "revision": 0}
    answer = client.post("/api/v1/catalog/apply", json=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "CatalogMoved")


def test_a_plan_says_what_would_run_and_why(connect: Any) -> None:
    plan = connect(Role.VIEWER).get("/api/v1/plan", params={"selection": "orders"}).json()
    assert [stage["stage_id"] for stage in plan["stages"]] == ["orders-1", "orders-2"]


def test_settings_show_no_secret(connect: Any) -> None:
    answer = connect().get("/api/v1/settings").json()
    names = {setting["name"] for setting in answer["settings"]}
    assert "catalog.url" in names
    assert "password=" not in json.dumps(answer)


def test_datasets_are_listed_with_their_writers_and_readers(connect: Any) -> None:
    items = connect(Role.VIEWER).get("/api/v1/datasets").json()["items"]
    [bronze] = [item for item in items if item["dataset_id"] == "bronze_orders"]
    assert bronze["written_by"] == ["orders-1"]
    assert bronze["read_by"] == ["orders-2"]
    shown = connect(Role.VIEWER).get("/api/v1/datasets/bronze_orders").json()
    assert shown["empty"] is True


def test_every_answer_carries_the_security_headers(connect: Any) -> None:
    for path in ("/api/v1/runs", "/api/v1/nothing", "/login?key=x"):
        headers = connect(None).get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_bodies_that_are_too_large_or_not_json_are_refused(connect: Any) -> None:
    client = connect(Role.EDITOR)
    large = client.post(
        "/api/v1/catalog/diff",
        content=b"x" * 10_000_001,
        headers={"content-type": "application/json"},
    )
    assert (large.status_code, large.json()["code"]) == (413, "BodyTooLarge")
    for body in (b"{", b"[]", b"null", b"\xff", b'{"yaml": 1}', b'{"unknown": 1}'):
        answer = client.post(
            "/api/v1/catalog/diff", content=body, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (400, 422), body
        assert answer.headers["content-type"] == "application/problem+json"


def test_the_openapi_document_describes_every_column_of_a_run(connect: Any) -> None:
    document = connect(Role.VIEWER).get("/api/v1/openapi.json").json()
    described = document["components"]["schemas"]["Run"]["properties"]
    assert described["run_id"]["description"] == "The run."
