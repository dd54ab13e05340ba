"""Digest in a process of its own, which the kernel ends when a statement uses too much CPU time.

A parser in an endless loop cannot be stopped from inside. The worker arms a profiling timer before
each request; the signal of the timer has no handler, so the kernel ends the worker. CPU time, not
wall time, is counted: a busy machine changes no answer. Where a request is a whole script, each
statement has a limit of its own: the worker that replaces an ended one leaves that statement out.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

#: CPU seconds one request may use.
CPU_SECONDS = 20.0


#: How many statements of one request are left out, before the request counts as killed.
MOST_LEFT_OUT = 10
_NO_STATEMENT = -1


class StatementKilled(Exception):
    """The worker process ended before it answered."""


@dataclass
class _StatementBudget:
    """The limits of the request that this worker carries out."""

    #: Shared with the process that waits: the index of the statement being read.
    at: Any
    request_seconds: float
    statement_seconds: float
    left_out: frozenset[int] = frozenset()
    begun: int = 0


_budget: _StatementBudget | None = None


def begin_statement() -> bool:
    """Give the next statement the CPU limit of one; False: it was too much, leave it out."""
    if _budget is None:
        return True
    index = _budget.begun
    _budget.begun += 1
    if index in _budget.left_out:
        return False
    _budget.at.value = index
    signal.setitimer(signal.ITIMER_PROF, _budget.statement_seconds)
    return True


def end_statements() -> None:
    """Give the rest of the request its own limit again."""
    if _budget is not None:
        _budget.at.value = _NO_STATEMENT
        signal.setitimer(signal.ITIMER_PROF, _budget.request_seconds)


def _serve(
    connection: Connection,
    function: Callable[[Any], Any],
    seconds: float,
    statement_seconds: float | None,
    at: Any,
) -> None:
    global _budget
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            request, left_out = connection.recv()
        except EOFError:
            return
        at.value = _NO_STATEMENT
        if statement_seconds is not None:
            _budget = _StatementBudget(at, seconds, statement_seconds, left_out)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            answer: Any = (True, function(request))
        except Exception as error:  # goes back to the caller, who adds file and line
            answer = (False, f"{type(error).__name__}: {error}")
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(answer)


class Guard:
    """Runs one function in a worker process; a worker that was ended is replaced."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        seconds: float = CPU_SECONDS,
        statement_seconds: float | None = None,
    ) -> None:
        self._function, self._seconds = function, seconds
        self._statement_seconds = statement_seconds
        self._at: Any = multiprocessing.get_context("fork").Value("q", _NO_STATEMENT, lock=False)
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
            target=_serve,
            args=(theirs, self._function, self._seconds, self._statement_seconds, self._at),
            daemon=True,
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
        left_out: frozenset[int] = frozenset()
        while True:
            connection = self._connection or self._start()
            try:
                connection.send((request, left_out))
                done, answer = connection.recv()
            except (EOFError, OSError):
                self._end()
                index = self._at.value
                if index == _NO_STATEMENT or len(left_out) >= MOST_LEFT_OUT:
                    problem = f"it used more than {self._seconds:g} s of CPU time"
                    raise StatementKilled(problem) from None
                left_out |= {index}
                continue
            if not done:
                raise StatementKilled(str(answer))
            return answer
