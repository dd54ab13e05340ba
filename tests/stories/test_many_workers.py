"""Many short pipelines on several workers: each runs once, whatever is killed meanwhile."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from servers import postgres
from servers.postgres import Postgres
from stories.fleet import Fleet, catalog_of, end
from stories.service_processes import until

_SERVICE = ("serve", "--no-api", "--probe-port", "0", "--workers")


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A PostgreSQL that a test may restart."""
    with postgres.running() as server:
        server.create("catalog")
        yield server


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def keep_workers(fleet: Fleet, stack: ExitStack, count: int) -> None:
    for _ in range(count - len(fleet.workers())):
        stack.enter_context(fleet.started("worker"))
    until(lambda: len(fleet.workers()) >= count)


def kill_one(fleet: Fleet) -> None:
    os.kill(fleet.workers()[0], signal.SIGKILL)


def at_left(fleet: Fleet, left: int, do: Callable[[], object]) -> None:
    """Do something once no more than so many requests are left."""
    until(lambda: fleet.left() <= left)
    do()


def test_two_workers_on_sqlite_run_each_request_once_though_one_is_killed(
    tmp_path: Path, stack: ExitStack
) -> None:
    folder = tmp_path / "fleet"
    fleet = Fleet.make(folder, f"sqlite:///{folder}/.goldsmith/catalog.db", rows=catalog_of(60))
    keep_workers(fleet, stack, 2)
    names = fleet.put([f"p{n}" for n in range(60)])
    at_left(fleet, 40, lambda: kill_one(fleet))
    keep_workers(fleet, stack, 2)
    fleet.until_over()
    fleet.check_each_ran_once(names)


@pytest.mark.postgres
def test_two_workers_on_postgresql_run_each_request_once_though_the_database_restarts(
    tmp_path: Path, stack: ExitStack, own_server: Postgres
) -> None:
    fleet = Fleet.make(tmp_path / "fleet", own_server.url("catalog"), rows=catalog_of(60))
    keep_workers(fleet, stack, 2)
    names = fleet.put([f"p{n}" for n in range(60)])
    at_left(fleet, 45, lambda: kill_one(fleet))
    at_left(fleet, 30, own_server.restart)
    keep_workers(fleet, stack, 2)
    fleet.until_over()
    fleet.check_each_ran_once(names)


def disturb(fleet: Fleet, stack: ExitStack, workers: int, more: list[Callable[[], object]]) -> None:
    """Kill a worker every few seconds until all requests are over; do the rest on the way."""
    for turn in itertools.count():
        if not fleet.left():
            return
        until(lambda: len(fleet.workers()) >= workers or not fleet.left())
        if turn % 2 and more:
            more.pop(0)()
        elif fleet.workers():
            kill_one(fleet)
        time.sleep(3)


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.parametrize("workers", [2, 4])
def test_a_service_on_postgresql_runs_each_request_once_whatever_dies(
    tmp_path: Path, stack: ExitStack, own_server: Postgres, workers: int
) -> None:
    fleet = Fleet.make(tmp_path / "fleet", own_server.url("catalog"), rows=catalog_of(200))
    first = stack.enter_context(fleet.started(*_SERVICE, str(workers)))
    until(lambda: len(fleet.workers()) == workers)
    names = fleet.put([f"p{n}" for n in range(200)])

    def kill_service() -> None:
        first.kill()  # its workers go on
        stack.enter_context(fleet.started(*_SERVICE, str(workers)))

    disturb(fleet, stack, workers, [own_server.restart, kill_service])
    fleet.check_each_ran_once(names)


@pytest.mark.soak
def test_a_service_on_sqlite_runs_each_request_once_whatever_dies(
    tmp_path: Path, stack: ExitStack
) -> None:
    folder = tmp_path / "fleet"
    fleet = Fleet.make(folder, f"sqlite:///{folder}/.goldsmith/catalog.db", rows=catalog_of(200))
    first = stack.enter_context(fleet.started(*_SERVICE, "2"))
    until(lambda: len(fleet.workers()) == 2)
    names = fleet.put([f"p{n}" for n in range(200)])

    def kill_service() -> None:
        first.kill()
        stack.enter_context(fleet.started(*_SERVICE, "2"))

    disturb(fleet, stack, 2, [kill_service])
    fleet.check_each_ran_once(names)


def test_a_frozen_worker_does_no_harm_when_it_wakes(tmp_path: Path, stack: ExitStack) -> None:
    folder = tmp_path / "fleet"
    fleet = Fleet.make(folder, f"sqlite:///{folder}/.goldsmith/catalog.db", rows=catalog_of(2))
    held = tmp_path / "held"
    frozen = stack.enter_context(fleet.started("worker", fault=f"leased:hold={held}"))
    [request] = fleet.put(["p0"])
    until(held.exists)
    frozen.send_signal(signal.SIGSTOP)
    stack.enter_context(fleet.started("worker"))
    # Its leases expire, as they do after fifteen seconds.
    for table in ("requests", "leases", "workers"):
        fleet.sql(f"UPDATE {table} SET expires_at = '2001-01-01 00:00:00' WHERE {_OF[table]}")
    until(lambda: fleet.left() == 0)
    held.unlink()
    frozen.send_signal(signal.SIGCONT)
    until(lambda: len(fleet.workers()) == 2)
    assert end(frozen) == 0
    fleet.check_each_ran_once([request])


#: The rows of the frozen worker, by table.
_OF = {
    "requests": "status = 'running'",
    "leases": "owner IS NOT NULL",
    "workers": "status = 'active' AND started_at = (SELECT MIN(started_at) FROM workers)",
}
