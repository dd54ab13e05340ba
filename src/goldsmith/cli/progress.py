"""What `run` shows while stages work: one line a stage, renewed in place on a terminal.

Where nobody looks (a pipe, a log of CI) a line is written when a stage begins and when it ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from goldsmith.engine.progress import Progress

#: How often the lines are renewed.
_AGAIN_SECONDS = 0.5
_MARKS = {"succeeded": "✓", "skipped": "·", "failed": "✗", "blocked": "▪", "stopped": "■"}


@dataclass
class Working:
    """A stage that works right now."""

    stage_id: str
    target_id: str
    stage_run_id: str
    run_id: str
    started: float
    #: How long it took before: the median of its last successes.
    expected: float | None = None
    step: str | None = None
    seen: Progress | None = None


def line(work: Working, now: float) -> str:
    """How a stage is getting on, in one line."""
    seconds = max(0.0, now - work.started)
    parts = [work.step or "begins"]
    if work.seen is not None and work.seen.rows:
        parts.append(f"{work.seen.rows:,} rows")
        if work.seen.bytes:
            parts.append(f"{work.seen.bytes / 1e6:,.1f} MB")
        if seconds >= 1:
            parts.append(f"{work.seen.rows / seconds:,.0f} rows/s")
    if work.seen is not None and work.seen.tasks:
        parts.append(f"{work.seen.tasks_done}/{work.seen.tasks} tasks")
    parts.append(_time(seconds, work.expected))
    return f"▶ {work.stage_id} → {work.target_id}: {', '.join(parts)}"


def _time(seconds: float, expected: float | None) -> str:
    if expected is None:
        return _clock(seconds)
    if seconds > expected:
        return f"{_clock(seconds)}, {_clock(seconds - expected)} longer than usual"
    return f"{_clock(seconds)} of about {_clock(expected)}"


def _clock(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def ended(stage: Any, stage_run: Any) -> str:
    """How a stage ended, in one line."""
    mark = _MARKS.get(stage_run.status, "?")
    seconds = (stage_run.ended_at - stage_run.started_at).total_seconds()
    if stage_run.status == "succeeded":
        return (
            f"{mark} {stage.stage_id} → {stage_run.target_id}: {_rows(stage_run)}, {seconds:.1f} s"
            f"{_needs(stage_run)}"
        )
    if stage_run.status == "failed":
        hint = stage_run.facts.get("hint")
        said = f"{mark} {stage.stage_id}: {stage_run.error_message} [{stage_run.error_code}]"
        return f"{said}\n  {hint}" if hint else said
    return f"{mark} {stage.stage_id}: {stage_run.status}, {stage_run.because}"


def _rows(stage_run: Any) -> str:
    kept = stage_run.rows_quarantined
    aside = f", {kept:,} kept aside" if kept else ""
    if stage_run.rows_read is None:
        # Found published after its process had died: the target counts only what it holds.
        return f"{stage_run.rows_written or 0:,} rows published{aside}"
    return f"{stage_run.rows_written or 0:,} rows published of {stage_run.rows_read:,} read{aside}"


def _needs(stage_run: Any) -> str:
    from goldsmith.planning.definition import CHANGED

    _before, changed, needs = (stage_run.because or "").partition(f"{CHANGED}:")
    return f"\n    {changed}{needs}" if needs else ""


@dataclass
class Board(AbstractContextManager["Board"]):
    """Tells of stages as they begin, work and end; they do so in several threads."""

    quiet: bool
    #: The steps of the stage runs of a run, by stage run.
    steps: Callable[[str], Mapping[str, str | None]]
    #: How long a stage usually takes.
    usual: Callable[[Any], float | None]
    measure: Callable[[str], Progress | None]
    on_terminal: bool = field(default_factory=lambda: sys.stdout.isatty())
    working: dict[str, Working] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._live: Any = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Board:
        if self.on_terminal and not self.quiet:
            from rich.live import Live

            self._live = Live(transient=True, auto_refresh=False)
            self._live.start()
            self._thread = threading.Thread(target=self._renew, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._live.stop()

    def tell(self, what: str, stage: Any, stage_run: Any) -> None:
        """A stage began or ended."""
        if self.quiet:
            return
        with self._lock:
            if what == "started":
                self.working[stage.stage_id] = Working(
                    stage_id=stage.stage_id,
                    target_id=stage.near.stage.target_id,
                    stage_run_id=stage_run.stage_run_id,
                    run_id=stage_run.run_id,
                    started=time.monotonic(),
                    expected=self.usual(stage),
                )
                if self._live is None:
                    self._say(f"▶ {stage.stage_id} → {stage.near.stage.target_id}")
            else:
                self.working.pop(stage.stage_id, None)
                self._say(ended(stage, stage_run))

    def _say(self, text: str) -> None:
        if self._live is None:
            click.echo(text)
            sys.stdout.flush()
        else:
            # Markup and highlighting are off: an id may look like either.
            self._live.console.print(text, markup=False, highlight=False)

    def look(self) -> list[str]:
        """The lines of the stages that work, as they are now."""
        with self._lock:
            working = list(self.working.values())
        for run_id in {work.run_id for work in working}:
            steps = self.steps(run_id)
            for work in working:
                work.step = steps.get(work.stage_run_id, work.step)
        for work in working:
            work.seen = self.measure(work.stage_run_id) or work.seen
        now = time.monotonic()
        return [line(work, now) for work in working]

    def _renew(self) -> None:
        from rich.text import Text

        while not self._over.wait(_AGAIN_SECONDS):
            self._live.update(Text("\n".join(self.look()), no_wrap=True), refresh=True)


def board(runtime: Any, *, quiet: bool) -> Board:
    """The board of a run."""
    from goldsmith.engine.progress import measure
    from goldsmith.journal import runs

    def steps(run_id: str) -> Mapping[str, str | None]:
        found = runs.stage_runs_of(runtime.journal, run_id)
        return {stage_run.stage_run_id: stage_run.step for stage_run in found}

    def usual(stage: Any) -> float | None:
        known = runs.expected(runtime.journal, [stage.near.stage.key]).get(stage.stage_id)
        return None if known is None else known.seconds

    return Board(quiet=quiet, steps=steps, usual=usual, measure=measure)
