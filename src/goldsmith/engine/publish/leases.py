"""Hold a lease on a target: send heartbeats during the stage, check it before the publish."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.engine.heartbeats import keep, let_go
from goldsmith.errors import GoldsmithError
from goldsmith.journal import leases
from goldsmith.journal.errors import LeaseLost
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Lease


@dataclass(eq=False, kw_only=True)
class TargetBusy(GoldsmithError):
    """Another run holds the lease on the target."""

    transient = True
    exit_code = 1

    resource: str
    holder: str

    def __str__(self) -> str:
        return f"{self.resource} is being written by {self.holder}."

    @property
    def hint(self) -> str:
        return "Wait for it: a process that died frees its place by itself."


class HeldLease:
    """A lease with heartbeats until it is released."""

    def __init__(self, journal: Journal, lease: Lease) -> None:
        self.journal = journal
        self.lease = lease
        self.lost: GoldsmithError | None = None
        #: The transaction that recorded the end has also released the lease.
        self.is_released = False
        self._lock = threading.Lock()
        self._is_over = False
        keep(self)

    @property
    def resource(self) -> str:
        return self.lease.resource

    def send_heartbeat(self) -> None:
        """Renew the lease, unless it was lost or released."""
        with self._lock:
            if self._is_over or self.is_released or self.lost is not None:
                return
            try:
                leases.heartbeat(self.journal, self.lease)
            except LeaseLost as error:
                self.lost = error
            except CatalogUnreachable:
                pass  # it expires if this lasts; the publish checks it again

    def renew(self, connection: sa.Connection) -> bool:
        """Renew the lease within a transaction; False if another process has taken it."""
        return self.lost is None and leases.renew(connection, self.lease) is not None

    def ensure_held(self) -> None:
        """Raise if another process has taken the lease."""
        if self.lost is not None:
            raise self.lost
        leases.heartbeat(self.journal, self.lease)

    @contextmanager
    def releasing(self) -> Iterator[None]:
        """Suspend heartbeats while the caller's transaction releases the lease."""
        with self._lock:
            yield
            self.is_released = True

    def release(self) -> None:
        """Stop the heartbeats, and release the lease if it is still held."""
        let_go(self)
        with self._lock:  # no heartbeat is running or will start
            self._is_over = True
        if not self.is_released:
            leases.release(self.journal, self.lease)
