"""The pace of one stage: it takes tokens of throttles, in micro-batches sized to the budget.

Between two micro-batches a stage obeys flags and yields, and reads the rows of `throttles` again.
While it waits, its progress and `goldsmith why` say for which throttle and how long.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from goldsmith.catalog import database
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.catalog.throttle_metrics import Quantity, metric_of
from goldsmith.catalog.throttles import Throttle
from goldsmith.engine import faults, heartbeats
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.pace import buckets
from goldsmith.engine.pace.buckets import HeldTokens, TokenWait, TokenWish, known_metric, rate_of
from goldsmith.engine.pace.safe_buckets import SafeBuckets
from goldsmith.journal import waits
from goldsmith.journal.reason import WAITING
from goldsmith.journal.tables_of_service import WaitRow
from goldsmith.planning.stage_context import Dataset
from goldsmith.planning.throttled import Direction, throttles_of
from goldsmith.scheduling.token_bucket import FILL

_LOG = logging.getLogger(__name__)
#: How often a waiting stage asks again: a changed threshold may have shortened the wait.
_ASK_AGAIN_SECONDS = 1.0
#: Shorter waits are not shown.
_SHOWN_SECONDS = 0.3
_SAFE = SafeBuckets()
_ANY = "SELECT 1 FROM throttles LIMIT 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class PacedFile:
    """A file to read or to load, with its stored bytes."""

    address: str
    bytes: int


@dataclass(kw_only=True, slots=True)
class MicroBatch:
    """Files that may be used now; the user of the batch corrects its number of records."""

    files: tuple[PacedFile, ...]
    records: float
    bytes: float

    def tokens(self, throttle: Throttle) -> float:
        """How many tokens of a throttle the batch uses."""
        match known_metric(throttle).counts:
            case Quantity.RECORDS:
                return self.records
            case Quantity.BYTES:
                return self.bytes
            case Quantity.REQUESTS:
                return float(len(self.files))
        return 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The largest micro-batch; None: no limit."""

    records: float | None = None
    bytes: float | None = None
    requests: float | None = None

    @classmethod
    def of(cls, throttles: Sequence[Throttle]) -> Budget:
        """Half a burst of the throttle that leaves least, of each quantity."""
        most: dict[Quantity, float] = {}
        for throttle in throttles:
            metric = known_metric(throttle)
            if metric.is_rate:
                fill = rate_of(throttle).burst * FILL
                most[metric.counts] = min(most.get(metric.counts, fill), fill)
        return cls(
            records=most.get(Quantity.RECORDS),
            bytes=most.get(Quantity.BYTES),
            requests=most.get(Quantity.REQUESTS),
        )

    def holds(self, batch: MicroBatch) -> bool:
        """Whether the batch is within the budget."""
        return (
            (self.records is None or batch.records <= self.records)
            and (self.bytes is None or batch.bytes <= self.bytes)
            and (self.requests is None or len(batch.files) <= self.requests)
        )


def fill(
    left: deque[PacedFile], budget: Budget, records_of: Callable[[PacedFile], float]
) -> MicroBatch:
    """Take the next files that fit the budget, at least one; a larger one is taken as a debt."""
    batch = MicroBatch(files=(), records=0.0, bytes=0.0)
    while left:
        file = left[0]
        records = records_of(file) if budget.records is not None else 0.0
        larger = MicroBatch(
            files=(*batch.files, file),
            records=batch.records + records,
            bytes=batch.bytes + file.bytes,
        )
        if batch.files and not budget.holds(larger):
            break
        left.popleft()
        batch = larger
    return batch


