"""Whether a try at a stage has to end, and why: asked between steps, acted on by the canceller."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import Run


@dataclass(eq=False, kw_only=True)
class Stopped(GoldsmithError):
    """A row stops what was running; nothing of it was published."""

    exit_code = 1

    because: str

    def __str__(self) -> str:
        return f"It was stopped: {self.because}."

    @property
    def hint(self) -> str:
        return "`goldsmith release ENTITY` lets it go on from the stage that was stopped."


@dataclass(eq=False, kw_only=True)
class CatalogLost(GoldsmithError):
    """The catalog could not be reached, and the pipeline's row says to stop then."""

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
    """Tasks of a stopped stage would not die, so the process ends; what else it did waits again."""

    transient = True
    exit_code = 1

    stage: str
    tasks: int
    #: The runs of the plan, where none of its stages was left to another process.
    ended: tuple[Run, ...] = ()

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} was stopped and {self.tasks} of its tasks would not end, so this "
            "process ends them with itself."
        )

    @property
    def hint(self) -> str:
        return "What else ran here is back in the queue: the next `goldsmith run` takes it up."


class Ending:
    """An order to end, given once; later ones change nothing."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        #: Called by every order; what was done once is not to be done again.
        self._acts: list[Callable[[], None]] = []
        self.cause: GoldsmithError | None = None
        self.ordered_at: datetime | None = None
        #: Looks at the rows now, for an order that nobody has given yet.
        self.look: Callable[[], None] = lambda: None
        #: What else has to be told: each says whether it had anything to cancel.
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
        """Call this when the order comes; at once where it has come. It may be called again."""
        self._acts.append(act)
        if self.cause is not None:
            act()

    def check(self) -> None:
        """Raises where the stage has to end, by the rows as they are at this moment."""
        self.look()
        if self.cause is not None:
            raise self.cause

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the order comes."""
        return self._event.wait(seconds)

    def cancel(self) -> None:
        """Cancel statements that are under way in a warehouse."""
        for cancel in tuple(self.cancels):
            if cancel() and self.statement_cancelled_at is None:
                self.statement_cancelled_at = datetime.now(UTC)
