"""The service's rows: each due start fires once, a silent worker loses its requests, gates wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.journal import requests, schedule_fires, waits, workers
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Request, RequestStatus
from goldsmith.journal.tables_of_service import ScheduleFire, WaitRow, WorkerRow, WorkerStatus
from plain_sql import PlainSql

NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)
ORDERS = Request(request_id="request-1", selection=("orders",), pipelines=("orders",))
DUE = ScheduleFire(subject="pipeline:orders", due_at=NOON, schedule="0 12 * * *")


def test_of_many_services_one_fires_a_due_start(journal: Journal) -> None:
    def fire(number: int) -> bool:
        return schedule_fires.fire(journal, DUE, ORDERS.with_(request_id=f"request-{number}"))

    with ThreadPoolExecutor(4) as pool:
        fired = list(pool.map(fire, range(8)))
    assert fired.count(True) == 1
    assert len(requests.due(journal)) == 1


def test_a_start_that_is_left_out_is_a_row_without_a_request(journal: Journal) -> None:
    assert schedule_fires.fire(journal, DUE.with_(because="the schedule is paused"), None)
    assert not schedule_fires.fire(journal, DUE, ORDERS)
    assert requests.due(journal) == []
    assert schedule_fires.last(journal)["pipeline:orders"].because == "the schedule is paused"


def test_the_newest_fire_of_a_schedule_outlives_retention(journal: Journal) -> None:
    for day in range(3):
        schedule_fires.fire(journal, DUE.with_(due_at=NOON + timedelta(days=day)), None)
    schedule_fires.forget_before(journal, NOON + timedelta(days=30))
    [left] = schedule_fires.of(journal, "pipeline:orders")
    assert left.due_at == NOON + timedelta(days=2)


def test_a_request_is_leased_with_a_token_that_rises(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    first = requests.take(journal, "request-1", "w1")
    assert first is not None
    assert (first.token, first.expires_at is not None) == (1, True)
    requests.requeue(journal, "request-1", "w1 died", worker="w1")
    second = requests.take(journal, "request-1", "w2")
    assert second is not None
    assert second.token == 2


def test_a_request_of_a_silent_worker_expires_and_a_heartbeat_keeps_it(
    journal: Journal, plain: PlainSql
) -> None:
    requests.put(journal, ORDERS)
    requests.take(journal, "request-1", "w1")
    assert requests.expired(journal) == []
    plain.run("UPDATE requests SET expires_at = '2001-01-01 00:00:00'")
    assert [request.request_id for request in requests.expired(journal)] == ["request-1"]
    assert workers.renew_requests(journal, "w2") == set()
    assert workers.renew_requests(journal, "w1") == {"request-1"}
    assert requests.expired(journal) == []


def test_a_row_that_somebody_has_locked_is_passed_over(journal: Journal, plain: PlainSql) -> None:
    if plain.is_sqlite:
        pytest.skip("SQLite locks the file, not rows")
    requests.put(journal, ORDERS)
    plain.run("BEGIN")
    plain.run("SELECT * FROM requests FOR UPDATE")
    assert requests.take(journal, "request-1", "w1") is None
    plain.run("COMMIT")
    assert requests.take(journal, "request-1", "w1") is not None


def test_a_worker_is_alive_until_it_ends_or_falls_silent(journal: Journal, plain: PlainSql) -> None:
    workers.register(journal, WorkerRow(worker="elsewhere:1:", slots=4))
    assert [row.worker for row in workers.alive(journal)] == ["elsewhere:1:"]
    workers.beat(journal, "elsewhere:1:", WorkerStatus.DRAINING)
    assert workers.alive(journal) == []
    workers.beat(journal, "elsewhere:1:", WorkerStatus.ACTIVE)
    plain.run("UPDATE workers SET expires_at = '2001-01-01 00:00:00'")
    assert workers.alive(journal) == []
    assert workers.beat(journal, "elsewhere:1:")
    workers.end(journal, "elsewhere:1:")
    assert [(row.status, lives) for row, lives in workers.listed(journal)] == [("ended", False)]


def test_a_clock_that_is_minutes_off_is_refused_with_a_sentence(journal: Journal) -> None:
    assert abs(workers.refuse_wrong_clock(journal)) < workers.CLOCK_TOLERANCE_SECONDS
    ahead = datetime.now(UTC) + timedelta(minutes=5)
    with pytest.raises(workers.ClockDiffers, match="ahead of the clock of the catalog's database"):
        workers.refuse_wrong_clock(journal, ahead)


def test_a_wait_keeps_its_start_while_the_gate_is_the_same(journal: Journal) -> None:
    wait = WaitRow(subject="request-1", gate="profile", because="2 requests come first")
    waits.note(journal, wait)
    first = waits.listed(journal)["request-1"]
    waits.note(journal, wait.with_(because="1 request comes first"))
    second = waits.listed(journal)["request-1"]
    assert (second.because, second.since) == ("1 request comes first", first.since)
    waits.over(journal, "request-1")
    assert waits.listed(journal) == {}


def test_a_newer_start_cancels_a_waiting_one_and_marks_a_running_one(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    assert requests.supersede(journal, "request-1").status == RequestStatus.CANCELLED
    requests.put(journal, ORDERS.with_(request_id="request-2"))
    requests.take(journal, "request-2", "w1")
    marked = requests.supersede(journal, "request-2")
    assert (marked.status, marked.options) == ("running", {requests.SUPERSEDED: True})


def test_a_paused_schedule_is_a_flag_of_its_own_name(catalog: Catalog) -> None:
    flag = Flag(entity_type="pipeline", entity_id="orders", flag_name="schedule", flag_value=False)
    with catalog.change(actor="ann") as change:
        change.put([Pipeline(pipeline_id="orders", schedule="@daily"), flag])
    assert not flag.stops(datetime.now(UTC))  # `goldsmith run` still works


def test_a_pipeline_without_policies_catches_up_once_and_queues(
    catalog: Catalog, plain: PlainSql
) -> None:
    plain.run("INSERT INTO pipelines (pipeline_id, schedule) VALUES ('a', '@daily')")
    stored = catalog.snapshot().get(Pipeline, "a")
    assert stored is not None
    assert (stored.missed_runs, stored.overlap, stored.catch_up_limit) == ("once", "queue", 100)
    assert (stored.run_window, stored.criticality) == (None, None)
