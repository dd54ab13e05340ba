"""Who may call what: every route needs a role, and no key reaches beyond its limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient

from goldsmith.api.app import PREFIX, PUBLIC, refuse_open_routes, roles_of
from goldsmith.journal import api_keys
from goldsmith.journal.access_tables import KeyKind, Role
from goldsmith.runtime import Runtime

#: What each route needs. A route that is missing here fails the test: decide who may call it.
EXPECTED = {
    "viewer": {
        "GET /status",
        "GET /plan",
        "GET /why",
        "GET /runs",
        "GET /runs/{run_id}",
        "GET /runs/{run_id}/events",
        "GET /runs/{run_id}/logs",
        "GET /requests",
        "GET /requests/{request_id}",
        "GET /flags",
        "GET /events",
        "GET /events/stream",
        "GET /catalog/tables",
        "GET /catalog/tables/{table}",
        "GET /catalog/tables/{table}/definition",
        "GET /catalog/tables/{table}/rows/{key:path}",
        "GET /catalog/findings",
        "POST /catalog/diff",
        "GET /catalog/export",
        "GET /catalog/history",
        "GET /datasets",
        "GET /datasets/freshness",
        "GET /datasets/{dataset_id}",
        "GET /datasets/{dataset_id}/sample",
        "GET /datasets/{dataset_id}/verdicts",
        "GET /datasets/{dataset_id}/paths",
        "GET /lineage/hotspots",
        "GET /lineage/export",
        "GET /lineage/{dataset_id}/up",
        "GET /lineage/{dataset_id}/down",
        "GET /lineage/{dataset_id}/columns",
        "GET /lineage/{dataset_id}/impact",
        "GET /drill",
        "GET /datasets/health",
        "GET /queue",
        "GET /schedules",
        "GET /schedules/{pipeline}/next",
        "GET /backfills",
        "GET /backfills/{backfill_id}",
        "GET /workers",
        "GET /throttles",
        "GET /throttles/{throttle_id}",
        "GET /quarantine",
        "GET /quarantine/{dataset_id}",
        "GET /checks",
        "GET /checks/{name}",
        "GET /healing/pairs",
        "GET /healing/uses",
        "GET /errors",
        "GET /errors/{name}",
        "GET /incidents",
        "GET /incidents/{incident_id}",
        "GET /session",
        "DELETE /session",
    },
    "operator": {
        "POST /runs/{run_id}/retry",
        "POST /requests",
        "DELETE /requests/{request_id}",
        "POST /flags/stop",
        "POST /flags/release",
        "POST /schedules/{pipeline}/pause",
        "POST /schedules/{pipeline}/resume",
        "POST /quarantine/{dataset_id}/replay",
        "POST /incidents/{incident_id}/acknowledge",
        "POST /incidents/{incident_id}/close",
    },
    "editor": {
        "PUT /catalog/tables/{table}/rows/{key:path}",
        "POST /catalog/apply",
        "POST /catalog/undo",
        "POST /quarantine/{dataset_id}/discard",
    },
    "admin": {"GET /settings", "GET /keys", "POST /keys", "DELETE /keys/{key_id}"},
}
#: Values that make every path an address.
NAMES = {
    "run_id": "run-1",
    "request_id": "request-1",
    "table": "pipelines",
    "key:path": "orders",
    "dataset_id": "bronze_orders",
    "name": "not_null",
    "incident_id": "incident-1",
    "key_id": "key-1",
    "pipeline": "orders",
    "backfill_id": "backfill-1",
    "throttle_id": "throttle-1",
}


def test_every_route_needs_the_role_that_was_decided_for_it() -> None:
    found: dict[str, set[str]] = {}
    for (method, path), needs in roles_of().items():
        if (method, path) not in PUBLIC:
            assert needs is not None
            found.setdefault(needs.role.value, set()).add(f"{method} {path.removeprefix(PREFIX)}")
    assert found == EXPECTED


def test_an_application_with_a_route_without_a_role_does_not_start() -> None:
    wrong = APIRouter()
    wrong.get("/open")(lambda: None)
    with pytest.raises(RuntimeError, match="name no role"):
        refuse_open_routes([wrong])


@pytest.mark.parametrize("role", [None, *Role])
def test_no_role_reaches_a_route_above_it(connect: Any, role: Role | None) -> None:
    client = connect(role)
    wrong = []
    for needed, routes in EXPECTED.items():
        for route in sorted(routes - {"GET /events/stream"}):
            method, path = route.split(" ")
            for name, value in NAMES.items():
                path = path.replace(f"{{{name}}}", value)
            status = client.request(method, PREFIX + path, json={}).status_code
            allowed = role is not None and role.includes(Role(needed))
            refused = status in (401, 403)
            if allowed is refused or status >= 500:
                wrong.append((route, status))
    assert wrong == []


def test_a_route_without_a_key_answers_with_a_problem(connect: Any) -> None:
    answer = connect(None).get("/api/v1/runs")
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["code"] == "NotSignedIn"
    assert "goldsmith keys create" in answer.json()["hint"]


@pytest.mark.parametrize("header", ["Bearer", "Bearer x", "Basic YTpi", "bearer gsk_\u00fc", "x"])
def test_a_wrong_key_is_refused(connect: Any, header: str) -> None:
    client = connect(None)
    answer = client.get("/api/v1/runs", headers={"Authorization": header.encode("utf-8")})
    assert answer.status_code == 401


def test_a_revoked_key_and_an_expired_key_are_refused(connect: Any, runtime: Runtime) -> None:
    client = connect(Role.VIEWER)
    assert client.get("/api/v1/runs").status_code == 200
    api_keys.revoke(runtime.journal, api_keys.listed(runtime.journal)[0].key_id, by="test")
    assert client.get("/api/v1/runs").status_code == 401
    _row, secret = api_keys.create(
        runtime.journal,
        owner="late",
        role=Role.ADMIN,
        created_by="test",
        expires_at=datetime.now(UTC) - timedelta(seconds=1),
    )
    late = connect(None)
    assert (
        late.get("/api/v1/runs", headers={"Authorization": f"Bearer {secret}"}).status_code == 401
    )


def test_no_secret_of_a_key_is_stored(connect: Any, runtime: Runtime) -> None:
    made = connect().post("/api/v1/keys", json={"owner": "ci", "role": "viewer"}).json()
    assert made["secret"].startswith("gsk_")
    assert "secret_hash" not in made
    stored = [str(key.as_plain()) for key in api_keys.listed(runtime.journal)]
    events = [str(event.as_plain()) for event in runtime.journal.read()]
    assert not any(made["secret"] in text for text in stored + events)


def test_a_limited_key_sees_and_stops_only_its_own_pipelines(connect: Any) -> None:
    client = connect(Role.OPERATOR, only=("tag:finance",))
    stop = {"entity": "pipeline:visits", "reason": "no"}
    assert client.post("/api/v1/flags/stop", json=stop).json()["code"] == "KeyIsLimited"
    everything = {"entity": "everything", "reason": "no"}
    assert client.post("/api/v1/flags/stop", json=everything).status_code == 403
    source = {"entity": "source:raw_orders", "reason": "no"}
    assert client.post("/api/v1/flags/stop", json=source).status_code == 403
    assert client.post("/api/v1/requests", json={"selection": ["visits"]}).status_code == 403
    assert client.get("/api/v1/runs?pipeline=visits").status_code == 403
    assert client.get("/api/v1/status").status_code == 403
    own = {"entity": "pipeline:orders", "reason": "yes"}
    assert client.post("/api/v1/flags/stop", json=own).status_code == 200
    assert client.post("/api/v1/requests", json={"selection": ["orders"]}).status_code == 202


def test_a_limit_that_names_nothing_any_more_allows_nothing(connect: Any) -> None:
    client = connect(Role.OPERATOR, only=("pipeline:gone",))
    assert client.get("/api/v1/runs").json() == {"items": [], "next": None}
    assert client.post("/api/v1/requests", json={"selection": ["orders"]}).status_code == 403


def sign_in(client: TestClient, runtime: Runtime, role: Role = Role.OPERATOR) -> str:
    _row, secret = api_keys.create(runtime.journal, owner="ann", role=role, created_by="test")
    answer = client.post("/api/v1/session", json={"key": secret})
    assert answer.status_code == 201
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    return str(answer.json()["csrf_token"])


def test_a_session_by_cookie_changes_nothing_without_its_csrf_token(
    connect: Any, runtime: Runtime
) -> None:
    client = connect(None)
    token = sign_in(client, runtime)
    assert client.get("/api/v1/session").json()["csrf_token"] == token
    stop = {"entity": "pipeline:orders", "reason": "x"}
    assert client.post("/api/v1/flags/stop", json=stop).json()["code"] == "NoCsrfToken"
    wrong = client.post("/api/v1/flags/stop", json=stop, headers={"X-CSRF-Token": "0" * 64})
    assert wrong.status_code == 403
    right = client.post("/api/v1/flags/stop", json=stop, headers={"X-CSRF-Token": token})
    assert right.status_code == 200


def test_signing_out_ends_the_session_everywhere(connect: Any, runtime: Runtime) -> None:
    client, copy = connect(None), connect(None)
    token = sign_in(client, runtime)
    copy.cookies.update(client.cookies)
    assert copy.get("/api/v1/session").status_code == 200
    assert client.delete("/api/v1/session", headers={"X-CSRF-Token": token}).status_code == 200
    assert copy.get("/api/v1/session").status_code == 401


def test_a_login_link_works_once(connect: Any, runtime: Runtime) -> None:
    _row, secret = api_keys.create(
        runtime.journal, owner="ann", role=Role.ADMIN, created_by="ann", kind=KeyKind.LOGIN
    )
    client = connect(None)
    first = client.get(f"/login?key={secret}", follow_redirects=False)
    assert first.status_code == 303
    assert client.get(first.headers["location"]).status_code == 200
    assert client.get("/api/v1/session").json()["owner"] == "ann"
    assert connect(None).get(f"/login?key={secret}").status_code == 401
    # A login key is no token.
    header = {"Authorization": f"Bearer {secret}"}
    assert connect(None).get("/api/v1/session", headers=header).status_code == 401


def test_revoking_a_key_ends_the_sessions_of_its_owner(connect: Any, runtime: Runtime) -> None:
    client = connect(None)
    sign_in(client, runtime)
    api_keys.revoke(runtime.journal, api_keys.listed(runtime.journal)[0].key_id, by="test")
    assert client.get("/api/v1/session").status_code == 401
