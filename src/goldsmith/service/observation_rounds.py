"""Probe datasets that are down and keep computed paths up to date, in a thread of the service."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from goldsmith.errors import GoldsmithError
from goldsmith.journal import health
from goldsmith.journal.lineage_tables import HealthStatus
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.stage_context import dataset_of
from goldsmith.runtime import Runtime
from goldsmith.worker.computed_paths import keep_computed
from goldsmith.worker.probes import Probes

_LOG = logging.getLogger(__name__)


@dataclass
class ObservationRounds:
    """Probes in a thread of its own: a server that is away must not hold up the service."""

    runtime: Runtime
    _started_at: float = float("-inf")
    _thread: threading.Thread | None = None

    def turn(self) -> None:
        """Start a round of probes if one is due and the last one is over."""
        every = self.runtime.settings.health.probe_every_sec
        is_busy = self._thread is not None and self._thread.is_alive()
        if is_busy or time.monotonic() - self._started_at < every:
            return
        self._started_at = time.monotonic()
        self._thread = threading.Thread(target=self._round, name="probes", daemon=True)
        self._thread.start()

    def _round(self) -> None:
        try:
            keep_computed(self.runtime)
            probe_again(self.runtime)
        except GoldsmithError as error:
            _LOG.warning("%s [%s]", error, error.code)
        except Exception:
            _LOG.exception("a round of probes failed")


def probe_again(runtime: Runtime) -> None:
    """Probe every dataset that is down; warehouse tables are probed by the next run."""
    rows = runtime.catalog_indexer.catalog_index().rows
    probes = Probes.of_service(runtime)
    for known in health.all_health(runtime.journal):
        if known.status != HealthStatus.DOWN or known.dataset_id not in rows.dataset_ids:
            continue
        dataset = dataset_of(known.dataset_id, rows)
        if dataset_kind(dataset) != "warehouse":
            probes.probe_again(known, dataset)
