"""The feed of new events: one reader of the audit log serves every listener."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque

from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import AuditEvent

#: How often the audit log is looked at while somebody listens.
_EVERY_SECONDS = 0.25
#: Events kept in memory; a listener further behind reads the database.
_KEPT = 5_000
#: Events read at once.
_MOST = 500
logger = logging.getLogger(__name__)


class EventFeed:
    """New events of the audit log, in the order of their ids."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._recent: deque[AuditEvent] = deque(maxlen=_KEPT)
        self._arrived = asyncio.Condition()
        self._reader: asyncio.Task[None] | None = None
        self.newest = 0
        self.closed = False

    async def start(self) -> None:
        """Begin to read, from the newest event on."""
        self.newest = await asyncio.to_thread(self._journal.newest)
        self._reader = asyncio.create_task(self._read())

    async def close(self) -> None:
        """Stop reading and let every listener end."""
        self.closed = True
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
        async with self._arrived:
            self._arrived.notify_all()

    async def after(self, event_id: int, *, timeout: float) -> list[AuditEvent]:
        """The events after this id, at most some hundred; empty after a silent `timeout`."""
        if event_id >= self.newest:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout), self._arrived:
                    await self._arrived.wait_for(lambda: self.newest > event_id or self.closed)
        if event_id >= self.newest or self.closed:
            return []
        if self._recent and self._recent[0].event_id <= event_id + 1:
            found = [event for event in self._recent if event.event_id > event_id]
            return found[:_MOST]
        return await asyncio.to_thread(self._journal.read, since_event_id=event_id, most=_MOST)

    async def _read(self) -> None:
        while True:
            try:
                found = await asyncio.to_thread(
                    self._journal.read, since_event_id=self.newest, most=_MOST
                )
            except Exception:
                # The database is away; the listeners stay and the feed goes on where it was.
                logger.warning("the audit log cannot be read", exc_info=True)
                found = []
            if found:
                self._recent.extend(found)
                async with self._arrived:
                    self.newest = found[-1].event_id
                    self._arrived.notify_all()
            if len(found) < _MOST:
                await asyncio.sleep(_EVERY_SECONDS)
