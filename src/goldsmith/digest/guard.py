"""Digest in a process of its own, which the kernel ends when a statement uses too much CPU time.

A parser in an endless loop cannot be stopped from inside. The worker arms a profiling timer before
each request; the signal of the timer has no handler, so the kernel ends the worker. CPU time, not
wall time, is counted: a busy machine changes no answer.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

#: CPU seconds one request may use.
CPU_SECONDS = 20.0


class StatementKilled(Exception):
    """The worker process ended before it answered."""


def _serve(connection: Connection, function: Callable[[Any], Any], seconds: float) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            answer: Any = (True, function(request))
        except Exception as error:  # goes back to the caller, who adds file and line
            answer = (False, f"{type(error).__name__}: {error}")
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(answer)


class Guard:
    """Runs one function in a worker process; a worker that was ended is replaced."""

    def __init__(self, function: Callable[[Any], Any], seconds: float = CPU_SECONDS) -> None:
        self._function, self._seconds = function, seconds
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _start(self) -> Connection:
        # A forked worker starts in milliseconds; this process has no threads of its own.
        context = multiprocessing.get_context("fork")
        mine, theirs = context.Pipe()
        process = context.Process(
            target=_serve, args=(theirs, self._function, self._seconds), daemon=True
        )
        process.start()
        theirs.close()
        self._process, self._connection = process, mine
        return mine

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._connection = None

    def call(self, request: Any) -> Any:
        """The function's answer; raises StatementKilled when it took too long or broke."""
        connection = self._connection or self._start()
        try:
            connection.send(request)
            done, answer = connection.recv()
        except (EOFError, OSError):
            self._end()
            raise StatementKilled(f"it used more than {self._seconds:g} s of CPU time") from None
        if not done:
            raise StatementKilled(str(answer))
        return answer
