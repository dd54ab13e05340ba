"""The kill switch: rows that stop things are seen within a quarter of a second, whoever wrote them.

One thread a process asks for the catalog's revision, and ends the work of every stage that the
rows stop now. It acts on nothing but the rows: a flag set by the command line, by plain SQL or
by a time that has come is the same flag.
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
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.catalog.news import News
from goldsmith.catalog.pipelines import OnCatalogLoss
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.engine.ending import CatalogLost, Stopped
from goldsmith.engine.work import Work
from goldsmith.journal import leases
from goldsmith.planning.stops import why_stopped
from goldsmith.runtime import Runtime

_LOG = logging.getLogger(__name__)
#: How often the catalog is asked where it does not say by itself.
LOOK_SECONDS = 0.1


class KillSwitch:
    """Watches the rows for the work of this process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._works: dict[str, Work] = {}
        self._rows: Snapshot | None = None
        self._news: News | None = None
        self._thread: threading.Thread | None = None
        self._answered = time.monotonic()

    @contextmanager
    def watching(self, work: Work) -> Iterator[None]:
        """While inside, rows that stop this work end it; one that is stopped now ends at once."""
        with self._lock:
            self._works[work.stage_run_id] = work
            if self._thread is None:
                self._answered = time.monotonic()
                self._news = News(self._runtime.catalog.engine)
                self._thread = threading.Thread(
                    target=self._watch, args=(self._news,), name="kill switch", daemon=True
                )
                self._thread.start()
        work.ended.look = self._look
        try:
            yield
        finally:
            with self._lock:
                del self._works[work.stage_run_id]

    def close(self) -> None:
        """Stop watching."""
        if self._thread is not None and self._news is not None:
            self._news.end()
            self._thread.join()
            self._thread = self._news = None

    def _watch(self, news: News) -> None:
        with contextlib.closing(news):
            while not news.is_over:
                try:
                    news.wait(LOOK_SECONDS)
                    self._look()
                except Exception:
                    # Nobody would notice a switch that is dead: it says so, and looks again.
                    _LOG.exception("the kill switch could not look at the rows")
                    time.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        """Read what changed, and end what is stopped now."""
        with self._lock:
            works = list(self._works.values())
            try:
                rows = self._read()
            except CatalogUnreachable:
                self._lost(works)
                return
            self._answered = time.monotonic()
        now = datetime.now(UTC)
        for work in works:
            because = why_stopped(work.near, rows, now)
            if because is not None:
                work.ended.order(Stopped(because=because))

    def _read(self) -> Snapshot:
        engine = self._runtime.catalog.engine
        known = self._rows or self._runtime.surveyor.last().rows
        if snapshot.newest_revision(engine) != known.revision:
            with database.reading(engine) as connection:
                known = snapshot.refresh(known, connection)
        self._rows = known
        return known

    def _lost(self, works: list[Work]) -> None:
        """The catalog does not answer: after a lease's time the pipeline's row decides."""
        silent = time.monotonic() - self._answered
        if silent < leases.SECONDS:
            return
        for work in works:
            pipeline = work.near.pipeline
            if pipeline is not None and pipeline.on_catalog_loss == OnCatalogLoss.STOP:
                lost = CatalogLost(pipeline=pipeline.pipeline_id, seconds=silent)
                work.ended.order(lost)
