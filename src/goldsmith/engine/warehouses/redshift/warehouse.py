"""Redshift: Parquet in S3, a manifest, COPY into a staging table, then one transaction."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

from goldsmith.credentials import library
from goldsmith.engine.names import literal, names
from goldsmith.engine.warehouses.answers import LoadCancelled, failure
from goldsmith.engine.warehouses.landing import Landing, WarehouseTable
from goldsmith.engine.warehouses.redshift.dialect import REDSHIFT
from goldsmith.engine.warehouses.server import ServerSession, ServerWarehouse
from goldsmith.engine.warehouses.staged import Staged
from goldsmith.engine.warehouses.warehouse import (
    Load,
    LoadRefused,
    WarehouseBusy,
    WarehouseUnreachable,
)
from goldsmith.errors import GoldsmithError

_CONNECTS_WITHIN = 15.0
#: The leading underscore marks a file that is not data.
_MANIFEST = "_manifest.json"
_SHOWN_ERRORS = 20
#: Interval between two looks at a table that another session writes.
_LOOK_AGAIN_SECONDS = 0.25

#: Queries for the rows that COPY refused: every Redshift has the first view, clusters the second.
_LOAD_ERRORS = (
    "SELECT trim(file_name), line_number, trim(column_name), trim(error_message) "
    "FROM sys_load_error_detail WHERE session_id = %s ORDER BY start_time DESC LIMIT 20",
    "SELECT trim(filename), line_number, trim(colname), trim(err_reason) "
    "FROM stl_load_errors WHERE session = %s ORDER BY starttime DESC LIMIT 20",
)


class RedshiftSession:
    """One connection of redshift_connector."""

    dialect = REDSHIFT

    def __init__(self, connection: Any, *, where: str, location: str) -> None:
        connection.autocommit = True
        self.connection = connection
        self._where = where
        self._location = location
        self.run("SET timezone TO 'UTC'")
        self.session_id = int(self.run("SELECT pg_backend_pid()")[0][0])

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._translated_errors(), contextlib.closing(self.connection.cursor()) as cursor:
            cursor.execute(sql, list(values) or None)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self.connection.autocommit = False
        try:
            yield
            with self._translated_errors():
                self.connection.commit()
        except BaseException:
            with contextlib.suppress(GoldsmithError), self._translated_errors():
                self.connection.rollback()
            raise
        finally:
            self.connection.autocommit = True

    def close(self) -> None:
        with contextlib.suppress(GoldsmithError), self._translated_errors():
            self.connection.close()

    @contextlib.contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate errors of Redshift into Goldsmith errors."""
        redshift_connector = library("redshift_connector", extra="aws")
        try:
            yield
        except (redshift_connector.Error, OSError) as error:
            state, message = _read(error)
            raise failure(state, message, where=self._where, location=self._location) from error


