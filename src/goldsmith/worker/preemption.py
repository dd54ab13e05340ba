"""Let running requests yield: pause between stages and micro-batches, stop after a grace time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from goldsmith.engine.attempt import Attempt
from goldsmith.engine.cancel_token import Stopped

#: How often a paused stage looks whether it may go on.
_LOOK_SECONDS = 0.2


@dataclass(eq=False, kw_only=True)
class Preempted(Stopped):
    """A stage was stopped because a critical pipeline needs its slot; it is requeued."""

    @property
    def hint(self) -> str:
        return "Nothing was published. It runs again once the critical pipelines have their slots."


class RunningRequests:
    """The requests that run in this process, with their attempts; several threads use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._attempts: dict[str, dict[str, Attempt]] = {}
        #: Request → since when it yields, in seconds since 1970.
        self._yields: dict[str, tuple[float, str]] = {}
        self._preempted: dict[str, str] = {}

    def ids(self) -> set[str]:
        with self._lock:
            return set(self._attempts)

    @contextmanager
    def running(self, request_id: str) -> Iterator[None]:
        """Count a request as running while the context is open."""
        with self._lock:
            self._attempts[request_id] = {}
        try:
            yield
        finally:
            with self._lock:
                del self._attempts[request_id]
                self._yields.pop(request_id, None)

    def watching(
        self, request_id: str, watched: Callable[[Attempt], AbstractContextManager[None]]
    ) -> Callable[[Attempt], AbstractContextManager[None]]:
        """`watched` for one request: it also registers the attempt, and waits while it yields."""

        @contextmanager
        def both(attempt: Attempt) -> Iterator[None]:
            with watched(attempt):
                with self._lock:
                    self._attempts[request_id][attempt.stage_run_id] = attempt
                    because = self._preempted.get(request_id)
                try:
                    if because is not None:
                        attempt.cancel.order(Preempted(because=because))
                    yield
                finally:
                    with self._lock:
                        self._attempts[request_id].pop(attempt.stage_run_id, None)

        return both

    def pause(self, request_id: str, attempt: Attempt) -> None:
        """Wait while the request yields; raises if the attempt is cancelled meanwhile."""
        while request_id in self._yields and attempt.cancel.cause is None:
            attempt.cancel.wait(_LOOK_SECONDS)
        attempt.cancel.check()

    def let_yield(self, wanted: Mapping[str, str], now: float) -> None:
        """These requests yield from now on, with a reason each; others go on."""
        with self._lock:
            before = self._yields
            self._yields = {
                name: before.get(name, (now, because))
                for name, because in wanted.items()
                if name in self._attempts
            }

    def yielding_since(self, request_id: str) -> float | None:
        found = self._yields.get(request_id)
        return None if found is None else found[0]

    def preempt(self, request_id: str, because: str) -> None:
        """Stop the attempts of a request; nothing of them is published."""
        with self._lock:
            if request_id not in self._attempts:
                return
            self._preempted[request_id] = because
            attempts = list(self._attempts[request_id].values())
        for attempt in attempts:
            attempt.cancel.order(Preempted(because=because))

    def take_preempted(self, request_id: str) -> str | None:
        """Why the request was preempted, once; None if it was not."""
        with self._lock:
            return self._preempted.pop(request_id, None)
