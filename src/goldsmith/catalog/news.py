"""Waiting for a change of the catalog: PostgreSQL says so itself, SQLite is asked."""

from __future__ import annotations

import threading
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.triggers import CHANNEL


class News:
    """Waits until the catalog may have changed; the revision says whether it did."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._over = threading.Event()
        self._listening: Any = None

    def wait(self, seconds: float) -> None:
        """Come back after so long, or as soon as the database says that something changed."""
        if self._engine.dialect.name != "postgresql":
            self._over.wait(seconds)
            return
        import psycopg

        try:
            if self._listening is None:
                self._listening = self._listen()
            for _said in self._listening.notifies(timeout=seconds, stop_after=1):
                return
        except (psycopg.Error, sa.exc.SQLAlchemyError):
            # Whoever asks for the revision next finds out what is wrong with the server.
            self._let_go()
            self._over.wait(seconds)

    def end(self) -> None:
        """Nobody waits any more; called from another thread."""
        self._over.set()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def _listen(self) -> Any:
        pooled = self._engine.raw_connection()
        connection: Any = pooled.driver_connection
        # Its own from here on: a connection that listens is no good for anything else.
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
