"""Leases that a process holds are kept alive by one thread, each until it is let go."""

from __future__ import annotations

import threading
import time
from datetime import datetime

import pytest

from goldsmith.engine.publish.leases import HeldLease
from goldsmith.journal import leases
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner

RESOURCES = ("s3://shop/bronze/orders", "s3://shop/silver/orders")
#: Longer than any machine takes for a heartbeat.
MOST_SECONDS = 60


def held(journal: Journal, resource: str) -> HeldLease:
    lease = leases.acquire(journal, resource, Owner.this_process())
    assert lease is not None
    return HeldLease(journal, lease)


def expires_at(journal: Journal, resource: str) -> datetime:
    holder = leases.holder(journal, resource)
    assert holder is not None
    assert holder.expires_at is not None
    return holder.expires_at


def test_one_thread_keeps_all_of_them(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.02)
    both = [held(journal, resource) for resource in RESOURCES]
    before = [expires_at(journal, resource) for resource in RESOURCES]
    until = time.monotonic() + MOST_SECONDS
    while any(expires_at(journal, p) == was for p, was in zip(RESOURCES, before, strict=True)):
        assert time.monotonic() < until, "no heartbeat came"
    assert [thread.name for thread in threading.enumerate()].count("leases") == 1
    for lease in both:
        lease.release()
    assert [leases.holder(journal, resource) for resource in RESOURCES] == [None, None]


def test_nothing_is_said_of_one_that_was_let_go(journal: Journal) -> None:
    mine = held(journal, RESOURCES[0])
    mine.release()
    mine.send_heartbeat()
    assert mine.lost is None
    assert leases.holder(journal, RESOURCES[0]) is None
    assert journal.read(kinds=["LeaseLost"]) == []


def test_one_that_was_lost_is_known_to_be_lost_and_told_once(journal: Journal) -> None:
    mine = held(journal, RESOURCES[0])
    assert leases.free_all(journal, owner=str(Owner.this_process())) == 1
    mine.send_heartbeat()
    mine.send_heartbeat()
    assert mine.lost is not None
    with pytest.raises(type(mine.lost)):
        mine.ensure_held()
    assert len(journal.read(kinds=["LeaseLost"])) == 1
    mine.release()
