"""Wait for a change of the catalog: PostgreSQL notifies, SQLite is polled."""

from __future__ import annotations

import threading
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.triggers import CHANNEL


class ChangeListener:
    """Waits until the catalog may have changed; the caller compares the revision."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._over = threading.Event()
        self._listening: Any = None

    def wait(self, seconds: float) -> None:
        """Return after this time, or as soon as the database notifies of a change."""
        if self._engine.dialect.name != "postgresql":
            self._over.wait(seconds)
            return
        import psycopg

        try:
            if self._listening is None:
                self._listening = self._listen()
            for _notification in self._listening.notifies(timeout=seconds, stop_after=1):
                return
        except (psycopg.Error, sa.exc.SQLAlchemyError):
            # The caller's next read of the revision reports what is wrong with the server.
            self._let_go()
            self._over.wait(seconds)

    def end(self) -> None:
        """End all waiting; called from another thread."""
        self._over.set()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def _listen(self) -> Any:
        pooled = self._engine.raw_connection()
        connection: Any = pooled.driver_connection
        # Taken out of the pool: a connection that listens cannot be used for anything else.
        pooled.detach()
        connection.autocommit = True
        connection.execute(f"LISTEN {CHANNEL}")
        return connection

    def _let_go(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    def close(self) -> None:
        self.end()
        self._let_go()
