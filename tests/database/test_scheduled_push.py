"""Scheduled pushes: due by a row, through the gates, once an hour, later if a receiver is down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from goldsmith.credentials import SecretMissing
from goldsmith.emitters.receiver import HttpReceiver
from goldsmith.journal import pushes, requests, waits
from goldsmith.journal.tables import Request
from goldsmith.runtime import Runtime
from goldsmith.service.clock import Clock
from goldsmith.storage import lake_catalog
from goldsmith.worker import scheduled_push, upkeep
from goldsmith.worker.admission import admit
from goldsmith.worker.queue_state import StageEstimates
from plain_sql import PlainSql
from servers.ingest import IngestServer, running

UUID = "11111111-1111-4111-8111-111111111111"
TOKEN = "a-secret-token-of-the-tests"


@pytest.fixture
def server() -> Iterator[IngestServer]:
    with running() as started:
        yield started


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    monkeypatch.setattr(scheduled_push, "HttpReceiver", partial(HttpReceiver, waits=()))
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url, "KEY": "K", "TOKEN": TOKEN}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def request_of(runtime: Runtime, plain: PlainSql, server: IngestServer, tmp_path: Path) -> Request:
    """The request of a schedule that fell due."""
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE orders AS SELECT 1 AS id")
    settings = json.dumps({"path": str(file)})
    plain.run(
        "INSERT INTO push_schedules (push_schedule_id, warehouse, connection, resource_uuid, "
        "endpoint, key_id, key_token, schedule) VALUES ('shop', 'duckdb', "
        f"'{settings}', '{UUID}', '{server.url}', 'env:KEY', 'env:TOKEN', 'every 1h')"
    )
    clock = Clock(runtime, "service")
    assert clock.turn() == []
    past = datetime.now(UTC) - timedelta(hours=2)
    plain.run(f"UPDATE schedule_fires SET due_at = '{past:%Y-%m-%d %H:%M:%S}'")
    [fire] = clock.turn()
    assert fire.subject == "push:shop"
    return requests.get(runtime.journal, str(fire.request_id))


def names(server: IngestServer) -> list[str]:
    return [
        event["relational_asset"]["metadata"]["name"]
        for body in server.bodies
        for event in json.loads(body)["events"]
    ]


def test_a_row_with_a_schedule_collects_and_pushes_once_an_hour(
    runtime: Runtime, plain: PlainSql, server: IngestServer, request_of: Request
) -> None:
    done = scheduled_push.push_scheduled(runtime, request_of)
    assert "pushed 1 items of metadata" in done
    assert (names(server), server.headers[0]["x-mcd-token"]) == (["orders"], TOKEN)
    [row] = pushes.listed(runtime.journal)
    assert row.requested_by == "schedule:shop"
    assert row.started_at is not None
    with pytest.raises(scheduled_push.TryAgain) as later:
        scheduled_push.push_scheduled(runtime, request_of)
    assert later.value.at == row.started_at + timedelta(hours=1)
    assert len(server.bodies) == 1
    plain.run("UPDATE pushes SET started_at = '2026-01-01 00:00:00+00:00'")
    scheduled_push.push_scheduled(runtime, request_of)
    assert names(server) == ["orders", "orders"]


def test_nothing_is_lost_while_the_receiver_is_down(
    runtime: Runtime, server: IngestServer, request_of: Request
) -> None:
    server.status = lambda _number: 503
    with pytest.raises(scheduled_push.TryAgain) as later:
        scheduled_push.push_scheduled(runtime, request_of)
    assert "503" in later.value.because
    assert later.value.at > datetime.now(UTC)
    server.bodies.clear()
    server.status = lambda _number: 202
    scheduled_push.push_scheduled(runtime, request_of)
    assert names(server) == ["orders"]


def test_a_push_waits_at_the_gates_and_while_everything_is_stopped(
    runtime: Runtime, plain: PlainSql, server: IngestServer, request_of: Request
) -> None:
    # It passes the gates like any request; there is no worker here.
    assert admit(runtime, StageEstimates(runtime)).start == ()
    waiting = waits.listed(runtime.journal)[request_of.request_id]
    assert (waiting.gate, waiting.because) == ("profile", "No worker is alive.")
    plain.run(
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, reason) "
        "VALUES ('everything', '*', 'enabled', false, 'a leak')"
    )
    with pytest.raises(scheduled_push.TryAgain) as later:
        scheduled_push.push_scheduled(runtime, request_of)
    assert "a leak" in later.value.because
    assert server.bodies == []
    plain.run("DELETE FROM control_flags")
    scheduled_push.push_scheduled(runtime, request_of)
    assert names(server) == ["orders"]


def test_a_key_that_is_missing_is_named_and_own_means_our_lake(
    runtime: Runtime, plain: PlainSql, request_of: Request
) -> None:
    plain.run("UPDATE push_schedules SET key_token = 'env:NOT_SET'")
    with pytest.raises(SecretMissing, match="NOT_SET"):
        scheduled_push.push_scheduled(runtime, request_of)
    plain.run("UPDATE push_schedules SET key_token = 'env:TOKEN', warehouse = 'own'")
    assert "nothing to push" in scheduled_push.push_scheduled(runtime, request_of)


def test_a_worker_puts_the_request_back_until_the_hour_is_over(
    runtime: Runtime, server: IngestServer, request_of: Request
) -> None:
    class Resources:
        """The two parts of a worker's resources that a push uses."""

        owner = "worker-1"

        @staticmethod
        def hide(text: str) -> str:
            return runtime.secrets.redact(text)

    def executed() -> Request:
        taken = requests.take(runtime.journal, request_of.request_id, "worker-1")
        assert taken is not None
        return upkeep.execute(runtime, Resources(), taken)  # type: ignore[arg-type]

    server.status = lambda _number: 500
    again = executed()
    assert (again.status, again.not_before is not None) == ("waiting", True)
    assert TOKEN not in str(again.because)
    server.status = lambda _number: 202
    done = executed()
    assert (done.status, "invocation ids" in str(done.because)) == ("done", True)


def test_our_own_lake_is_pushed_with_rows_columns_and_freshness(
    runtime: Runtime, plain: PlainSql, server: IngestServer, request_of: Request
) -> None:
    rows = pa.table({"id": [1, 2, 3]})
    lake_catalog.prepare(runtime.storage)
    lake = runtime.storage.lake()
    assert lake is not None
    lake.create_namespace("gold")
    lake.create_table("gold.orders", rows.schema).append(rows)
    runtime.storage.forget()
    plain.run("UPDATE push_schedules SET warehouse = 'own'")
    assert "pushed 1 items" in scheduled_push.push_scheduled(runtime, request_of)
    [event] = json.loads(server.bodies[0])["events"]
    asset = event["relational_asset"]
    assert asset["metadata"] == {"name": "orders", "database": lake.name, "schema": "gold"}
    assert asset["volume"]["row_count"] == 3
    assert asset["freshness"]["last_update_time"]
    # The lake is still open for the runtime.
    assert runtime.storage.lake().table_exists("gold.orders")
