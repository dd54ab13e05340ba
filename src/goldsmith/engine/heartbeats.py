"""Send heartbeats for the leases and throttle tokens that this process holds."""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

from goldsmith.journal import leases

_LOG = logging.getLogger(__name__)


class Renewable(Protocol):
    """Something that is held as long as heartbeats come."""

    @property
    def resource(self) -> str:
        """The held resource, for messages."""

    def send_heartbeat(self) -> None:
        """Extend the hold."""


def keep(held: Renewable) -> None:
    """Send heartbeats from now on."""
    _KEEPER.add(held)


def let_go(held: Renewable) -> None:
    """Send no more heartbeats."""
    _KEEPER.remove(held)


class _Keeper:
    """One heartbeat thread for everything this process holds; it ends when nothing is held."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[Renewable] = set()
        self._thread: threading.Thread | None = None

    def add(self, lease: Renewable) -> None:
        with self._lock:
            self._held.add(lease)
            if self._thread is None:
                thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                thread.start()
                self._thread = thread

    def remove(self, lease: Renewable) -> None:
        with self._lock:
            self._held.discard(lease)

    def _keep(self) -> None:
        while True:
            time.sleep(leases.HEARTBEAT_SECONDS)
            with self._lock:
                leases_held = tuple(self._held)
                if not leases_held:
                    self._thread = None
                    return
            for lease in leases_held:
                try:
                    lease.send_heartbeat()
                except Exception:
                    # A lease without heartbeats expires; the other leases must not be affected.
                    _LOG.exception("the lease on %s could not be kept", lease.resource)


_KEEPER = _Keeper()
