"""Heartbeats of this process: they keep its row in `workers` and its requests leased."""

from __future__ import annotations

import logging
import threading
from types import TracebackType

from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.journal import workers
from goldsmith.journal.journal import Journal
from goldsmith.journal.leases import HEARTBEAT_SECONDS
from goldsmith.journal.tables_of_service import WorkerRow, WorkerStatus

_LOG = logging.getLogger(__name__)


class Heartbeat:
    """Extends the leases of this process's requests, every few seconds, in a thread of its own."""

    def __init__(self, journal: Journal, worker: str, row: WorkerRow | None = None) -> None:
        self._journal = journal
        self._worker = worker
        self._row = row
        self._status = WorkerStatus.ACTIVE
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        if self._row is not None:
            workers.register(self._journal, self._row)
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._row is not None:
            try:
                workers.end(self._journal, self._worker)
            except CatalogUnreachable:
                _LOG.warning("the end of this process could not be recorded")

    def drain(self) -> None:
        """Record that this process takes nothing new."""
        self._status = WorkerStatus.DRAINING
        if self._row is not None:
            workers.beat(self._journal, self._worker, self._status)

    def _beat(self) -> None:
        while not self._over.wait(HEARTBEAT_SECONDS):
            try:
                if self._row is not None and not workers.beat(
                    self._journal, self._worker, self._status
                ):
                    # Somebody deleted the row: this process still lives.
                    workers.register(self._journal, self._row.with_(status=self._status.value))
                workers.renew_requests(self._journal, self._worker)
            except CatalogUnreachable:
                _LOG.warning("the catalog cannot be reached: no heartbeat")
            except Exception:
                # Without heartbeats this process would count as dead: log and go on.
                _LOG.exception("a heartbeat failed")
