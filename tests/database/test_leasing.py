"""Leases that a process holds are kept alive by one thread, each until it is let go."""

from __future__ import annotations

import threading
import time
from datetime import datetime

import pytest

from goldsmith.engine.leasing import Held
from goldsmith.journal import leases
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner

PLACES = ("s3://shop/bronze/orders", "s3://shop/silver/orders")
#: Longer than any machine takes for a heartbeat.
MOST_SECONDS = 60


def held(journal: Journal, place: str) -> Held:
    lease = leases.acquire(journal, place, Owner.this_process())
    assert lease is not None
    return Held(journal, lease)


def expires_at(journal: Journal, place: str) -> datetime:
    holder = leases.holder(journal, place)
    assert holder is not None
    assert holder.expires_at is not None
    return holder.expires_at


def test_one_thread_keeps_all_of_them(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.02)
    both = [held(journal, place) for place in PLACES]
    before = [expires_at(journal, place) for place in PLACES]
    until = time.monotonic() + MOST_SECONDS
    while any(expires_at(journal, p) == was for p, was in zip(PLACES, before, strict=True)):
        assert time.monotonic() < until, "no heartbeat came"
    assert [thread.name for thread in threading.enumerate()].count("leases") == 1
    for one in both:
        one.let_go()
    assert [leases.holder(journal, place) for place in PLACES] == [None, None]


def test_nothing_is_said_of_one_that_was_let_go(journal: Journal) -> None:
    mine = held(journal, PLACES[0])
    mine.let_go()
    mine.say_again()
    assert mine.lost is None
    assert leases.holder(journal, PLACES[0]) is None
    assert journal.read(kinds=["LeaseLost"]) == []


def test_one_that_was_lost_is_known_to_be_lost_and_told_once(journal: Journal) -> None:
    mine = held(journal, PLACES[0])
    assert leases.free_all(journal, owner=str(Owner.this_process())) == 1
    mine.say_again()
    mine.say_again()
    assert mine.lost is not None
    with pytest.raises(type(mine.lost)):
        mine.still_mine()
    assert len(journal.read(kinds=["LeaseLost"])) == 1
    mine.let_go()
