"""Leases: one holder at a time, a token that only rises, and no harm from those who slept."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from goldsmith.journal import errors, leases
from goldsmith.journal.events import RunStopped
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner, is_gone
from goldsmith.journal.tables import Lease
from plain_sql import PlainSql

RESOURCE = "s3://shop/silver/orders/"
#: Two living processes elsewhere: nobody here can say whether they are dead.
ANN = Owner(host="ann's laptop", pid=41, start="1000")
BOB = Owner(host="bob's laptop", pid=41, start="2000")

#: Say `ready`, wait for the word, try once, say which token came of it; then wait to be ended.
RACER = """
import sys
from goldsmith.catalog.catalog import Catalog
from goldsmith.journal import leases
from goldsmith.journal.events import RunStopped
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
catalog = Catalog.open(sys.argv[1])
journal = Journal(catalog.engine)
print("ready", flush=True)
sys.stdin.readline()
lease = leases.acquire(journal, sys.argv[2], Owner.this_process(), seconds=600)
print(0 if lease is None else lease.token, flush=True)
sys.stdin.readline()
catalog.close()
"""


def acquired(journal: Journal, owner: Owner, *, seconds: float = 600) -> Lease:
    lease = leases.acquire(journal, RESOURCE, owner, seconds=seconds, run_id="run-1")
    assert lease is not None
    return lease


def racer(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RACER, url, RESOURCE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def say(process: subprocess.Popen[str], line: str = "go") -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_free_place_is_taken_and_told(journal: Journal) -> None:
    lease = acquired(journal, ANN)
    assert (lease.token, lease.owner, lease.host, lease.pid) == (1, str(ANN), ANN.host, 41)
    assert leases.holder(journal, RESOURCE) == lease
    [event] = journal.read(kinds=["LeaseTaken"])
    assert (event.run_id, event.facts["token"], event.facts["resource"]) == ("run-1", 1, RESOURCE)


def test_a_held_place_is_refused_also_to_its_own_holder(journal: Journal) -> None:
    acquired(journal, ANN)
    assert leases.acquire(journal, RESOURCE, BOB) is None
    assert leases.acquire(journal, RESOURCE, ANN) is None
    assert leases.acquire(journal, "another place", BOB) is not None


def test_the_token_rises_also_after_a_release(journal: Journal) -> None:
    lease = acquired(journal, ANN)
    assert leases.release(journal, lease)
    assert leases.holder(journal, RESOURCE) is None
    assert acquired(journal, BOB).token == 2
    assert not leases.release(journal, lease)
    assert leases.holder(journal, RESOURCE) is not None


def test_an_expired_lease_can_be_taken_with_a_higher_token(journal: Journal) -> None:
    acquired(journal, ANN, seconds=-1)
    assert leases.holder(journal, RESOURCE) is None
    assert acquired(journal, BOB).token == 2
    event = journal.read(kinds=["LeaseTaken"])[-1]
    assert event.facts["taken_from"] == str(ANN)
    assert event.facts["because"] == "the lease had expired"


def test_a_heartbeat_holds_on(journal: Journal) -> None:
    lease = acquired(journal, ANN, seconds=-1)
    kept = leases.heartbeat(journal, lease, seconds=600)
    assert kept.token == lease.token
    assert leases.holder(journal, RESOURCE) == kept
    assert leases.acquire(journal, RESOURCE, BOB) is None


def test_a_frozen_owner_finds_its_lease_lost(journal: Journal) -> None:
    frozen = acquired(journal, ANN, seconds=-1)
    acquired(journal, BOB)
    assert not leases.is_mine(journal, frozen)
    with pytest.raises(errors.LeaseLost, match="bob's laptop") as raised:
        leases.heartbeat(journal, frozen)
    assert raised.value.transient
    [event] = journal.read(kinds=["LeaseLost"])
    assert (event.actor, event.facts["holder"]) == (str(ANN), str(BOB))


def test_a_lease_that_was_freed_by_others_is_lost_too(journal: Journal) -> None:
    lease = acquired(journal, ANN)
    assert leases.free_all(journal, run_id="run-1") == 1
    with pytest.raises(errors.LeaseLost, match="nobody holds it now"):
        leases.heartbeat(journal, lease)


def test_all_leases_of_an_owner_are_freed_in_the_callers_transaction(journal: Journal) -> None:
    acquired(journal, ANN)
    leases.acquire(journal, "another place", ANN, seconds=600)
    leases.acquire(journal, "bob's place", BOB, seconds=600)
    with journal.writing() as connection:
        assert leases.free_all(journal, owner=str(ANN), connection=connection) == 2
    assert leases.holder(journal, RESOURCE) is None
    assert leases.holder(journal, "bob's place") is not None


def test_takers_and_stoppers_never_wait_for_each_other(journal: Journal) -> None:
    def take_and_release(number: int) -> None:
        for _ in range(15):
            lease = leases.acquire(journal, RESOURCE, replace(ANN, pid=number), run_id="run-1")
            if lease is not None:
                leases.release(journal, lease)

    def stop(_number: int) -> None:
        for _ in range(15):
            with journal.writing() as connection:
                journal.record(RunStopped(run_id="run-1"), connection=connection)
                leases.free_all(journal, run_id="run-1", connection=connection)

    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(do, n) for n, do in enumerate([take_and_release, stop] * 2, start=1)]
        for each in work:
            each.result()
    tokens = [event.facts["token"] for event in journal.read(kinds=["LeaseTaken"])]
    assert tokens == sorted(set(tokens))


def test_leases_are_freed_by_name_only(journal: Journal) -> None:
    with pytest.raises(ValueError, match="Say whose"):
        leases.free_all(journal)


def test_a_publish_asks_inside_its_own_transaction(journal: Journal) -> None:
    lease = acquired(journal, ANN)
    with journal.writing() as connection:
        assert leases.is_mine(journal, lease, connection=connection)
        moved_on = replace(lease, token=2)
        assert not leases.is_mine(journal, moved_on, connection=connection)


def test_expiry_is_by_the_databases_clock(journal: Journal, plain: PlainSql) -> None:
    acquired(journal, ANN)
    plain.run("UPDATE leases SET expires_at = '2001-01-01 00:00:00+00:00'")
    assert leases.holder(journal, RESOURCE) is None


def test_of_many_processes_that_race_exactly_one_wins(catalog_url: str) -> None:
    racers = [racer(catalog_url) for _ in range(5)]
    try:
        assert [heard(process) for process in racers] == ["ready"] * 5
        for process in racers:
            say(process)
        assert sorted(heard(process) for process in racers) == ["0", "0", "0", "0", "1"]
    finally:
        for process in racers:
            end(process)


def test_a_process_that_died_on_this_host_is_seen_at_once(
    journal: Journal, catalog_url: str
) -> None:
    holder = racer(catalog_url)
    try:
        assert heard(holder) == "ready"
        say(holder)
        assert heard(holder) == "1"
        assert leases.acquire(journal, RESOURCE, Owner.this_process()) is None
    finally:
        end(holder)
    assert leases.holder(journal, RESOURCE) is None
    taken = acquired(journal, Owner.this_process())
    assert taken.token == 2
    assert journal.read(kinds=["LeaseTaken"])[-1].facts["because"] == "its process is gone"


def test_a_pid_that_was_used_again_is_another_process() -> None:
    me = Owner.this_process()
    assert me.pid == os.getpid()
    assert not is_gone(str(me))
    assert is_gone(str(replace(me, start="1")))


def test_nobody_judges_the_processes_of_another_host() -> None:
    assert not is_gone(str(ANN))
    assert not is_gone("written by hand")
    assert not is_gone(None)
    assert Owner.parse(str(ANN)) == ANN