@dataclass
class StagePace:
    """The throttles of one attempt at a stage."""

    attempt: Attempt
    resources: WorkerResources
    #: The rows of `throttles` when they were last read.
    _rows: list[Throttle] = field(default_factory=list)

    def throttles(self, dataset: Dataset | None, direction: Direction) -> tuple[Throttle, ...]:
        """The throttles that apply now; without the catalog, those that applied last."""
        if dataset is None:
            return ()
        try:
            # Most catalogs have no throttle: the stage pays for one short query then.
            there = database.glance(self.resources.journal.engine, _ANY)
            self._rows = buckets.read_throttles(self.resources.journal) if there else []
        except CatalogUnreachable:
            _LOG.warning("the catalog cannot be reached: throttles are as they were last read")
        # A finding names the throttles whose metric is unknown; they limit nothing.
        known = [throttle for throttle in self._rows if metric_of(throttle.metric) is not None]
        return throttles_of(known, dataset, direction)

    def rates(self, dataset: Dataset | None, direction: Direction) -> tuple[Throttle, ...]:
        """The throttles that apply now and limit a rate."""
        return tuple(
            throttle
            for throttle in self.throttles(dataset, direction)
            if known_metric(throttle).is_rate
        )

    def batches(
        self,
        dataset: Dataset,
        direction: Direction,
        files: Sequence[PacedFile],
        records_of: Callable[[PacedFile], float],
    ) -> Generator[MicroBatch]:
        """The files in micro-batches, each given once its tokens are there.

        A batch is settled with its numbers when the next one is asked for.
        """
        left = deque(files)
        while left:
            batch = fill(left, Budget.of(self.rates(dataset, direction)), records_of)
            held = self._take(lambda: self.rates(dataset, direction), batch)
            faults.reach("tokens-taken")
            with self._kept(held):
                try:
                    yield batch
                finally:
                    self._settle(held, batch)

    @contextmanager
    def slots(self) -> Iterator[None]:
        """Hold a slot of every throttle that limits how many stages run at once."""
        context = self.attempt.context

        def wanted() -> tuple[Throttle, ...]:
            found = {
                throttle.throttle_id: throttle
                for dataset, direction in (
                    *((dataset, Direction.READ) for dataset in context.inputs),
                    (context.target, Direction.LOAD),
                )
                for throttle in self.throttles(dataset, direction)
                if not known_metric(throttle).is_rate
            }
            return tuple(found.values())

        if not wanted():
            yield
            return
        batch = MicroBatch(files=(), records=0.0, bytes=0.0)
        held = self._take(wanted, batch)
        with self._kept(held):
            try:
                yield
            finally:
                self._settle(held, batch)

    def _take(self, throttles: Callable[[], tuple[Throttle, ...]], batch: MicroBatch) -> HeldTokens:
        """Wait until all throttles have the tokens of a batch; raises if it is cancelled."""
        shown, step = False, None
        try:
            while True:
                self.attempt.cancel.check()
                self.resources.pause(self.attempt)
                found = self._ask(
                    [TokenWish(throttle=t, tokens=batch.tokens(t)) for t in throttles()]
                )
                if isinstance(found, HeldTokens):
                    return found
                if found.seconds >= _SHOWN_SECONDS:
                    before = self._show(found)
                    shown, step = True, step if shown else before
                self.attempt.cancel.wait(min(found.seconds, _ASK_AGAIN_SECONDS))
        finally:
            if shown:
                self._show_over(step)

    def _ask(self, wishes: Sequence[TokenWish]) -> HeldTokens | TokenWait:
        try:
            return buckets.acquire(
                self.resources.journal,
                wishes,
                owner=str(self.resources.owner),
                stage_run_id=self.attempt.stage_run_id,
            )
        except CatalogUnreachable:
            return _SAFE.acquire(wishes)

    def _show(self, wait: TokenWait) -> str | None:
        """Show the wait in the stage run and in `waits`; the step that waits."""
        row = WaitRow(
            subject=self.attempt.stage_run_id,
            pipeline_id=self.attempt.context.stage.pipeline_id,
            gate="throttle",
            because=f"{WAITING} {wait.throttle_id}, {wait.because}",
        )
        try:
            return waits.show_of_stage_run(self.resources.journal, row, wait.seconds)
        except CatalogUnreachable:
            _LOG.warning("%s; the catalog cannot be reached", row.because)
            return None

    def _show_over(self, step: str | None) -> None:
        try:
            stage_run_id = self.attempt.stage_run_id
            waits.over_of_stage_run(self.resources.journal, stage_run_id, step)
        except CatalogUnreachable:
            _LOG.warning("the end of a wait is not shown: the catalog cannot be reached")

    @contextmanager
    def _kept(self, held: HeldTokens) -> Iterator[None]:
        """Keep the tokens alive while they are in use."""
        renewed = _Renewed(held, self.resources)
        heartbeats.keep(renewed)
        try:
            yield
        finally:
            heartbeats.let_go(renewed)

    def _settle(self, held: HeldTokens, batch: MicroBatch) -> None:
        rows = {throttle.throttle_id: throttle for throttle in self._rows}
        used = {
            name: batch.tokens(rows[name])
            for name in held.granted
            if name in rows and known_metric(rows[name]).is_rate
        }
        if _SAFE.settle(held.lease_id, used):
            return
        try:
            buckets.settle(self.resources.journal, held, used)
        except CatalogUnreachable:
            _LOG.warning("tokens come back later: the catalog cannot be reached")


class _Renewed:
    """Tokens whose lease is extended by the heartbeats of this process."""

    def __init__(self, held: HeldTokens, resources: WorkerResources) -> None:
        self._held = held
        self._resources = resources
        self.resource = ", ".join(held.granted)

    def send_heartbeat(self) -> None:
        with suppress(CatalogUnreachable):  # the tokens come back if this lasts
            buckets.renew(self._resources.journal, self._held)


def lower_rates(attempt: Attempt, resources: WorkerResources, lowered: str) -> None:
    """Halve the rates in effect of a stage's throttles, because a system refused load."""
    pace, context = StagePace(attempt, resources), attempt.context
    found = list(pace.rates(context.target, Direction.LOAD))
    if lowered == "source":
        found += [t for dataset in context.inputs for t in pace.rates(dataset, Direction.READ)]
    unique = {throttle.throttle_id: throttle for throttle in found}
    because = f"stage {context.stage_id} was refused by its {lowered}"
    if unique:
        buckets.lower(resources.journal, unique.values(), because)
