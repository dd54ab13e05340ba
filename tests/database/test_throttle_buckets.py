"""Buckets of throttles in the database: shared by processes, settled, given back by the dead."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from goldsmith.catalog.throttles import Throttle
from goldsmith.engine.pace import buckets
from goldsmith.engine.pace.buckets import HeldTokens, TokenWait, TokenWish
from goldsmith.engine.pace.states import states
from goldsmith.journal.clock import later, read_clock
from goldsmith.journal.definitions import throttle_leases
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.scheduling.token_bucket import BadThrottle
from plain_sql import PlainSql

ME = str(Owner.this_process())
#: 100 tokens a second, 300 at once.
RATE = Throttle(
    throttle_id="t",
    entity_type="source",
    entity_id="raw",
    metric="records_per_second",
    threshold=100,
)
SLOTS = Throttle(
    throttle_id="s", entity_type="target", entity_id="gold", metric="concurrent_stages", threshold=2
)


@dataclass
class Time:
    """The database's clock, moved by hand."""

    at: datetime

    def __call__(self, _connection: sa.Connection) -> datetime:
        return self.at

    def passes(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def time(journal: Journal) -> Time:
    with journal.reading() as connection:
        return Time(read_clock(connection).replace(second=10, microsecond=0))


@pytest.fixture
def take(journal: Journal, time: Time) -> Callable[..., HeldTokens | TokenWait]:
    def take(tokens: float, *throttles: Throttle, owner: str = ME) -> HeldTokens | TokenWait:
        wishes = [TokenWish(throttle=each, tokens=tokens) for each in throttles or (RATE,)]
        return buckets.acquire(journal, wishes, owner=owner, clock=time)

    return take


Take = Callable[..., HeldTokens | TokenWait]


def test_a_wait_is_as_long_as_the_tokens_need(take: Take, time: Time) -> None:
    assert isinstance(take(150), HeldTokens)
    assert isinstance(take(150), HeldTokens)
    wait = take(150)
    assert isinstance(wait, TokenWait)
    assert (wait.throttle_id, wait.seconds) == ("t", pytest.approx(1.5))
    time.passes(1.5)
    assert isinstance(take(150), HeldTokens)
    assert isinstance(take(1), TokenWait)


def test_an_object_larger_than_the_burst_is_a_debt_paid_before_the_next(
    take: Take, time: Time, journal: Journal
) -> None:
    assert isinstance(take(1300), HeldTokens)
    [state] = states(journal, [RATE], clock=time)
    assert state.tokens == pytest.approx(-1000)
    wait = take(10)
    assert isinstance(wait, TokenWait)
    assert wait.seconds == pytest.approx(10.1)
    assert state.wait_of_a_request is None  # a short debt is no gate
    take_more = [take(1), time.passes(10.0), take(1)]
    assert isinstance(take_more[2], TokenWait)
    time.passes(3.0)
    assert isinstance(take(5000), HeldTokens)
    assert states(journal, [RATE], clock=time)[0].wait_of_a_request == (
        "It waits for throttle t, 47 s."
    )


def test_actual_numbers_settle_a_batch(take: Take, time: Time, journal: Journal) -> None:
    held = take(150)
    assert isinstance(held, HeldTokens)
    buckets.settle(journal, held, {"t": 20}, clock=time)
    [state] = states(journal, [RATE], clock=time)
    assert state.tokens == 280
    assert state.rate == pytest.approx(20 / 60)
    held = take(100)
    assert isinstance(held, HeldTokens)
    buckets.settle(journal, held, {"t": 400}, clock=time)
    assert states(journal, [RATE], clock=time)[0].tokens == -120
    assert states(journal, [RATE], clock=time)[0].holders == ()


def test_a_changed_threshold_holds_for_the_next_tokens(take: Take, time: Time) -> None:
    take(300)
    slower = RATE.with_(threshold=10)
    wait = take(10, slower)
    assert isinstance(wait, TokenWait)
    assert wait.seconds == pytest.approx(1.0)
    time.passes(1.0)
    assert isinstance(take(10, slower), HeldTokens)
    # A lowered threshold lowers the default burst, whatever had been saved.
    time.passes(5)
    assert isinstance(take(30, slower), HeldTokens)
    assert isinstance(take(15, slower), TokenWait)


def test_tokens_of_a_dead_process_come_back(take: Take, time: Time, plain: PlainSql) -> None:
    gone = f"{Owner.this_process().host}:1:0"
    assert isinstance(take(300, owner=gone), HeldTokens)
    # Another host's process is known to be dead only when its lease has expired.
    assert isinstance(take(150, owner="elsewhere:1:0"), HeldTokens)
    assert isinstance(take(150, owner="elsewhere:2:0"), HeldTokens)
    assert isinstance(take(10), TokenWait)
    time.passes(0.001)
    plain.run("UPDATE throttle_leases SET expires_at = '2001-01-01 00:00:00+00:00'")
    assert isinstance(take(300), HeldTokens)
    assert plain.run("SELECT owner FROM throttle_leases") == [(ME,)]


def test_a_renewed_lease_does_not_expire(take: Take, journal: Journal, time: Time) -> None:
    held = take(300)
    assert isinstance(held, HeldTokens)
    with journal.writing() as connection:
        connection.execute(sa.update(throttle_leases).values(expires_at=later(-1.0)))
    buckets.renew(journal, held)
    assert isinstance(take(10), TokenWait)
    # A lease that expired while it was in use: the tokens came back, and are charged again.
    with journal.writing() as connection:
        connection.execute(sa.update(throttle_leases).values(expires_at=later(-60.0)))
    assert isinstance(take(0.5), HeldTokens)
    buckets.settle(journal, held, {"t": 300}, clock=time)
    assert states(journal, [RATE], clock=time)[0].tokens == pytest.approx(-0.5)


def test_all_throttles_grant_or_none_does(take: Take, journal: Journal, time: Time) -> None:
    other = RATE.with_(throttle_id="u", threshold=1000)
    take(300)
    assert isinstance(take(100, RATE, other), TokenWait)
    assert states(journal, [other], clock=time)[0].tokens == 3000


def test_slots_limit_how_many_stages_run_at_once(take: Take, journal: Journal) -> None:
    first, second = take(1, SLOTS), take(1, SLOTS)
    assert isinstance(first, HeldTokens)
    assert isinstance(second, HeldTokens)
    wait = take(1, SLOTS)
    assert isinstance(wait, TokenWait)
    assert wait.because == "2 of 2 stages use it"
    assert states(journal, [SLOTS])[0].wait_of_a_request == (
        "It waits for throttle s, 2 of 2 stages use it."
    )
    buckets.settle(journal, first, {})
    assert isinstance(take(1, SLOTS), HeldTokens)
    assert isinstance(take(1, SLOTS.with_(threshold=3)), HeldTokens)
    assert isinstance(take(1, SLOTS.with_(threshold=1)), TokenWait)


def test_a_refusal_halves_the_rate_and_it_recovers(
    take: Take, journal: Journal, time: Time
) -> None:
    take(300)
    buckets.lower(journal, [RATE, SLOTS], "503 SlowDown", clock=time)
    [state] = states(journal, [RATE], clock=time)
    assert (state.effective, state.refused_because) == (0.5, "503 SlowDown")
    time.passes(1)
    [state] = states(journal, [RATE], clock=time)
    assert state.tokens == pytest.approx(50)
    time.passes(119)
    assert states(journal, [RATE], clock=time)[0].effective == pytest.approx(0.6)
    buckets.lower(journal, [RATE], "503 SlowDown", clock=time)
    assert states(journal, [RATE], clock=time)[0].effective == pytest.approx(0.3)
    time.passes(3600)
    assert states(journal, [RATE], clock=time)[0].effective == 1.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"threshold": 0.0}, "threshold is 0"),
        ({"threshold": -1.0}, "threshold is -1"),
        ({"threshold": None}, "threshold is 0"),
        ({"metric": "rows"}, "'rows' is no metric"),
        ({"metric": "concurrent_stages", "threshold": 0.0}, "threshold is 0"),
    ],
)
def test_a_row_that_is_no_limit_opens_no_gate(take: Take, changes: dict, says: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(BadThrottle, match=says) as found:
        take(1, RATE.with_(**changes))
    assert "(t)" in str(found.value)


def test_four_processes_share_one_bucket(catalog_url: str, plain: PlainSql) -> None:
    plain.run(
        "INSERT INTO throttles (throttle_id, entity_type, entity_id, metric, threshold, burst)"
        " VALUES ('t', 'source', 'raw', 'records_per_minute', 0.001, 1000)"
    )
    worker = Path(__file__).with_name("throttled.py")
    processes = [
        subprocess.Popen(
            [sys.executable, str(worker), catalog_url, "10"], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    granted = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    # 10 tokens each time, until nothing is left: no token is granted twice and none is lost.
    assert sum(granted) == 100
    assert plain.run("SELECT sum(used) FROM throttle_usage") == [(1000.0,)]
    assert plain.run("SELECT count(*) FROM throttle_leases") == [(0,)]
