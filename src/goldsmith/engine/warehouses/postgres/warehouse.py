"""PostgreSQL: COPY into a staging table by psycopg 3, then one transaction."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goldsmith.credentials import library
from goldsmith.engine.names import name, names
from goldsmith.engine.warehouses.answers import failure
from goldsmith.engine.warehouses.landing import Landing, WarehouseTable
from goldsmith.engine.warehouses.parquet import write
from goldsmith.engine.warehouses.postgres.dialect import POSTGRES
from goldsmith.engine.warehouses.server import ServerSession, ServerWarehouse
from goldsmith.engine.warehouses.staged import Staged
from goldsmith.engine.warehouses.warehouse import Load, WarehouseUnreachable

_CONNECTS_WITHIN = 15
_UNLOAD_ROWS = 10_000


class PostgresSession:
    """One connection of psycopg."""

    dialect = POSTGRES

    def __init__(self, connection: Any, *, where: str, location: str) -> None:
        self.connection = connection
        self.session_id: int = connection.info.backend_pid
        self._where = where
        self._location = location

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self.translated_errors():
            # With None psycopg leaves a % in a name alone.
            cursor = self.connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with self.translated_errors(), self.connection.transaction():
            yield

    def close(self) -> None:
        self.connection.close()

    @contextlib.contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Translate errors of psycopg into Goldsmith errors."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            diagnosis = error.diag
            message = ". ".join(
                part
                for part in (diagnosis.message_primary or str(error), diagnosis.message_detail)
                if part
            )
            rows = (diagnosis.context,) if diagnosis.context else ()
            # psycopg refuses some values itself, without a SQLSTATE.
            ours = "22000" if isinstance(error, psycopg.DataError) else None
            raise failure(
                error.sqlstate or ours,
                message,
                where=self._where,
                location=self._location,
                rows=rows,
            ) from error


class PostgresWarehouse(ServerWarehouse):
    """A PostgreSQL database as a warehouse."""

    dialect = POSTGRES

    def _cancel(self, session_id: int) -> None:
        with self._session("") as session:
            session.run("SELECT pg_cancel_backend(%s)", session_id)

    def _open(self, location: str) -> PostgresSession:
        psycopg = library("psycopg", extra="postgres")
        settings = self.settings
        more = {} if settings.ssl is None else {"sslmode": "require" if settings.ssl else "disable"}
        # At least 1 ms: for PostgreSQL 0 means no limit.
        waits = f"-c lock_timeout={max(1, settings.lock_sec * 1000)}"
        try:
            connection = psycopg.connect(
                host=settings.host,
                port=settings.port,
                dbname=settings.database,
                user=settings.user,
                password=self.storage.secret(settings.password),
                connect_timeout=_CONNECTS_WITHIN,
                application_name="goldsmith",
                options=f"-c timezone=UTC -c client_min_messages=warning {waits}",
                autocommit=True,
                **more,
            )
        except psycopg.OperationalError as error:
            cause = str(error).strip().splitlines()[0]
            raise WarehouseUnreachable(where=self.where, cause=cause) from error
        return PostgresSession(connection, where=self.where, location=location)

    def _hold(self, session: ServerSession, table: WarehouseTable) -> None:
        # EXCLUSIVE blocks other writers, not readers.
        session.run(f"LOCK TABLE {table.sql} IN EXCLUSIVE MODE")

    @property
    def _locks(self) -> str:
        return "pg_catalog.pg_locks"

    def _copy(self, session: ServerSession, load: Load, landing: Landing) -> None:
        assert isinstance(session, PostgresSession)
        staged = Staged(self.storage, load.staged, load.files)
        columns = names([c.name for c in landing.staged], dialect=self.dialect.name)
        sql = f"COPY {landing.staging.sql} ({columns}) FROM STDIN (FORMAT csv)"
        with session.translated_errors(), session.connection.cursor().copy(sql) as copy:
            for batch in staged.batches(load.columns):
                copy.write(_csv(batch))

    def _unload(
        self,
        session: ServerSession,
        table: WarehouseTable,
        table_columns: Mapping[str, str],
        folder: str,
    ) -> None:
        import pyarrow as pa

        assert isinstance(session, PostgresSession)
        known = {column: _arrow_type(type_) for column, type_ in table_columns.items()}
        schema = pa.schema([(column, type_ or pa.string()) for column, type_ in known.items()])
        selection = ", ".join(
            # Types without a Parquet type are written as text.
            name(column, dialect=self.dialect.name) + ("" if type_ is not None else "::text")
            for column, type_ in known.items()
        )
        # A named cursor stays on the server: the table need not fit into memory.
        with (
            session.translated_errors(),
            session.connection.transaction(),
            session.connection.cursor(name="goldsmith_unload") as cursor,
        ):
            cursor.execute(f"SELECT {selection} FROM {table.sql}")
            write(self.storage, folder, schema, _batches(cursor, schema))


def _csv(batch: Any) -> bytes:
    """A batch as CSV for COPY: quoted fields are values, empty fields are NULL."""
    import pyarrow as pa
    from pyarrow import csv

    arrays = [
        _hex(column) if pa.types.is_binary(column.type) else column for column in batch.columns
    ]
    # The names are not written.
    plain = pa.RecordBatch.from_arrays(arrays, names=[str(n) for n in range(len(arrays))])
    options = csv.WriteOptions(include_header=False, quoting_style="all_valid")
    written = io.BytesIO()
    csv.write_csv(plain, written, options)
    return written.getvalue()


def _hex(column: Any) -> Any:
    import pyarrow as pa

    return pa.array([None if v is None else f"\\x{v.hex()}" for v in column.to_pylist()])


def _batches(cursor: Any, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    while rows := cursor.fetchmany(_UNLOAD_ROWS):
        columns: Sequence[tuple[Any, ...]] = list(zip(*rows, strict=True))
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _arrow_type(type_: str) -> Any | None:
    import pyarrow as pa

    if type_.startswith("numeric("):
        precision, _, scale = type_.removeprefix("numeric(").rstrip(")").partition(",")
        return pa.decimal128(int(precision), int(scale or 0)) if int(precision) <= 38 else None
    return {
        "boolean": pa.bool_(),
        "smallint": pa.int16(),
        "integer": pa.int32(),
        "bigint": pa.int64(),
        "real": pa.float32(),
        "double precision": pa.float64(),
        "bytea": pa.binary(),
        "date": pa.date32(),
        "timestamp with time zone": pa.timestamp("us", "UTC"),
        "timestamp without time zone": pa.timestamp("us"),
        "text": pa.string(),
    }.get(type_)
