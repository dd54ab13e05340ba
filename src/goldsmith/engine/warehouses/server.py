"""A warehouse that is a server: rows are copied beside the target, then published at once."""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from goldsmith.engine.warehouses import publish, statements
from goldsmith.engine.warehouses.landing import Landing, Table
from goldsmith.engine.warehouses.vacuum import vacuum
from goldsmith.engine.warehouses.warehouse import Fenced, Load, Loaded
from goldsmith.errors import GoldsmithError
from goldsmith.planning.places import Places
from goldsmith.settings.sections import WarehouseKind, WarehouseSettings


class ServerSession(publish.Session, Protocol):
    """A connection that is its own transaction for each statement, but for `transaction`."""

    #: The server's number for it, by which another session can cancel it.
    session_id: int

    def transaction(self) -> AbstractContextManager[None]:
        """All statements inside, or none."""

    def close(self) -> None: ...


class ServerWarehouse(ABC):
    """What PostgreSQL and Redshift have in common; connections last for one call."""

    kind: WarehouseKind

    def __init__(self, places: Places, settings: WarehouseSettings) -> None:
        self.places = places
        self.settings = settings
        self.where = f"{self.kind} at {settings.host}:{settings.port}/{settings.database}"
        #: The sessions that are open, as the server numbers them: see `cancel`.
        self.session_ids: set[int] = set()
        #: Ends a wait between two statements, which nobody can cancel in the server.
        self._cancelled = threading.Event()

    def columns(self, location: str) -> Mapping[str, str] | None:
        with self._session(location) as session:
            return publish.columns(session, Table.at(location, self.kind))

    def loaded(self, location: str, stage_run_id: str) -> Loaded | None:
        with self._session(location) as session:
            return publish.loaded(session, location, stage_run_id)

    def load(self, load: Load, reach: Callable[[str], None]) -> Loaded:
        self._cancelled.clear()
        with self._session(load.location) as session:
            done = publish.loaded(session, load.location, load.stage_run_id)
            if done is not None:
                session.run(statements.drop(Table.staging(load.stage_run_id, self.kind)))
                return done
            publish.make_ledger(session)
            there = publish.columns(session, Table.at(load.location, self.kind))
            landing = Landing.of(load, self.kind, there)
            with self._working(load, session, landing):
                loaded = self._load(session, load, landing, reach)
            session.run(statements.drop(landing.staging))
            reach("staging-removed")
            return loaded

    def _load(
        self,
        session: ServerSession,
        load: Load,
        landing: Landing,
        reach: Callable[[str], None],
    ) -> Loaded:
        session.run(statements.drop(landing.staging))
        session.run(statements.create_staging(landing))
        reach("staging-table-made")
        self._copy(session, load, landing)
        publish.check_count(session, load, landing)
        reach("warehouse-copied")
        if load.lock == "end_blocker":
            self._end_holders(session, landing.target)
        self._wait_for_writers(session, landing.target)
        with session.transaction():
            if load.lock is not None and publish.columns(session, landing.target) is not None:
                self._hold(session, landing.target)
            # The lock on the staging table is how `clean` finds a session that sleeps in here.
            self._hold(session, landing.staging)
            self._hold(session, statements.ledger(self.kind))
            loaded = publish.publish(session, load, landing, reach)
        reach("warehouse-committed")
        return loaded

    def clean(self, location: str, stage_run_id: str) -> None:
        staging = Table.staging(stage_run_id, self.kind)
        with self._session(location) as session:
            publish.make_ledger(session)
            self._end_holders(session, staging)
            session.run(statements.drop(staging))
            with session.transaction():
                self._hold(session, statements.ledger(self.kind))
                publish.give_up(session, location, stage_run_id)

    def maintain(self, location: str) -> list[str]:
        with self._session(location) as session:
            return vacuum(session, location)

    def close(self) -> None:  # noqa: B027 - there is nothing to do, here or below
        """Nothing is kept open."""

    def unload(self, location: str, folder: str) -> None:
        with self._session(location) as session:
            there = publish.columns(session, Table.at(location, self.kind))
            if there is None:
                raise publish.TableMissing(location=location, where=self.where)
            self._unload(session, Table.at(location, self.kind), there, folder)

    def cancel(self) -> bool:
        busy = tuple(self.session_ids)
        self._cancelled.set()
        for session_id in busy:
            self._cancel(session_id)
        return bool(busy)

    @abstractmethod
    def _cancel(self, session_id: int) -> None:
        """End what a session is doing, from another one."""

    @abstractmethod
    def _open(self, location: str) -> ServerSession:
        """A connection of this load's own."""

    @abstractmethod
    def _copy(self, session: ServerSession, load: Load, landing: Landing) -> None:
        """Fill the staging table."""

    @abstractmethod
    def _unload(
        self, session: ServerSession, table: Table, there: Mapping[str, str], folder: str
    ) -> None:
        """Write a table's rows as Parquet."""

    @abstractmethod
    def _hold(self, session: ServerSession, table: Table) -> None:
        """Keep others from writing a table until the transaction ends."""

    def _wait_for_writers(  # noqa: B027 - PostgreSQL's lock_timeout sees to it
        self, session: ServerSession, table: Table
    ) -> None:
        """Let others who write a table finish, where a statement could wait for them forever."""

    def _end_holders(self, session: ServerSession, table: Table) -> None:
        """End the other sessions that have a table in their hands."""
        for session_id in self._holders(session, table):
            session.run("SELECT pg_terminate_backend(%s)", session_id)

    def _holders(self, session: ServerSession, table: Table, more: str = "") -> list[int]:
        """The other sessions that have a table in their hands."""
        found = session.run(
            "SELECT CAST(c.oid AS bigint) FROM pg_catalog.pg_class c "
            "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relname = %s",
            table.schema,
            table.table,
        )
        if not found:
            return []
        sql = f"SELECT DISTINCT pid FROM {self._locks} WHERE relation = %s{more}"
        pids = session.run(sql, int(found[0][0]))
        return [int(pid) for (pid,) in pids if pid != session.session_id]

    @property
    @abstractmethod
    def _locks(self) -> str:
        """The view that says who holds which table."""

    @contextlib.contextmanager
    def _session(self, location: str) -> Iterator[ServerSession]:
        session = self._open(location)
        self.session_ids.add(session.session_id)
        try:
            yield session
        finally:
            self.session_ids.discard(session.session_id)
            session.close()

    @contextlib.contextmanager
    def _working(self, load: Load, session: ServerSession, landing: Landing) -> Iterator[None]:
        """Where a load fails, nothing of it stays."""
        try:
            yield
        except BaseException as error:
            # A connection that is gone leaves it to `clean`.
            with contextlib.suppress(GoldsmithError):
                session.run(statements.drop(landing.staging))
            refused = isinstance(error, GoldsmithError) and not isinstance(error, Fenced)
            if refused and self._is_given_up(load):
                # Whoever took over ended our session: that is no server which is gone.
                raise publish.LoadGivenUp(location=load.location, token=load.token) from error
            raise

    def _is_given_up(self, load: Load) -> bool:
        try:
            with self._session(load.location) as session:
                return publish.is_given_up(session, load)
        except GoldsmithError:
            # The server does not answer: then that is what there is to say.
            return False
