"""The kill switch: cancel running stages within a quarter of a second after a row stops them.

One thread per process polls the catalog's revision and cancels every attempt that the rows stop.
It reads only rows: a flag set by a command, by plain SQL or by its start time works alike.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from goldsmith.catalog import database, snapshot
from goldsmith.catalog.change_listener import ChangeListener
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.catalog.pipelines import OnCatalogLoss
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.engine.attempt import Attempt
from goldsmith.engine.cancel_token import CatalogLost, Stopped
from goldsmith.journal import leases
from goldsmith.planning.stopped import why_stopped
from goldsmith.runtime import Runtime

_LOG = logging.getLogger(__name__)
#: How often to poll a catalog that sends no change notifications.
LOOK_SECONDS = 0.1


class KillSwitch:
    """Watches the catalog rows for the attempts of this process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._works: dict[str, Attempt] = {}
        self._rows: CatalogRows | None = None
        self._news: ChangeListener | None = None
        self._thread: threading.Thread | None = None
        self._answered = time.monotonic()

    @contextmanager
    def watching(self, attempt: Attempt) -> Iterator[None]:
        """Cancel the attempt if rows stop it while the context is open."""
        with self._lock:
            self._works[attempt.stage_run_id] = attempt
            if self._thread is None:
                self._answered = time.monotonic()
                self._news = ChangeListener(self._runtime.catalog.engine)
                self._thread = threading.Thread(
                    target=self._watch, args=(self._news,), name="kill switch", daemon=True
                )
                self._thread.start()
        attempt.cancel.look = self._look
        try:
            yield
        finally:
            with self._lock:
                del self._works[attempt.stage_run_id]

    def close(self) -> None:
        """Stop watching."""
        if self._thread is not None and self._news is not None:
            self._news.end()
            self._thread.join()
            self._thread = self._news = None

    def _watch(self, news: ChangeListener) -> None:
        with contextlib.closing(news):
            while not news.is_over:
                try:
                    news.wait(LOOK_SECONDS)
                    self._look()
                except Exception:
                    # A dead switch would go unnoticed: log the error and continue.
                    _LOG.exception("the kill switch could not look at the rows")
                    time.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        """Read changed rows, and cancel the attempts that they stop."""
        with self._lock:
            works = list(self._works.values())
            try:
                rows = self._read()
            except CatalogUnreachable:
                self._lost(works)
                return
            self._answered = time.monotonic()
        now = datetime.now(UTC)
        for attempt in works:
            because = why_stopped(attempt.context, rows, now)
            if because is not None:
                attempt.cancel.order(Stopped(because=because))

    def _read(self) -> CatalogRows:
        engine = self._runtime.catalog.engine
        known = self._rows or self._runtime.catalog_indexer.last().rows
        if snapshot.newest_revision(engine) != known.revision:
            with database.reading(engine) as connection:
                known = snapshot.refresh(known, connection)
        self._rows = known
        return known

    def _lost(self, works: list[Attempt]) -> None:
        """Apply `on_catalog_loss` once the catalog has not answered for the duration of a lease."""
        silent = time.monotonic() - self._answered
        if silent < leases.SECONDS:
            return
        for attempt in works:
            pipeline = attempt.context.pipeline
            if pipeline is not None and pipeline.on_catalog_loss == OnCatalogLoss.STOP:
                lost = CatalogLost(pipeline=pipeline.pipeline_id, seconds=silent)
                attempt.cancel.order(lost)
