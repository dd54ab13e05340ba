"""Several processes at one target: only one writes, and one that slept too long writes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from stories.line import Line, Place

_LONG_AGO = "2001-01-01 00:00:00.000000"
_WITHIN = 300.0


def until_it_sleeps(process: subprocess.Popen[str]) -> None:
    """Wait until a process has stopped itself."""
    end = time.monotonic() + _WITHIN
    while _state(process.pid) != "T":
        assert process.poll() is None, f"it ended instead:\n{process.communicate()}"
        assert time.monotonic() < end, "it never came to the point"
        time.sleep(0.05)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize(
    ("kind", "point"),
    [
        ("lake", "before-publish"),
        ("duckdb", "before-publish"),
        pytest.param("lake", "branch-made", marks=pytest.mark.soak),
        pytest.param("lake", "published", marks=pytest.mark.soak),
        pytest.param("duckdb", "started", marks=pytest.mark.soak),
        pytest.param("duckdb", "published", marks=pytest.mark.soak),
    ],
)
def test_a_process_that_slept_past_its_lease_publishes_nothing(
    tmp_path: Path, kind: str, point: str
) -> None:
    line = Line.make(tmp_path / "line", "append", Place(kind=kind), {})
    line.bring(0)
    with line.start(fault=f"{point}:freeze") as sleeper:
        try:
            until_it_sleeps(sleeper)
            # As if it had slept for longer than its lease.
            line.ask(f"UPDATE leases SET expires_at = '{_LONG_AGO}' WHERE owner IS NOT NULL")
            line.bring(1)
            other = line.run()
            assert other.returncode == 0, other.stdout + other.stderr
            assert line.rows() == line.expected()
        finally:
            os.kill(sleeper.pid, signal.SIGCONT)
        said = sleeper.communicate(timeout=_WITHIN)

    # What it had published before it slept was published.
    assert sleeper.returncode == (0 if point == "published" else 1), said
    assert "Traceback" not in said[1]
    assert line.rows() == line.expected()
    assert line.litter() == {}


def test_two_runs_started_together_never_both_write(tmp_path: Path) -> None:
    line = Line.make(tmp_path / "line", "append", Place(kind="lake"), {})
    line.bring(0)
    with line.start() as one, line.start() as other:
        said = [one.communicate(timeout=_WITHIN), other.communicate(timeout=_WITHIN)]

    assert [one.returncode, other.returncode] == [0, 0], said
    assert line.rows() == line.expected()
    assert line.litter() == {}
    asked = "SELECT status FROM stage_runs ORDER BY started_at"
    assert sorted(line.ask(asked)) == [("skipped",), ("succeeded",)]
