"""Keep worker processes alive: start them, start them again when they end, drain them."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

_LOG = logging.getLogger(__name__)
#: A worker that ended is started again after this wait, which doubles up to the longest.
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
#: A worker that lived this long starts with the first wait again.
_LIVED_WELL = 120.0


@dataclass
class _Child:
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    wait: float = 0.0


class WorkerProcesses:
    """The worker processes that this service started."""

    def __init__(self, command: Sequence[str], count: int) -> None:
        self._command = tuple(command)
        self._children = [_Child() for _ in range(count)]
        self._draining = False

    def keep(self, now: float | None = None) -> None:
        """Start missing workers; called every second."""
        at = time.monotonic() if now is None else now
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                self._ended(child, at)
            if child.process is None and not self._draining and at >= child.started + child.wait:
                child.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)
                child.started = at
                _LOG.info("started worker %d", child.process.pid)

    @staticmethod
    def _ended(child: _Child, at: float) -> None:
        assert child.process is not None
        code = child.process.returncode
        lived = at - child.started
        child.wait = (
            _FIRST_WAIT
            if lived > _LIVED_WELL
            else min(max(2 * child.wait, _FIRST_WAIT), _LONGEST_WAIT)
        )
        _LOG.warning(
            "worker %d ended with %s after %.0f s; the next starts in %.0f s",
            child.process.pid,
            code,
            lived,
            child.wait,
        )
        child.process, child.started = None, at

    @property
    def pids(self) -> list[int]:
        return [c.process.pid for c in self._children if c.process is not None]

    @property
    def alive(self) -> int:
        return sum(c.process is not None and c.process.poll() is None for c in self._children)

    def drain(self) -> None:
        """Ask every worker to end; called again it makes them stop at once."""
        self._draining = True
        for child in self._children:
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float) -> bool:
        """Wait for the workers to end; True if all have."""
        end = time.monotonic() + seconds
        for child in self._children:
            if child.process is None:
                continue
            try:
                child.process.wait(max(end - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                return False
        return True


def worker_command(project: str, environment: str | None, *, slots: int | None) -> list[str]:
    """The command line of a worker process of the same project."""
    start = "from goldsmith.cli.main import main; main()"
    command = [sys.executable, "-c", start, "--project", project]
    if environment is not None:
        command += ["--env", environment]
    command.append("worker")
    if slots is not None:
        command += ["--slots", str(slots)]
    return command