class RedshiftWarehouse(ServerWarehouse):
    """An Amazon Redshift cluster or workgroup."""

    dialect = REDSHIFT

    def _cancel(self, session_id: int) -> None:
        # The driver cannot cancel a statement, so another session does.
        with self._session("") as session:
            session.run(f"CANCEL {int(session_id)}")

    def _open(self, location: str) -> RedshiftSession:
        redshift_connector = library("redshift_connector", extra="aws")
        settings = self.settings
        try:
            # The driver's timeout would apply to every statement too.
            address = (settings.host, settings.port)
            socket.create_connection(address, timeout=_CONNECTS_WITHIN).close()
            connection = redshift_connector.connect(
                host=settings.host,
                port=settings.port,
                database=settings.database,
                user=settings.user,
                password=self.storage.secret(settings.password) or "",
                ssl=settings.ssl is not False,
                application_name="goldsmith",
                tcp_keepalive=True,
            )
        except (redshift_connector.Error, OSError) as error:
            raise WarehouseUnreachable(where=self.where, cause=_read(error)[1]) from error
        return RedshiftSession(connection, where=self.where, location=location)

    def _hold(self, session: ServerSession, table: WarehouseTable) -> None:
        # Redshift has no lock_timeout, and a general statement_timeout would end long loads.
        seconds = self.settings.lock_sec
        session.run(f"SET statement_timeout TO {max(1, seconds * 1000)}")
        began = time.monotonic()
        try:
            session.run(f"LOCK {table.sql}")
        except LoadCancelled as error:
            if time.monotonic() - began < seconds:
                raise  # it was cancelled before the timeout
            raise self._locked(table) from error
        session.run("RESET statement_timeout")

    def _wait_for_writers(self, session: ServerSession, table: WarehouseTable) -> None:
        until = time.monotonic() + self.settings.lock_sec
        while self._holders(session, table, " AND granted AND lock_mode <> 'AccessShareLock'"):
            if time.monotonic() >= until:
                raise self._locked(table)
            if self._cancelled.wait(_LOOK_AGAIN_SECONDS):
                raise LoadCancelled(location=table.sql, cause="it waited for others who write")

    def _locked(self, table: WarehouseTable) -> WarehouseBusy:
        cause = f"lock timeout: {table.sql} is locked for more than {self.settings.lock_sec} s"
        return WarehouseBusy(where=self.where, cause=cause)

    @property
    def _locks(self) -> str:
        return "svv_transactions"

    def _copy(self, session: ServerSession, load: Load, landing: Landing) -> None:
        self._check_order(load)
        manifest = self._write_manifest(load)
        if manifest is None:
            return
        nested = any(column.staged_type == "super" for column in landing.staged)
        sql = (
            f"COPY {landing.staging.sql} FROM {self._literal(manifest)} {self._role} "
            f"FORMAT AS PARQUET MANIFEST{' SERIALIZETOJSON' if nested else ''}"
        )
        try:
            session.run(sql)
        except LoadRefused as error:
            rows = self._load_errors(session)
            raise LoadRefused(location=load.location, cause=error.cause, rows=rows) from error

    def _check_order(self, load: Load) -> None:
        """Raise if the staged columns have another order: COPY matches by position, not by name."""
        found = Staged(self.storage, load.staged).schema()
        wanted = [column.name for column in load.columns]
        if found is not None and found.names != wanted:
            cause = f"the staged files have the columns {', '.join(found.names)}"
            raise LoadRefused(location=load.location, cause=cause)

    def _write_manifest(self, load: Load) -> str | None:
        """Write the manifest of the staged files for COPY; None if there are no files."""
        bucket, _, prefix = load.staged.removeprefix("s3://").partition("/")
        client, entries = self.storage.s3(), []
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
        for item in (item for page in pages for item in page.get("Contents", ())):
            file = item["Key"].rpartition("/")[2]
            # An empty file name is the marker object of a folder.
            if not file or file.startswith(("_", ".")):
                continue
            if load.files is not None and f"s3://{bucket}/{item['Key']}" not in load.files:
                continue
            # COPY refuses a columnar file without its length.
            length = {"content_length": item["Size"]}
            url = f"s3://{bucket}/{item['Key']}"
            entries.append({"url": url, "mandatory": True, "meta": length})
        if not entries:
            return None
        key = f"{prefix}/{_MANIFEST}"
        client.put_object(Bucket=bucket, Key=key, Body=json.dumps({"entries": entries}).encode())
        return f"s3://{bucket}/{key}"

    def _load_errors(self, session: ServerSession) -> tuple[str, ...]:
        """The rows that COPY refused, with its reasons."""
        for errors_query in _LOAD_ERRORS:
            # A user may be able to read only one view; failing here must not hide the COPY error.
            with contextlib.suppress(GoldsmithError):
                found = session.run(errors_query, session.session_id)
                if found:
                    return tuple(
                        f"{file} row {line}, column {column}: {reason}"
                        for file, line, column, reason in found[:_SHOWN_ERRORS]
                    )
        return ()

    def _unload(
        self,
        session: ServerSession,
        table: WarehouseTable,
        table_columns: Mapping[str, str],
        folder: str,
    ) -> None:
        query = f"SELECT {names(table_columns, dialect=self.dialect.name)} FROM {table.sql}"
        # CLEANPATH: files of an earlier attempt would be read as rows of this one.
        session.run(
            f"UNLOAD ({self._literal(query)}) TO {self._literal(folder.rstrip('/') + '/')} "
            f"{self._role} FORMAT AS PARQUET CLEANPATH"
        )

    @property
    def _role(self) -> str:
        role = self.settings.iam_role
        return "IAM_ROLE default" if role is None else f"IAM_ROLE {self._literal(role)}"

    def _literal(self, value: str) -> str:
        return literal(value, self.dialect.name)


def _read(error: Exception) -> tuple[str | None, str]:
    """The SQLSTATE and message of a driver's error; without a state the server is unreachable."""
    details = error.args[0] if error.args else None
    if not isinstance(details, dict):
        return None, " ".join(str(part) for part in error.args) or type(error).__name__
    message = ". ".join(str(details[field]).strip() for field in ("M", "D") if details.get(field))
    return details.get("C"), message
