"""The embedded warehouse: one DuckDB file, opened for one call at a time.

While one process writes, DuckDB lets no other open the file. So the file is closed after each
call, and a call that finds it open elsewhere waits.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from goldsmith import logs
from goldsmith.engine.names import names
from goldsmith.engine.warehouses import publish, statements
from goldsmith.engine.warehouses.answers import LoadCancelled
from goldsmith.engine.warehouses.duckdb.dialect import DUCKDB, DUCKDB_STAGED
from goldsmith.engine.warehouses.landing import Landing, WarehouseTable
from goldsmith.engine.warehouses.parquet import write
from goldsmith.engine.warehouses.staged import Staged
from goldsmith.engine.warehouses.warehouse import (
    Load,
    Loaded,
    LoadRefused,
    WarehouseBusy,
    WarehouseUnreachable,
)
from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import WarehouseSettings
from goldsmith.storage.storage import Storage

_POLL_SECONDS = 0.2
_STAGED = "goldsmith_staged"
_UNLOAD_ROWS = 65_536

_logger = logging.getLogger(__name__)
#: Stages of one process take turns: DuckDB cannot open a file read-only and for writing at once.
_turns: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


class EmbeddedSession:
    """One connection to the DuckDB file."""

    dialect = DUCKDB

    def __init__(self, connection: Any, *, where: str, location: str) -> None:
        self.connection = connection
        self._where = where
        self._location = location

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self.translated_errors():
            done = self.connection.execute(sql, list(values))
            return done.fetchall() if done.description else []

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run all statements inside or none."""
        self.run("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            # Closing the connection would roll back too, but only after other code has run.
            with contextlib.suppress(GoldsmithError):
                self.run("ROLLBACK")
            raise
        self.run("COMMIT")

    @contextlib.contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Translate errors of DuckDB into Goldsmith errors."""
        import duckdb

        try:
            yield
        except duckdb.InterruptException as error:
            raise LoadCancelled(location=self._location, cause=str(error)) from error
        except (duckdb.TransactionException, duckdb.IOException) as error:
            raise WarehouseBusy(where=self._where, cause=str(error)) from error
        except duckdb.Error as error:
            raise LoadRefused(location=self._location, cause=str(error)) from error


class EmbeddedWarehouse:
    """A DuckDB file as a warehouse."""

    dialect = DUCKDB

    def __init__(
        self, storage: Storage, settings: WarehouseSettings, *, wait_seconds: float = 60.0
    ) -> None:
        self.storage = storage
        self.file = settings.path
        self.where = f"{self.dialect.name} {self.file}"
        self._wait_seconds = wait_seconds
        #: The connections of running calls, for `cancel`.
        self._busy: list[Any] = []
        self._waiting = 0
        self._cancelled = threading.Event()

    def columns(self, location: str) -> Mapping[str, str] | None:
        if not self.file.exists():
            return None
        with self._session(location, read_only=True) as session:
            return publish.columns(session, WarehouseTable.at(location, self.dialect))

    def loaded(self, location: str, stage_run_id: str) -> Loaded | None:
        if not self.file.exists():
            return None
        with self._session(location, read_only=True) as session:
            return publish.loaded(session, location, stage_run_id)

    def load(self, load: Load, reach: Callable[[str], None]) -> Loaded:
        with self._session(load.location) as session:
            done = publish.loaded(session, load.location, load.stage_run_id)
        if done is not None:
            return done
        if load.groups is not None:
            self._fill(load, reach)
        with self._session(load.location) as session:
            with session.transaction():
                publish.make_ledger(session)
                landing = self._landing(session, load)
                if load.groups is None:
                    session.run(statements.create_staging(landing))
                    reach("staging-table-made")
                    self._copy(session, load, landing)
                publish.check_count(session, load, landing)
                reach("warehouse-copied")
                loaded = publish.publish(session, load, landing, reach)
                if load.groups is not None:
                    session.run(statements.drop(landing.staging))
            reach("warehouse-committed")
        # A temporary staging table went with the closed session.
        reach("staging-removed")
        return loaded

    def _fill(self, load: Load, reach: Callable[[str], None]) -> None:
        """Fill the staging table in micro-batches; the file is closed between them."""
        with self._session(load.location) as session, session.transaction():
            publish.make_ledger(session)
            landing = self._landing(session, load)
            session.run(statements.drop(landing.staging))
            session.run(statements.create_staging(landing))
        reach("staging-table-made")
        for part in load.micro_batches():
            with self._session(load.location) as session, session.transaction():
                self._copy(session, part, landing)

    def _landing(self, session: EmbeddedSession, load: Load) -> Landing:
        dialect = self.dialect if load.groups is None else DUCKDB_STAGED
        table_columns = publish.columns(session, WarehouseTable.at(load.location, dialect))
        return Landing.of(load, dialect, table_columns)

    def _copy(self, session: EmbeddedSession, load: Load, landing: Landing) -> None:
        import pyarrow as pa

        columns = names([c.name for c in landing.staged], dialect=self.dialect.name)
        sql = f"INSERT INTO {landing.staging.sql} ({columns}) SELECT * FROM {_STAGED}"
        for batch in Staged(self.storage, load.staged, load.files).batches(load.columns):
            session.connection.register(_STAGED, pa.Table.from_batches([batch]))
            session.run(sql)
            session.connection.unregister(_STAGED)

    def clean(self, location: str, stage_run_id: str) -> None:
        with self._session(location) as session, session.transaction():
            publish.make_ledger(session)
            session.run(statements.drop(WarehouseTable.staging(stage_run_id, DUCKDB_STAGED)))
            publish.give_up(session, location, stage_run_id)

    def unload(self, location: str, folder: str) -> None:
        table = WarehouseTable.at(location, self.dialect)
        if self.columns(location) is None:
            raise publish.TableMissing(location=location, where=self.where)
        with self._session(location, read_only=True) as session, session.translated_errors():
            rows = session.connection.sql(f"SELECT * FROM {table.sql}")
            reader = rows.to_arrow_reader(_UNLOAD_ROWS)
            write(self.storage, folder, reader.schema, reader)

    def move(self, old: str, new: str) -> None:
        with self._session(old) as session, session.transaction():
            publish.move(session, old, new)

    def cancel(self) -> bool:
        if self._waiting:
            self._cancelled.set()
        busy = tuple(self._busy)
        for connection in busy:
            connection.interrupt()
        return bool(busy) or self._waiting > 0

    def maintain(self, location: str) -> list[str]:
        if not self.file.exists():
            return []
        with self._session(location) as session:
            return publish.vacuum(session, location)

    def close(self) -> None:
        """Do nothing: no connection stays open."""

    @contextlib.contextmanager
    def _session(self, location: str, *, read_only: bool = False) -> Iterator[EmbeddedSession]:
        turn = _turns[self.file.absolute()]
        with self._wait():
            while not turn.acquire(timeout=_POLL_SECONDS):
                self._refuse_cancelled(location)
        try:
            with self._wait():
                connection = self._connect(location, read_only=read_only)
            self._busy.append(connection)
            try:
                session = EmbeddedSession(connection, where=self.where, location=location)
                session.run("SET TimeZone = 'UTC'")
                yield session
            finally:
                self._busy.remove(connection)
                connection.close()
        finally:
            turn.release()

    @contextlib.contextmanager
    def _wait(self) -> Iterator[None]:
        """Count a wait for the file, which `cancel` can end."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            self._cancelled.clear()

    def _refuse_cancelled(self, location: str) -> None:
        if self._cancelled.is_set():
            raise LoadCancelled(location=location, cause="it waited for the file")

    def _connect(self, location: str, *, read_only: bool) -> Any:
        import duckdb

        until = time.monotonic() + self._wait_seconds
        waited = False
        while True:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                return duckdb.connect(str(self.file), read_only=read_only)
            except (duckdb.Error, OSError) as error:
                cause = str(error).strip().splitlines()[0]
                if "lock" not in cause:
                    raise WarehouseUnreachable(where=self.where, cause=cause) from error
                if time.monotonic() >= until:
                    raise WarehouseBusy(where=self.where, cause=cause) from error
            if not waited:
                waited = True
                says = f"Waiting for {self.file}, which another process has open"
                logs.line(_logger, logging.WARNING, says, seconds=self._wait_seconds)
            self._cancelled.wait(_POLL_SECONDS)
            self._refuse_cancelled(location)
