"""Carry out loads and make the tables of applications, in a thread beside the service's turns.

A load takes minutes; schedules must not wait for it.
"""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType

from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.lakehouse.carry_out import process_waiting
from goldsmith.lakehouse.raw_tables import ensure_tables
from goldsmith.runtime import Runtime

_LOG = logging.getLogger(__name__)
_TURN_SECONDS = 1.0
#: How often missing tables are made: `*/10 * * * *`, and once at the start.
_TABLES_SECONDS = 600.0


class RawLakehouse:
    """The thread; it ends with its context, after the load it carries out."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._tables_at = -_TABLES_SECONDS
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="raw-lakehouse", daemon=True)

    def __enter__(self) -> RawLakehouse:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        # A load that takes longer is taken over by the next service.
        self._thread.join(timeout=30)

    def turn(self) -> None:
        """Make missing tables when it is time, and carry out what waits."""
        runtime = self._runtime
        if time.monotonic() - self._tables_at >= _TABLES_SECONDS:
            ensure_tables(runtime.catalog, runtime.storage)
            self._tables_at = time.monotonic()
        process_waiting(runtime.catalog, runtime.journal, runtime.storage)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self.turn()
            except CatalogUnreachable as error:
                _LOG.warning("%s", error)
            except Exception:
                # The service must outlive what nobody thought of; the log has the error.
                _LOG.exception("a turn of the raw lakehouse failed")
            self._ended.wait(_TURN_SECONDS)
