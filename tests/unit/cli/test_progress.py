"""What `run` shows while stages work."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from goldsmith.cli.progress import Board, Working, ended, line
from goldsmith.engine.session.progress import Progress
from goldsmith.planning.reasons import CHANGED

MOON = datetime(2026, 11, 16, tzinfo=UTC)


def working(**more: Any) -> Working:
    fields = {"stage_id": "orders-2", "target_id": "silver", "stage_run_id": "try-1"}
    return Working(**{**fields, "run_id": "run-1", "started": 100.0, **more})


@pytest.mark.parametrize(
    ("work", "now", "expected"),
    [
        (working(), 100.25, "▶ orders-2 → silver: begins, 0.2 s"),
        (working(needs_spark=True), 100.25, "▶ orders-2 → silver: starting Spark, 0.2 s"),
        (
            working(step="write", seen=Progress(rows=1_500_000, bytes=12_300_000), expected=75.0),
            115.0,
            "▶ orders-2 → silver: write, 1,500,000 rows scanned, 12.3 MB, 100,000 rows/s,"
            " 0:15 of about 1:15",
        ),
        (
            working(step="audit", seen=Progress(tasks=8, tasks_done=3), expected=5.0),
            3765.0,
            "▶ orders-2 → silver: audit, 3/8 tasks, 1:01:05, 1:01:00 longer than usual",
        ),
        (
            working(seen=Progress(rows=5)),
            100.5,
            "▶ orders-2 → silver: begins, 5 rows scanned, 0.5 s",
        ),
    ],
)
def test_a_line_says_rows_bytes_rate_time_and_when_it_should_end(
    work: Working, now: float, expected: str
) -> None:
    assert line(work, now) == expected


def stage_run(**more: Any) -> Any:
    fields = {"status": "succeeded", "target_id": "silver", "because": None, "run_id": "run-1"}
    fields |= {"rows_written": 2, "rows_read": 3, "rows_quarantined": 0, "stage_run_id": "try-1"}
    fields |= {"rows_dropped": 0, "facts": {"write_mode": "merge"}}
    fields |= {"started_at": MOON, "ended_at": MOON + timedelta(seconds=1.5)}
    return SimpleNamespace(**{**fields, **more})


STAGE = SimpleNamespace(
    stage_id="orders-2",
    context=SimpleNamespace(
        stage=SimpleNamespace(target_id="silver"), resolved=SimpleNamespace(sql=None)
    ),
)


def test_the_end_of_a_stage_says_what_came_of_it() -> None:
    assert (
        ended(STAGE, stage_run())
        == "✓ orders-2 → silver: 3 rows read, 1 left out (older or repeated), 2 published, 1.5 s"
    )
    recognised = stage_run(rows_read=None)
    assert ended(STAGE, recognised) == "✓ orders-2 → silver: 2 rows published, 1.5 s"
    needs = stage_run(because=f"one new file; {CHANGED}: only --full-refresh will do")
    assert ended(STAGE, needs).endswith(f"1.5 s\n    {CHANGED}: only --full-refresh will do")
    failed = stage_run(
        status="failed", error_message="No.", error_code="Because", facts={"hint": "Do it."}
    )
    assert ended(STAGE, failed) == "✗ orders-2: No. [Because]\n  Do it."


def board(**more: Any) -> Board:
    return Board(
        steps=lambda _run: {"try-1": "write"},
        usual=lambda _stage: 30.0,
        measure=lambda _stage_run: Progress(rows=7, tasks=2, tasks_done=1),
        **more,
    )


def test_where_nobody_looks_a_line_tells_of_the_beginning_and_one_of_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with board(quiet=False, on_terminal=False) as progress:
        progress.tell("started", STAGE, stage_run())
        [shown] = progress.look()
        progress.tell("ended", STAGE, stage_run())
        assert progress.look() == []
    assert "write, 7 rows scanned, 1/2 tasks" in shown
    assert "of about 0:30" in shown
    assert capsys.readouterr().out.splitlines() == [
        "▶ orders-2 → silver",
        "✓ orders-2 → silver: 3 rows read, 1 left out (older or repeated), 2 published, 1.5 s",
    ]


def test_a_stage_without_a_step_says_that_spark_starts() -> None:
    with board(quiet=False, on_terminal=False, starting=lambda: True) as progress:
        progress.tell("started", STAGE, stage_run(stage_run_id="try-2"))
        [shown] = progress.look()
    assert "starting Spark" in shown


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with board(quiet=True, on_terminal=True) as progress:
        progress.tell("started", STAGE, stage_run())
        progress.tell("ended", STAGE, stage_run())
    assert capsys.readouterr().out == ""


def test_a_stage_that_ended_has_no_line_while_its_retry_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.StringIO()
    monkeypatch.setattr("rich._console", Console(file=written, force_terminal=True, width=80))
    with board(quiet=False, on_terminal=True) as progress:
        progress.tell("started", STAGE, stage_run())
        progress._show(progress.look())
        assert "▶ orders-2" in str(progress._live.get_renderable())
        progress.tell("ended", STAGE, stage_run())
        assert "▶" not in str(progress._live.get_renderable())
        progress.say("Waiting: the source is down")
    # The line goes through the console that moves the cursor, not past it.
    assert "Waiting: the source is down\n" in written.getvalue()
