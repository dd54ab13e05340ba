"""Holding a lease: said again and again while the stage works, asked for before it publishes."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

import sqlalchemy as sa

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.errors import GoldsmithError
from goldsmith.journal import leases
from goldsmith.journal.errors import LeaseLost
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Lease
from goldsmith.planning.words import is_lake

_LOG = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class TargetBusy(GoldsmithError):
    """Another run writes the same place right now."""

    transient = True
    exit_code = 1

    resource: str
    holder: str

    def __str__(self) -> str:
        return f"{self.resource} is being written by {self.holder}."

    @property
    def hint(self) -> str:
        return "Wait for it: a process that died frees its place by itself."


def place_of(target: Target) -> str:
    """What a lease is held on: the place that is written, whatever the target's id."""
    place = (target.location or target.target_id).rstrip("/")
    return place if is_lake(target) else f"{target.type}:{place}"


class Held:
    """A lease that is kept alive until it is let go."""

    def __init__(self, journal: Journal, lease: Lease) -> None:
        self.journal = journal
        self.lease = lease
        self.lost: GoldsmithError | None = None
        #: Whoever recorded the end gave the place back with it.
        self.is_given_back = False
        self._lock = threading.Lock()
        self._is_over = False
        _KEEPER.add(self)

    def say_again(self) -> None:
        """Say that its owner lives; nothing is said once it was lost or let go."""
        with self._lock:
            if self._is_over or self.lost is not None:
                return
            try:
                leases.heartbeat(self.journal, self.lease)
            except LeaseLost as error:
                self.lost = error
            except CatalogUnreachable:
                pass  # it expires by itself if this lasts; the publish asks again

    def renew(self, connection: sa.Connection) -> bool:
        """Hold on to it within a transaction; False where another process has taken the place."""
        return self.lost is None and leases.renew(connection, self.lease) is not None

    def still_mine(self) -> None:
        """Raises where another process has taken the place."""
        if self.lost is not None:
            raise self.lost
        leases.heartbeat(self.journal, self.lease)

    def let_go(self) -> None:
        """Stop keeping it; where it is still held, give it back."""
        _KEEPER.remove(self)
        with self._lock:  # nothing more is said, nor under way
            self._is_over = True
        if not self.is_given_back:
            leases.release(self.journal, self.lease)


class _Keeper:
    """One thread for all leases that this process holds; it ends when it finds none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[Held] = set()
        self._thread: threading.Thread | None = None

    def add(self, held: Held) -> None:
        with self._lock:
            self._held.add(held)
            if self._thread is None:
                thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                thread.start()
                self._thread = thread

    def remove(self, held: Held) -> None:
        with self._lock:
            self._held.discard(held)

    def _keep(self) -> None:
        while True:
            time.sleep(leases.HEARTBEAT_SECONDS)
            with self._lock:
                held = tuple(self._held)
                if not held:
                    self._thread = None
                    return
            for one in held:
                try:
                    one.say_again()
                except Exception:
                    # One that cannot be kept expires by itself, and must not cost the others.
                    _LOG.exception("the lease on %s could not be kept", one.lease.resource)


_KEEPER = _Keeper()
