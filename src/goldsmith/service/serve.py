"""The service: it turns the clock, keeps workers alive, opens incidents and sends notifications.

It runs no stage itself: Spark lives in the worker processes. Two services on one catalog do no
harm, because each due start is one row and each request is leased to one worker.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from goldsmith.catalog import database
from goldsmith.catalog.errors import CatalogTooNew, CatalogUnreachable
from goldsmith.catalog.version import VERSION
from goldsmith.errors import GoldsmithError
from goldsmith.gateway.process import forget_bodies, process_waiting
from goldsmith.gateway.sweep import sweep
from goldsmith.gateway.watch import watch
from goldsmith.journal import schedule_fires, workers
from goldsmith.journal.tables_of_service import WorkerKind
from goldsmith.runtime import Runtime
from goldsmith.service.arrivals import Arrivals
from goldsmith.service.clock import Clock
from goldsmith.service.health import HealthServer
from goldsmith.service.keep_workers import WorkerProcesses
from goldsmith.service.observation_rounds import ObservationRounds
from goldsmith.service.raw_lakehouse import RawLakehouse
from goldsmith.worker import incidents, loop, notifications
from goldsmith.worker.heartbeat import Heartbeat
from goldsmith.worker.pool import Drain, worker_row

_LOG = logging.getLogger(__name__)
_TURN_SECONDS = 1.0
#: How often incidents and freshness are looked at, and old rows of the service are deleted.
_INCIDENT_SECONDS, _CLEAN_SECONDS = 30.0, 3600.0
_KEEP_FIRES = timedelta(days=90)
#: The catalog may be silent this long before `/healthz` fails.
_SILENT_SECONDS = 60.0
_VERSION = "SELECT version_num FROM alembic_version"


@dataclass
class ServiceState:
    """The state that `/healthz` and `/readyz` report."""

    turned_at: float = 0.0
    problem: str | None = None
    fired: int = 0


def serve(
    runtime: Runtime,
    drain: Drain,
    processes: WorkerProcesses,
    *,
    host: str,
    port: int,
    tell: Callable[[str], None] = lambda text: None,
) -> None:
    """Turn until a signal drains the service and its workers."""
    workers.refuse_wrong_clock(runtime.journal)
    row = worker_row(runtime, WorkerKind.SERVICE, 0)
    state = ServiceState()

    def healthy() -> tuple[bool, dict[str, Any]]:
        silent = time.monotonic() - state.turned_at
        return silent < _SILENT_SECONDS, {"last_turn_seconds": round(silent, 1)}

    def ready() -> tuple[bool, dict[str, Any]]:
        alive = _count_workers(runtime, state)
        is_ready = not drain.is_draining and state.problem is None and alive > 0
        return is_ready, {"workers": alive, "draining": drain.is_draining, "problem": state.problem}

    with (
        Heartbeat(runtime.journal, row.worker, row) as heartbeat,
        HealthServer(host, port, healthy=healthy, ready=ready) as health,
        RawLakehouse(runtime),
    ):
        tell(f"health on http://{host}:{health.port}/healthz and /readyz")
        turns = _Turns(runtime, state, row.worker)
        while not drain.is_draining:
            processes.keep()
            turns.turn()
            drain.wait(_TURN_SECONDS)
        heartbeat.drain()
        tell("draining: running requests end, nothing new is started")
        processes.drain()
        is_stop_sent = False
        while not processes.wait(_TURN_SECONDS):
            state.turned_at = time.monotonic()
            if drain.is_stopping and not is_stop_sent:
                tell("stopping at once")
                processes.drain()
                is_stop_sent = True


def _count_workers(runtime: Runtime, state: ServiceState) -> int:
    try:
        return len(workers.alive(runtime.journal))
    except CatalogUnreachable as error:
        state.problem = str(error)
        return 0


class _Turns:
    """The tasks of the service: every second, every half minute and every hour."""

    def __init__(self, runtime: Runtime, state: ServiceState, worker: str) -> None:
        self._runtime = runtime
        self._state = state
        self._worker = worker
        self._clock = Clock(runtime, worker)
        self._arrivals = Arrivals(runtime, worker)
        self._observations = ObservationRounds(runtime)
        self._incidents_at = self._cleaned_at = -_CLEAN_SECONDS

    def turn(self) -> None:
        """One turn; a catalog that is away for a while stops nothing."""
        state = self._state
        try:
            self._do()
            state.problem = None
        except CatalogTooNew:
            raise
        except CatalogUnreachable as error:
            state.problem = str(error)
            _LOG.warning("%s", error)
        except GoldsmithError as error:
            state.problem = str(error)
            _LOG.warning("%s [%s]", error, error.code)
        except Exception:
            # The service must survive unexpected errors; the log has them.
            state.problem = "an unexpected error, see the log"
            _LOG.exception("a turn of the service failed")
        state.turned_at = time.monotonic()

    def _do(self) -> None:
        runtime = self._runtime
        self._refuse_other_version()
        self._state.fired += len(self._clock.turn())
        self._arrivals.turn()
        self._observations.turn()
        now = time.monotonic()
        if now - self._incidents_at >= _INCIDENT_SECONDS:
            self._incidents_at = now
            loop.requeue_requests(runtime, self._worker)
            incidents.update_incidents(runtime)
        process_waiting(runtime.journal)
        notifications.deliver(runtime)
        if now - self._cleaned_at >= _CLEAN_SECONDS:
            self._cleaned_at = now
            workers.forget_ended(runtime.journal)
            schedule_fires.forget_before(runtime.journal, datetime.now(UTC) - _KEEP_FIRES)
            sweep(runtime.journal)
            forget_bodies(runtime.journal)
            watch(runtime.journal)

    def _refuse_other_version(self) -> None:
        [(found,)] = database.glance(self._runtime.catalog.engine, _VERSION)
        if found != VERSION:
            raise CatalogTooNew(found=str(found), known=VERSION)
