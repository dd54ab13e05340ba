"""What the stories of the service share: a shop with a follow-up, processes, and their rows."""

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

PATIENCE_SECONDS = 180.0
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
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing was found in {PATIENCE_SECONDS:.0f} s")


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
