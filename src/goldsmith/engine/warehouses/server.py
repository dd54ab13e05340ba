"""Warehouse servers: copy rows into a staging table, then publish in one transaction."""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from goldsmith.engine.warehouses import publish, statements
from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.landing import Landing, WarehouseTable
from goldsmith.engine.warehouses.server_dialect import oid
from goldsmith.engine.warehouses.warehouse import Fenced, Load, Loaded
from goldsmith.engine.warehouses.warehouse_write import Session
from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import WarehouseSettings
from goldsmith.storage.storage import Storage


class ServerSession(Session, Protocol):
    """A connection with autocommit, except inside `transaction`."""

    #: The server's process id of the session, by which another session can cancel it.
    session_id: int

    def transaction(self) -> AbstractContextManager[None]:
        """Run all statements inside or none."""

    def close(self) -> None: ...


class ServerWarehouse(ABC):
    """The common part of PostgreSQL and Redshift; connections last for one call."""

    dialect: WarehouseDialect

    def __init__(self, storage: Storage, settings: WarehouseSettings) -> None:
        self.storage = storage
        self.settings = settings
        self.where = f"{self.dialect.name} at {settings.host}:{settings.port}/{settings.database}"
        #: Ids of the open sessions, for `cancel`.
        self.session_ids: set[int] = set()
        #: Ends a wait between two statements, which the server cannot cancel.
        self._cancelled = threading.Event()

    def columns(self, location: str) -> Mapping[str, str] | None:
        with self._session(location) as session:
            return publish.columns(session, WarehouseTable.at(location, self.dialect))

    def loaded(self, location: str, stage_run_id: str) -> Loaded | None:
        with self._session(location) as session:
            return publish.loaded(session, location, stage_run_id)

    def load(self, load: Load, reach: Callable[[str], None]) -> Loaded:
        self._cancelled.clear()
        with self._session(load.location) as session:
            done = publish.loaded(session, load.location, load.stage_run_id)
            if done is not None:
                session.run(
                    statements.drop(WarehouseTable.staging(load.stage_run_id, self.dialect))
                )
                return done
            publish.make_ledger(session)
            table_columns = publish.columns(session, WarehouseTable.at(load.location, self.dialect))
            landing = Landing.of(load, self.dialect, table_columns)
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
        for part in load.micro_batches():
            self._copy(session, part, landing)
        publish.check_count(session, load, landing)
        reach("warehouse-copied")
        if load.lock == "end_blocker":
            self._end_holders(session, landing.target)
        self._wait_for_writers(session, landing.target)
        with session.transaction():
            if load.lock is not None and publish.columns(session, landing.target) is not None:
                self._hold(session, landing.target)
            # By the lock on the staging table `clean` finds a session that hangs here.
            self._hold(session, landing.staging)
            self._hold(session, statements.ledger(self.dialect))
            loaded = publish.publish(session, load, landing, reach)
        reach("warehouse-committed")
        return loaded

    def clean(self, location: str, stage_run_id: str) -> None:
        staging = WarehouseTable.staging(stage_run_id, self.dialect)
        with self._session(location) as session:
            publish.make_ledger(session)
            self._end_holders(session, staging)
            session.run(statements.drop(staging))
            with session.transaction():
                self._hold(session, statements.ledger(self.dialect))
                publish.give_up(session, location, stage_run_id)

    def move(self, old: str, new: str) -> None:
        with self._session(old) as session:
            publish.make_ledger(session)
            with session.transaction():
                self._hold(session, WarehouseTable.at(old, self.dialect))
                self._hold(session, statements.ledger(self.dialect))
                publish.move(session, old, new)

    def maintain(self, location: str) -> list[str]:
        with self._session(location) as session:
            return publish.vacuum(session, location)

    def close(self) -> None:  # noqa: B027 - subclasses keep nothing open either
        """Do nothing: no connection stays open."""

    def unload(self, location: str, folder: str) -> None:
        with self._session(location) as session:
            table_columns = publish.columns(session, WarehouseTable.at(location, self.dialect))
            if table_columns is None:
                raise publish.TableMissing(location=location, where=self.where)
            self._unload(session, WarehouseTable.at(location, self.dialect), table_columns, folder)

    def cancel(self) -> bool:
        busy = tuple(self.session_ids)
        self._cancelled.set()
        for session_id in busy:
            self._cancel(session_id)
        return bool(busy)

    @abstractmethod
    def _cancel(self, session_id: int) -> None:
        """Cancel the running statement of a session, from another session."""

    @abstractmethod
    def _open(self, location: str) -> ServerSession:
        """Open a new connection."""

    @abstractmethod
    def _copy(self, session: ServerSession, load: Load, landing: Landing) -> None:
        """Fill the staging table."""

    @abstractmethod
    def _unload(
        self,
        session: ServerSession,
        table: WarehouseTable,
        table_columns: Mapping[str, str],
        folder: str,
    ) -> None:
        """Write a table's rows as Parquet."""

    @abstractmethod
    def _hold(self, session: ServerSession, table: WarehouseTable) -> None:
        """Lock a table against other writers until the transaction ends."""

    def _wait_for_writers(  # noqa: B027 - PostgreSQL has lock_timeout
        self, session: ServerSession, table: WarehouseTable
    ) -> None:
        """Wait for other writers of a table, on servers where a lock could wait forever."""

    def _end_holders(self, session: ServerSession, table: WarehouseTable) -> None:
        """End the other sessions that hold or wait for a lock on a table."""
        for session_id in self._holders(session, table):
            session.run("SELECT pg_terminate_backend(%s)", session_id)

    def _holders(self, session: ServerSession, table: WarehouseTable, more: str = "") -> list[int]:
        """The other sessions that hold or wait for a lock on a table; `more` restricts them."""
        number = oid(session.run, table)
        if number is None:
            return []
        sql = f"SELECT DISTINCT pid FROM {self._locks} WHERE relation = %s{more}"
        pids = session.run(sql, number)
        return [int(pid) for (pid,) in pids if pid != session.session_id]

    @property
    @abstractmethod
    def _locks(self) -> str:
        """The system view of locks on tables."""

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
        """If the load fails inside, drop its staging table."""
        try:
            yield
        except BaseException as error:
            # If the connection is lost, `clean` drops the table.
            with contextlib.suppress(GoldsmithError):
                session.run(statements.drop(landing.staging))
            refused = isinstance(error, GoldsmithError) and not isinstance(error, Fenced)
            if refused and self._is_given_up(load):
                # The process that took over ended this session: the server is not unreachable.
                raise publish.LoadGivenUp(location=load.location, token=load.token) from error
            raise

    def _is_given_up(self, load: Load) -> bool:
        try:
            with self._session(load.location) as session:
                return publish.is_given_up(session, load)
        except GoldsmithError:
            # The server does not answer: report the first error.
            return False
