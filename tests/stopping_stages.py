"""What tests of the kill switch share, wherever Spark is: rows, work without end, what is left."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest

STOP = (
    "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, reason) "
    "VALUES (?, ?, 'enabled', false, 'paged at night') "
    "ON CONFLICT (entity_type, entity_id, flag_name) DO UPDATE SET flag_value = false"
)
RELEASE = "UPDATE control_flags SET flag_value = true"
#: `@` stands for the pipeline.
POLICY = """
retry_policies: [{retry_id: "later_@", max_retries: 3, backoff_sec: 600}]
pipelines: [{pipeline_id: "@", default_retry_id: "later_@"}]
"""
HEALING = (
    "INSERT INTO healing_actions (error_code, action_script) VALUES ('DivideByZero', ?) "
    "ON CONFLICT (error_code) DO UPDATE SET action_script = excluded.action_script"
)
UNPAIRED = "DELETE FROM healing_actions WHERE error_code = 'DivideByZero'"
#: A remedy that wants the stage to be tried again in ten minutes.
LATER = """echo '{"do": "rerun", "after_seconds": 600, "because": "later"}'"""

#: A task that sleeps in Java for ten minutes.
SLEEP = "reflect('java.lang.Thread', 'sleep', 600000L) = 'never'"
#: Rows without end for files of a table, one small file a task: a range does not listen.
MANY = "range(0, 40000000, 1, 20000)"
TIMES = ("driver_returned_at", "last_task_ended_at", "nothing_published_at")
_SCRIPT = """
import os, pathlib, time
pathlib.Path("PLACE").write_text(str(os.getpid()))
time.sleep(600)
"""


def on(*quick: str, fixture: str = "stopping") -> pytest.MarkDecorator:
    """Catalogs a test runs on: those named in `make test`, the others in `make soak`."""
    both = [
        pytest.param(name, marks=() if name in quick else pytest.mark.soak)
        for name in ("sqlite", "postgresql")
    ]
    return pytest.mark.parametrize(fixture, both, indirect=True)


def lines(line: str) -> bytes:
    """A megabyte of the same line, over and over: one small file of one task that takes a while."""
    return gzip.compress(f"{line}\n".encode() * 50_000) * 100


def script(folder: Path, began: Path) -> Path:
    """A remedy's script that takes ten minutes, and says which process it is."""
    file = folder / "remedy.py"
    file.write_text(_SCRIPT.replace("PLACE", str(began)))
    return file


def slow(how: str, began: Path) -> Any:
    """A function of Python that takes ten minutes a batch, and says which process it is in."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType

    def slowly(values: pd.Series) -> pd.Series:
        import os
        import time

        began.write_text(str(os.getpid()))
        until = time.monotonic() + 600
        while time.monotonic() < until:
            time.sleep(1) if how == "asleep" else None
        return values

    return F.pandas_udf(slowly, LongType())  # type: ignore[call-overload]


def content_of(file: Path) -> str:
    """What a file says, once there is one."""
    return file.read_text() if file.exists() else ""


def lives(process: str) -> bool:
    """Whether a process still runs; one that was killed is listed until its parent has looked."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """A table that somebody reads and lets nobody else write."""
    with psycopg.connect(url) as other:
        other.execute(f"LOCK TABLE {table} IN SHARE MODE")
        yield
        other.rollback()


def is_blocked(looking: psycopg.Connection[Any]) -> bool:
    """Whether somebody waits for a lock, by an own connection to that database."""
    waiting = looking.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return waiting != (0,)


def facts(stored: Any) -> dict[str, Any]:
    """The facts of an event, as either database gives them."""
    parsed: dict[str, Any] = json.loads(stored) if isinstance(stored, str) else stored
    return parsed


def in_order(stopped: dict[str, Any], flagged: datetime, *expected: str) -> None:
    """A stage that was stopped says just these times, each of them after the flag and in order."""
    assert {name for name in stopped if name.endswith("_at")} == set(expected), stopped
    order = [flagged, *(datetime.fromisoformat(stopped[name]) for name in expected)]
    assert order == sorted(order), stopped
