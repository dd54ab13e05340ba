"""Cancel an attempt: steps check the token, and a canceller thread stops Spark jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import Run


@dataclass(eq=False, kw_only=True)
class Stopped(GoldsmithError):
    """A flag or a disabled row stopped a running stage; nothing was published."""

    exit_code = 1

    because: str

    def __str__(self) -> str:
        return f"It was stopped: {self.because}."

    @property
    def hint(self) -> str:
        return "`goldsmith release ENTITY` lets it go on from the stage that was stopped."


@dataclass(eq=False, kw_only=True)
class CatalogLost(GoldsmithError):
    """The catalog could not be reached, and the pipeline's on_catalog_loss is `stop`."""

    transient = True
    exit_code = 1

    pipeline: str
    seconds: float

    def __str__(self) -> str:
        return (
            f"The catalog could not be reached for {self.seconds:.0f} s, and on_catalog_loss of "
            f"pipeline '{self.pipeline}' is 'stop'."
        )

    @property
    def hint(self) -> str:
        return "Nothing was published. It is run again once the catalog answers."


@dataclass(eq=False, kw_only=True)
class WorkerEnded(GoldsmithError):
    """Tasks of a stopped stage did not end, so the worker process ends; other work is requeued."""

    transient = True
    exit_code = 1

    stage: str
    tasks: int
    #: The runs of the plan, if all of its stages ended in this process.
    ended: tuple[Run, ...] = ()

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} was stopped and {self.tasks} of its tasks would not end, so this "
            "process ends them with itself."
        )

    @property
    def hint(self) -> str:
        return "What else ran here is back in the queue: the next `goldsmith run` takes it up."


class CancelToken:
    """A request to cancel one attempt; the first cause is kept."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        #: Called by every `order`, so each must be safe to call twice.
        self._acts: list[Callable[[], None]] = []
        self.cause: GoldsmithError | None = None
        self.ordered_at: datetime | None = None
        #: Reads the catalog rows now, and calls `order` if they stop this attempt.
        self.look: Callable[[], None] = lambda: None
        #: Cancel warehouse statements; each returns True if a statement was running.
        self.cancels: list[Callable[[], bool]] = []
        self.statement_cancelled_at: datetime | None = None

    def order(self, cause: GoldsmithError) -> None:
        with self._lock:
            if self.cause is None:
                self.cause = cause
                self.ordered_at = datetime.now(UTC)
        self._event.set()
        for act in tuple(self._acts):
            act()

    def when_ordered(self, act: Callable[[], None]) -> None:
        """Call `act` on every `order`, and at once if one was given. It may be called twice."""
        self._acts.append(act)
        if self.cause is not None:
            act()

    def check(self) -> None:
        """Raise the cause if the attempt is cancelled, after reading the catalog rows."""
        self.look()
        if self.cause is not None:
            raise self.cause

    def wait(self, seconds: float) -> bool:
        """Wait until `order` is called, at most `seconds`; True if it was."""
        return self._event.wait(seconds)

    def cancel(self) -> None:
        """Cancel running warehouse statements."""
        for cancel in tuple(self.cancels):
            if cancel() and self.statement_cancelled_at is None:
                self.statement_cancelled_at = datetime.now(UTC)
