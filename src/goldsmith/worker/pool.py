"""A worker: one Spark driver that runs several requests at once, until it is drained.

Each turn requeues what dead workers left, asks the gates and the profile what may start, leases it
and executes it in a thread. The service and other workers see this worker only through the rows.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from goldsmith.catalog import database
from goldsmith.catalog.errors import CatalogTooNew
from goldsmith.catalog.version import VERSION
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.cancel_token import WorkerEnded
from goldsmith.engine.run import ExecutionOptions
from goldsmith.errors import GoldsmithError
from goldsmith.journal import requests, workers
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import RequestStatus
from goldsmith.journal.tables_of_service import WorkerKind, WorkerRow
from goldsmith.planning.increments import Increments
from goldsmith.runtime import Runtime
from goldsmith.scheduling.values import Yield
from goldsmith.worker import loop
from goldsmith.worker.admission import Admission, admit
from goldsmith.worker.heartbeat import Heartbeat
from goldsmith.worker.preemption import RunningRequests
from goldsmith.worker.queue_state import StageEstimates

_LOG = logging.getLogger(__name__)
#: How often a worker looks for changed rows; without a change it turns every `_TURN_SECONDS`.
LOOK_SECONDS, _TURN_SECONDS = 0.25, 3.0
_NEWEST = "SELECT (SELECT max(event_id) FROM audit_log), (SELECT revision FROM catalog_revision)"
_UNFINISHED = "SELECT 1 FROM requests WHERE status IN ('waiting', 'running', 'stopped') LIMIT 1"
_VERSION = "SELECT version_num FROM alembic_version"


@dataclass
class Drain:
    """How a process is asked to end: the first signal drains, the second stops at once."""

    signals: int = 0
    _changed: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        self.signals += 1
        self._changed.set()

    @property
    def is_draining(self) -> bool:
        return self.signals > 0

    @property
    def is_stopping(self) -> bool:
        return self.signals > 1

    def wake(self) -> None:
        """End the wait: something changed in this process."""
        self._changed.set()

    def wait(self, seconds: float) -> None:
        """Wait, but not longer than until the next signal or `wake`."""
        self._changed.wait(seconds)
        self._changed.clear()


def worker_row(runtime: Runtime, kind: WorkerKind, slots: int) -> WorkerRow:
    """The row of this process in `workers`."""
    owner = Owner.this_process()
    return WorkerRow(
        worker=str(owner),
        kind=kind.value,
        host=owner.host,
        pid=owner.pid,
        environment=runtime.settings.environment,
        slots=slots,
        catalog_version=VERSION,
        goldsmith_version=version("goldsmith"),
    )


def work(
    runtime: Runtime,
    resources: WorkerResources,
    execution_options: ExecutionOptions,
    drain: Drain,
    *,
    slots: int,
    is_enough: Callable[[], bool] = lambda: False,
) -> None:
    """Run requests until the worker is drained (or `is_enough`, for tests)."""
    workers.refuse_wrong_clock(runtime.journal)
    row = worker_row(runtime, WorkerKind.WORKER, slots)
    with Heartbeat(runtime.journal, row.worker, row) as heartbeat:
        _Pool(runtime, resources, execution_options, slots).turn(drain, heartbeat, is_enough)


class _Pool:
    """The requests that run in this worker."""

    def __init__(
        self,
        runtime: Runtime,
        resources: WorkerResources,
        execution_options: ExecutionOptions,
        slots: int,
    ) -> None:
        self._runtime = runtime
        self._resources = resources
        self._options = execution_options
        self._slots = slots
        self._estimates = StageEstimates(runtime)
        self._running = RunningRequests()
        self._futures: dict[str, Future[None]] = {}
        self._seen: object = None
        self._turned_at = self._requeued_at = 0.0
        self._ended: WorkerEnded | None = None
        self._wants_renewal = False

    def turn(self, drain: Drain, heartbeat: Heartbeat, is_enough: Callable[[], bool]) -> None:
        threads = ThreadPoolExecutor(self._slots, thread_name_prefix="request")
        is_recorded = False
        try:
            while not (drain.is_draining and not self._futures) and not is_enough():
                if drain.is_draining and not is_recorded:
                    heartbeat.drain()
                    is_recorded = True
                if drain.is_stopping:
                    self._stop_all()
                    break
                try:
                    self._look(threads, drain)
                except CatalogTooNew:
                    raise
                except GoldsmithError as error:
                    # A row that cannot be used, or a catalog that is away: what runs goes on.
                    _LOG.warning("%s [%s]", error, error.code)
                except Exception:
                    # What runs goes on; the next turn tries again. The log has the error.
                    _LOG.exception("a turn of the worker failed")
                self._collect()
                if self._ended is not None:
                    raise self._ended
                drain.wait(LOOK_SECONDS)
        finally:
            threads.shutdown(wait=True)

    def _look(self, threads: ThreadPoolExecutor, drain: Drain) -> None:
        """Start what may start, if a row changed or some time has passed."""
        engine = self._runtime.catalog.engine
        newest, now = database.glance(engine, _NEWEST), time.monotonic()
        is_due = now - self._turned_at >= _TURN_SECONDS
        if newest == self._seen and not is_due:
            return
        if is_due:
            self._refuse_other_version(engine)
        self._turned_at = now
        if newest == self._seen and not database.glance(engine, _UNFINISHED):
            return
        if not drain.is_draining:
            if now - self._requeued_at >= LOOK_SECONDS:
                self._requeued_at = now
                loop.requeue_requests(self._runtime, str(self._resources.owner))
            self._start(threads, drain)
        self._seen = database.glance(engine, _NEWEST)

    @staticmethod
    def _refuse_other_version(engine: object) -> None:
        [(found,)] = database.glance(engine, _VERSION)  # type: ignore[arg-type]
        if found != VERSION:
            raise CatalogTooNew(found=str(found), known=VERSION)

    def _start(self, threads: ThreadPoolExecutor, drain: Drain) -> None:
        if self._wants_renewal:
            if self._futures:
                return
            self._resources.renew()
            self._wants_renewal = False
        yielding = {
            name: since
            for name in self._running.ids()
            if (since := self._running.yielding_since(name)) is not None
        }
        admission = admit(self._runtime, self._estimates, yielding=yielding)
        self._yield(admission)
        for name in list(self._futures):
            running = admission.queue.requests.get(name)
            if running is not None and requests.SUPERSEDED in running.options:
                self._running.preempt(name, "a newer start of its schedule is due")
        free = self._slots - len(self._futures)
        for request in admission.start:
            if free <= 0:
                break
            if request.request_id not in self._futures:
                future = threads.submit(self._execute, request.request_id)
                self._futures[request.request_id] = future
                future.add_done_callback(lambda _future: drain.wake())
                free -= 1

    def _renew_later(self) -> None:
        """Open Spark and connections again once no request uses them: others run in them too."""
        self._wants_renewal = True

    def _yield(self, admission: Admission) -> None:
        """Let requests of this worker yield; stop those whose grace time is over."""
        now = admission.queue.at.timestamp()
        mine: list[Yield] = [
            decision
            for decision in admission.decisions.yields
            if decision.running.stage.request_id in self._futures
        ]
        self._running.let_yield({y.running.stage.request_id: y.because for y in mine}, now)
        for decision in mine:
            if decision.stop_at is not None and decision.stop_at <= now:
                self._running.preempt(decision.running.stage.request_id, decision.because)

    def _execute(self, request_id: str) -> None:
        resources = replace(
            self._resources,
            watched=self._running.watching(request_id, self._resources.watched),
            pause=lambda attempt: self._running.pause(request_id, attempt),
            renew=self._renew_later,
            # Each request looks at its inputs anew: the listings of others stay as they are.
            increments=Increments(self._runtime.catalog, self._runtime.storage),
        )
        try:
            with self._running.running(request_id):
                loop.take_and_execute(self._runtime, resources, self._options, request_id)
        finally:
            because = self._running.take_preempted(request_id)
            if because is not None:
                self._requeue_preempted(request_id, because)

    def _requeue_preempted(self, request_id: str, because: str) -> None:
        journal = self._runtime.journal
        request = requests.get(journal, request_id)
        if request.status != RequestStatus.STOPPED:
            return
        if requests.SUPERSEDED in request.options:
            requests.cancel(journal, request_id, because=because)
        else:
            requests.requeue(journal, request_id, because)

    def _collect(self) -> None:
        for name, future in list(self._futures.items()):
            if not future.done():
                continue
            del self._futures[name]
            self._turned_at = 0.0  # a slot is free
            match future.exception():
                case None:
                    pass
                case WorkerEnded() as ended:
                    self._ended = ended
                case GoldsmithError() as error:
                    _LOG.warning("request %s: %s", name, error)
                case error:
                    _LOG.error("request %s failed", name, exc_info=error)

    def _stop_all(self) -> None:
        """Stop what runs; it is requeued for another worker."""
        for name in list(self._futures):
            self._running.preempt(name, "its worker was stopped")
