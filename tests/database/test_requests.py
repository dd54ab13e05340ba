"""Requests: they wait with a reason, one worker takes each, and they end once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from goldsmith.journal import requests
from goldsmith.journal.errors import RequestElsewhere, UnknownRequest
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Request, RequestStatus

NOON = datetime(2025, 11, 16, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
ORDERS = Request(
    request_id="request-1",
    selection=("orders+",),
    pipelines=("orders",),
    options={"full_refresh": True},
    asked_by="ann",
)


def kinds(journal: Journal) -> list[str | None]:
    return [event.kind for event in journal.read(request_id="request-1")]


def due(journal: Journal, at: datetime | None = None) -> list[str]:
    return [request.request_id for request in requests.due(journal, at)]


def test_what_was_asked_for_is_kept_as_it_was_asked(journal: Journal) -> None:
    kept = requests.put(journal, ORDERS, at=NOON)
    assert kept == ORDERS.with_(status="waiting", asked_at=NOON)
    assert requests.get(journal, "request-1") == kept
    [event] = journal.read()
    assert (event.kind, event.actor, event.pipeline_id) == ("RunRequested", "ann", "orders")
    assert event.facts["options"] == {"full_refresh": True}


def test_the_first_asked_for_is_due_first(journal: Journal) -> None:
    requests.put(journal, ORDERS.with_(request_id="later"), at=LATER)
    requests.put(journal, ORDERS.with_(request_id="first"), at=NOON)
    requests.put(journal, ORDERS.with_(request_id="tomorrow", not_before=LATER), at=NOON)
    assert due(journal, NOON) == ["first", "later"]
    assert due(journal, LATER) == ["first", "tomorrow", "later"]


def test_without_a_moment_the_databases_clock_decides(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    far = datetime(2999, 1, 1, tzinfo=UTC)
    requests.put(journal, ORDERS.with_(request_id="some day", not_before=far))
    assert due(journal) == ["request-1"]


def test_the_same_reason_again_is_not_news(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    for _tick in range(3):
        requests.wait(journal, "request-1", "3 of 3 slots are taken")
    waits = requests.wait(journal, "request-1", "orders is stopped", not_before=LATER)
    assert (waits.because, waits.not_before) == ("orders is stopped", LATER)
    assert kinds(journal) == ["RunRequested", "RequestWaiting", "RequestWaiting"]


def test_one_worker_takes_a_request(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    taken = requests.take(journal, "request-1", "w1")
    assert taken is not None
    assert (taken.status, taken.worker) == ("running", "w1")
    assert requests.take(journal, "request-1", "w2") is None
    assert requests.take(journal, "nothing", "w2") is None
    assert due(journal) == []
    assert [r.request_id for r in requests.with_status(journal, RequestStatus.RUNNING)] == [
        "request-1"
    ]


def test_of_many_workers_that_race_one_takes_it(journal: Journal) -> None:
    names = [f"request-{number}" for number in range(10)]
    for name in names:
        requests.put(journal, ORDERS.with_(request_id=name))

    def take_all(worker: int) -> list[str]:
        taken = (requests.take(journal, name, f"w{worker}") for name in names)
        return [request.request_id for request in taken if request is not None]

    with ThreadPoolExecutor(4) as pool:
        taken = [name for names in pool.map(take_all, range(4)) for name in names]
    assert sorted(taken) == names


def test_a_request_is_done_with_the_runs_it_led_to(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    requests.take(journal, "request-1", "w1")
    ended = requests.done(journal, "request-1", run_ids=["run-1", "run-2"], at=LATER)
    assert (ended.status, ended.run_ids, ended.ended_at) == ("done", ("run-1", "run-2"), LATER)
    assert kinds(journal) == ["RunRequested", "RequestTaken", "RequestEnded"]


def test_a_worker_that_lost_a_request_cannot_end_it(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    requests.take(journal, "request-1", "w1")
    requests.requeue(journal, "request-1", "w1 died")
    requests.take(journal, "request-1", "w2")
    with pytest.raises(RequestElsewhere, match="w2"):
        requests.done(journal, "request-1", worker="w1")
    assert requests.done(journal, "request-1", worker="w2").status == "done"


def test_a_retry_waits_in_the_same_row(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    requests.take(journal, "request-1", "w1")
    requests.failed(journal, "request-1", because="SourceUnreachable", run_ids=["run-1"])
    again = requests.requeue(
        journal, "request-1", "it often passes", not_before=LATER, attempt=2, after_run_id="run-1"
    )
    assert (again.status, again.attempt, again.worker, again.ended_at) == (
        "waiting",
        2,
        None,
        None,
    )
    assert again.run_ids == ("run-1",)
    assert due(journal, NOON) == []
    assert due(journal, LATER) == ["request-1"]


def test_a_stop_can_be_released(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    requests.stopped(journal, "request-1", because="ann: vendor outage", actor="ann")
    assert due(journal) == []
    requests.requeue(journal, "request-1", "released by bob")
    assert due(journal) == ["request-1"]


def test_what_runs_cannot_be_cancelled_and_what_is_done_stays_done(journal: Journal) -> None:
    requests.put(journal, ORDERS)
    requests.take(journal, "request-1", "w1")
    with pytest.raises(RequestElsewhere, match="cannot be cancelled: it is running"):
        requests.cancel(journal, "request-1")
    requests.done(journal, "request-1")
    with pytest.raises(RequestElsewhere, match="is done"):
        requests.requeue(journal, "request-1", "once more")
    with pytest.raises(RequestElsewhere, match="is done"):
        requests.wait(journal, "request-1", "for nothing")


def test_an_unknown_request_is_an_error(journal: Journal) -> None:
    with pytest.raises(UnknownRequest):
        requests.get(journal, "nothing")
    with pytest.raises(UnknownRequest):
        requests.done(journal, "nothing")
