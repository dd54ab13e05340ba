"""Several processes at one target: only one writes, and one that slept too long writes nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from stories.one_stage import Line, LineTarget

_LONG_AGO = "2001-01-01 00:00:00.000000"
_WITHIN = 300.0


def until_held(process: subprocess.Popen[str], held: Path) -> None:
    """Wait until a process has come to the point it is held at."""
    end = time.monotonic() + _WITHIN
    while not held.exists():
        assert process.poll() is None, f"it ended instead:\n{process.communicate()}"
        assert time.monotonic() < end, "it never came to the point"
        time.sleep(0.05)


def put_to_sleep(process: subprocess.Popen[str], line: Line) -> None:
    """Stop a process that is held, every thread of it, and none inside a transaction.

    A signal reaches threads one by one: what they do is only over when each of them has stopped.
    """
    while True:
        os.kill(process.pid, signal.SIGSTOP)
        while set(_states(process.pid)) != {"T"}:
            assert process.poll() is None, f"it ended instead:\n{process.communicate()}"
        try:
            line.ask("UPDATE leases SET owner = owner")
            return
        except sqlite3.OperationalError:  # it sleeps in the middle of a heartbeat
            os.kill(process.pid, signal.SIGCONT)


def _states(pid: int) -> list[str]:
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # a thread that ended meanwhile
            found.append(file.read_text().rpartition(")")[2].split()[0])
    return found


@pytest.mark.parametrize(
    ("kind", "point"),
    [
        ("lake", "before-publish"),
        pytest.param("duckdb", "before-publish", marks=pytest.mark.soak),
        pytest.param("lake", "branch-made", marks=pytest.mark.soak),
        pytest.param("lake", "published", marks=pytest.mark.soak),
        pytest.param("duckdb", "started", marks=pytest.mark.soak),
        pytest.param("duckdb", "published", marks=pytest.mark.soak),
    ],
)
def test_a_process_that_slept_past_its_lease_publishes_nothing(
    tmp_path: Path, kind: str, point: str
) -> None:
    line = Line.make(tmp_path / "line", "append", LineTarget(kind=kind), {})
    line.bring(0)
    held = tmp_path / "held"
    with line.start(fault=f"{point}:hold={held}") as sleeper:
        try:
            until_held(sleeper, held)
            put_to_sleep(sleeper, line)
            # As if it had slept for longer than its lease.
            line.ask(f"UPDATE leases SET expires_at = '{_LONG_AGO}' WHERE owner IS NOT NULL")
            line.bring(1)
            other = line.run()
            assert other.returncode == 0, other.stdout + other.stderr
            assert line.rows() == line.expected()
        finally:
            held.unlink(missing_ok=True)
            os.kill(sleeper.pid, signal.SIGCONT)
        outputs = sleeper.communicate(timeout=_WITHIN)

    # What it had published before it slept was published.
    assert sleeper.returncode == (0 if point == "published" else 1), outputs
    assert "Traceback" not in outputs[1]
    assert line.rows() == line.expected()
    assert line.leftovers() == {}


def test_two_runs_started_together_never_both_write(tmp_path: Path) -> None:
    line = Line.make(tmp_path / "line", "append", LineTarget(kind="lake"), {})
    line.bring(0)
    with line.start() as first, line.start() as second:
        outputs = [first.communicate(timeout=_WITHIN), second.communicate(timeout=_WITHIN)]

    assert [first.returncode, second.returncode] == [0, 0], outputs
    assert line.rows() == line.expected()
    assert line.leftovers() == {}
    # The second request finds nothing new, or joined the first while both waited.
    query = "SELECT status FROM stage_runs ORDER BY started_at"
    assert sorted(line.ask(query)) in ([("succeeded",)], [("skipped",), ("succeeded",)])
