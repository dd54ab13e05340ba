"""The progress that `run` shows: on a terminal one line for each running stage, updated in place.

Without a terminal (a pipe, a CI log) it prints a line when a stage begins and when it ends.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from goldsmith.cli.output import count, echo, visible
from goldsmith.cli.rows import counts_text

if TYPE_CHECKING:
    from goldsmith.engine.session.progress import Progress

_log = logging.getLogger(__name__)
#: How often the lines are updated.
_AGAIN_SECONDS = 0.5
_MARKS = {"succeeded": "✓", "skipped": "·", "failed": "✗", "blocked": "▪", "stopped": "■"}


@dataclass
class Working:
    """A stage that runs now."""

    stage_id: str
    target_id: str
    stage_run_id: str
    run_id: str
    started: float
    #: The expected duration: the median of its last successful runs.
    expected: float | None = None
    step: str | None = None
    #: Whether it waits for Spark, which starts.
    needs_spark: bool = False
    seen: Progress | None = None


def line(work: Working, now: float) -> str:
    """The progress of a stage, in one line."""
    seconds = max(0.0, now - work.started)
    parts = [work.step or ("starting Spark" if work.needs_spark else "begins")]
    if work.seen is not None and work.seen.rows:
        # Every pass over the input counts, so these are not the rows of the result.
        parts.append(f"{count(work.seen.rows, 'row')} scanned")
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
            f"{mark} {stage.stage_id} → {stage_run.target_id}: "
            f"{counts_text(stage_run, by_sql=bool(stage.context.resolved.sql))}, {seconds:.1f} s"
            f"{_needs(stage_run)}{_missing(stage_run)}"
        )
    if stage_run.status == "failed":
        hint = stage_run.facts.get("hint")
        message = f"{mark} {stage.stage_id}: {stage_run.error_message} [{stage_run.error_code}]"
        return f"{message}\n  {hint}" if hint else message
    return f"{mark} {stage.stage_id}: {stage_run.status}, {stage_run.because}"


def _missing(stage_run: Any) -> str:
    from goldsmith.planning.missing_sources import SOURCES_MISSING

    return "".join(f"\n    {sentence}" for sentence in stage_run.facts.get(SOURCES_MISSING, ()))


def _needs(stage_run: Any) -> str:
    from goldsmith.planning.reasons import CHANGED

    _before, changed, needs = (stage_run.because or "").partition(f"{CHANGED}:")
    return f"\n    {changed}{needs}" if needs else ""


@dataclass
class Board(AbstractContextManager["Board"]):
    """Shows stages as they begin, run and end; stages call it from several threads."""

    quiet: bool
    #: Gives the current step of each stage run of a run.
    steps: Callable[[str], Mapping[str, str | None]]
    #: Gives how long a stage usually takes.
    usual: Callable[[Any], float | None]
    measure: Callable[[str], Progress | None]
    #: Whether Spark starts now.
    starting: Callable[[], bool] = lambda: False
    #: Gives the messages of failed checks of a published stage run.
    warnings: Callable[[str], Sequence[str]] = lambda _stage_run_id: ()
    on_terminal: bool = field(default_factory=lambda: _can_renew_lines())
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
        """Show that a stage began or ended."""
        if self.quiet:
            return
        with self._lock:
            if what == "started":
                self.working[stage.stage_id] = Working(
                    stage_id=stage.stage_id,
                    target_id=stage.context.stage.target_id,
                    stage_run_id=stage_run.stage_run_id,
                    run_id=stage_run.run_id,
                    started=time.monotonic(),
                    expected=self.usual(stage),
                )
                if self._live is None:
                    self._say(f"▶ {stage.stage_id} → {stage.context.stage.target_id}")
            else:
                self.working.pop(stage.stage_id, None)
                now = time.monotonic()
                self._show([line(work, now) for work in self.working.values()])
                self._say(ended(stage, stage_run))
                if stage_run.status == "succeeded":
                    for warning in self.warnings(stage_run.stage_run_id):
                        self._say(f"  ! {warning}")

    def say(self, text: str) -> None:
        """Print a line above those of the running stages."""
        if not self.quiet:
            self._say(text)

    def _say(self, text: str) -> None:
        if self._live is None:
            echo(text, keep="\n")
            sys.stdout.flush()
        else:
            # Markup and highlighting are off: an id may look like markup.
            self._live.console.print(
                visible(text, keep="\n"), markup=False, highlight=False, soft_wrap=True, emoji=False
            )

    def look(self) -> list[str]:
        """The current lines of the running stages."""
        with self._lock:
            working = list(self.working.values())
        for run_id in {work.run_id for work in working}:
            steps = self.steps(run_id)
            for work in working:
                work.step = steps.get(work.stage_run_id, work.step)
        for work in working:
            work.needs_spark = work.step is None and self.starting()
            work.seen = self.measure(work.stage_run_id) or work.seen
        now = time.monotonic()
        return [line(work, now) for work in working]

    def _show(self, lines: Sequence[str]) -> None:
        """Replace the lines of the running stages; nothing without a terminal."""
        if self._live is not None:
            from rich.text import Text

            text = Text("\n".join(map(visible, lines)), no_wrap=True, overflow="ellipsis")
            self._live.update(text, refresh=True)

    def _renew(self) -> None:
        while not self._over.wait(_AGAIN_SECONDS):
            try:
                lines = self.look()
            except Exception:
                # The lines are updated again half a second later; a run does not need them.
                _log.warning("The progress could not be measured.", exc_info=True)
                continue
            self._show(lines)


def _can_renew_lines() -> bool:
    """Whether standard output is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")


def board(runtime: Any, *, quiet: bool) -> Board:
    """The progress board of a run."""
    from goldsmith.engine.session import spark_session
    from goldsmith.engine.session.progress import measure
    from goldsmith.journal import runs, verdicts

    def steps(run_id: str) -> Mapping[str, str | None]:
        found = runs.stage_runs_of(runtime.journal, run_id)
        return {stage_run.stage_run_id: stage_run.step for stage_run in found}

    def usual(stage: Any) -> float | None:
        known = runs.expected(runtime.journal, [stage.context.stage.key]).get(stage.stage_id)
        return None if known is None else known.seconds

    def warnings(stage_run_id: str) -> list[str]:
        found = verdicts.warnings_of(runtime.journal, stage_run_id)
        return [
            f"{verdict.check_name} ({verdict.severity}): {verdict.message}" for verdict in found
        ]

    return Board(
        quiet=quiet,
        steps=steps,
        usual=usual,
        measure=measure,
        starting=spark_session.starting.is_set,
        warnings=warnings,
    )
