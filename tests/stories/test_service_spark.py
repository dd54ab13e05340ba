"""The service on real Spark: workers run requests, follow-ups fire, a killed worker is replaced."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from stories.shop import CATALOG, GOLDSMITH, Shop

_PATIENCE_SECONDS = 180.0
_FOLLOW_UP = (
    CATALOG.replace(
        "stages:\n",
        "  - {pipeline_id: totals, schedule: 'after: orders'}\nstages:\n"
        "  - pipeline_id: totals\n"
        "    stage_order: 1\n"
        "    source_id: silver_orders\n"
        "    target_id: order_totals\n"
        "    write_mode: overwrite\n"
        "    transform_sql: SELECT SUM(amount) AS amount FROM silver_orders\n",
        1,
    )
    + "  - {target_id: order_totals, location: s3://shop/gold/totals/, type: s3}\n"
)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop.make(tmp_path / "shop")
    made.apply(_FOLLOW_UP)
    return made


@contextmanager
def started(shop: Shop, *arguments: str, fault: str | None = None) -> Iterator[Any]:
    """A goldsmith process that runs until it is ended; what is left of it is killed."""
    environ = {**os.environ, **({"GOLDSMITH_FAULT": fault} if fault else {})}
    process = subprocess.Popen(
        [str(GOLDSMITH), "--project", str(shop.folder), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


Found = TypeVar("Found")


def until(look: Callable[[], Found]) -> Found:
    """What `look` finds once it finds something."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing was found in {_PATIENCE_SECONDS:.0f} s")


def rows_of(shop: Shop, query: str) -> list[Any]:
    """What plain SQL reads from the catalog."""
    connection = sqlite3.connect(shop.folder / ".goldsmith" / "catalog.db", timeout=30)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def active_workers(shop: Shop) -> list[tuple[str, int]]:
    """Name and process id of each living worker."""
    query = "SELECT worker, pid FROM workers WHERE kind = 'worker' AND status = 'active'"
    return [row for row in rows_of(shop, query) if Path(f"/proc/{row[1]}").exists()]


def test_run_goes_on_itself_when_the_worker_it_follows_is_killed(shop: Shop) -> None:
    shop.bring("file-0", (1, 10, "2026-01-01"), (2, 5, "2026-01-01"))
    with started(shop, "worker", fault="published") as worker:
        until(lambda: active_workers(shop))
        shop.run()
        assert worker.wait(_PATIENCE_SECONDS) == -signal.SIGKILL

    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert shop.gold() == [(2, 15)]
    assert shop.litter() == {}


@pytest.mark.soak
def test_the_service_runs_requests_and_follow_ups_replaces_a_killed_worker_and_drains(
    shop: Shop,
) -> None:
    shop.bring("file-0", (1, 10, "2026-01-01"))
    with started(shop, "serve", "--port", "0", "--probe-port", "0", "--json") as service:
        [(name, pid)] = until(lambda: active_workers(shop))
        shop.run()
        taken = "SELECT DISTINCT worker FROM requests WHERE status = 'done'"
        assert rows_of(shop, taken) == [(name,)]
        fired = "SELECT r.status FROM requests r JOIN schedule_fires f USING (request_id)"
        until(lambda: rows_of(shop, fired) == [("done",)])
        assert [row["amount"] for row in shop.rows("order_totals")] == [10]

        shop.bring("file-1", (2, 5, "2026-01-02"))
        with started(shop, "run", "orders") as following:
            running = f"SELECT 1 FROM requests WHERE status = 'running' AND worker = '{name}'"
            until(lambda: rows_of(shop, running))
            os.kill(pid, signal.SIGKILL)
            assert following.wait(_PATIENCE_SECONDS) == 0
        until(lambda: [row for row in active_workers(shop) if row[0] != name])
        # The second run of orders has a follow-up, too: a drain would leave it waiting.
        until(lambda: rows_of(shop, fired) == [("done",), ("done",)])

        service.send_signal(signal.SIGTERM)
        assert service.wait(_PATIENCE_SECONDS) == 0
    assert shop.ask("workers") == []
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert shop.gold() == [(2, 15)]
    assert shop.litter() == {}
