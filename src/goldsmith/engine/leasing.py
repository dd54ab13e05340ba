"""Holding a lease: said again and again while the stage works, asked for before it publishes."""

from __future__ import annotations

import threading
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
    """A lease that is kept alive by a thread of its own."""

    def __init__(self, journal: Journal, lease: Lease) -> None:
        self.journal = journal
        self.lease = lease
        self.lost: GoldsmithError | None = None
        #: Whoever recorded the end gave the place back with it.
        self.is_given_back = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._over.wait(leases.HEARTBEAT_SECONDS):
            try:
                leases.heartbeat(self.journal, self.lease)
            except LeaseLost as error:
                self.lost = error
                return
            except CatalogUnreachable:
                continue  # it expires by itself if this lasts; the publish asks again

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
        self._over.set()
        self._thread.join()
        if not self.is_given_back:
            leases.release(self.journal, self.lease)
