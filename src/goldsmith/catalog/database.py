"""Connections to the catalog's database, SQLite or PostgreSQL, shared by several processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import make_url

from goldsmith.catalog.columns import read_json, write_json
from goldsmith.catalog.errors import CatalogDamaged, CatalogUnreachable, is_damaged
from goldsmith.catalog.postgresql_url import libpq_url
from goldsmith.errors import BadRequest

#: How long a writer waits for another writer before it gives up.
BUSY_SECONDS = 60
#: Key in `connection.info`: the next transaction writes; the value is `lasts` of `writing`.
_LASTS = "lasts"


def connect(url: str) -> sa.Engine:
    """The engine of a URL: `sqlite:///file` or `postgresql://…`."""
    try:
        parsed = make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        # Not chained: the cause quotes the URL, which may contain a password.
        raise BadRequest(
            sentence="The catalog's address is not one SQLAlchemy can read.",
            advice="Write sqlite:///path/to/catalog.db or postgresql://user@host/database.",
        ) from None
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(parsed)
        case "postgresql":
            libpq_url(url)
            return sa.create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                pool_pre_ping=True,
                json_serializer=write_json,
                json_deserializer=read_json,
            )
        case other:
            raise BadRequest(
                sentence=f"A catalog cannot live in '{other}'.",
                advice="Use SQLite or PostgreSQL.",
            )


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url,
        connect_args={"timeout": BUSY_SECONDS},
        # The connection used last has its pages and statements cached.
        pool_use_lifo=True,
        # Each stage keeps one connection, and one more open file costs little.
        max_overflow=-1,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # The driver's own transaction handling begins too late for a consistent read.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        lasts = connection.info.pop(_LASTS, None)
        if lasts is None:
            _say(connection, "BEGIN")
            return
        # If a power cut lost a recorded intent but not the publish, the data would load twice.
        # Commits that do not last may be lost, but only together with all later ones: they are in
        # the same file, and the next commit that lasts syncs it.
        level = "FULL" if lasts else "NORMAL"
        if connection.info.get("synchronous") != level:
            _say(connection, f"PRAGMA synchronous = {level}")
            connection.info["synchronous"] = level
        # A transaction that reads first can fail when it starts to write: take the lock at once.
        _say(connection, "BEGIN IMMEDIATE")

    return engine


def _say(connection: sa.Connection, statement: str) -> None:
    """Execute on the driver directly: every transaction needs this, and SQLAlchemy is slower."""
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(statement)
    except driver.OperationalError as error:
        raise sa.exc.OperationalError(statement, None, error) from error


def glance(engine: sa.Engine, statement: str, given: Any = ()) -> list[tuple[Any, ...]]:
    """The rows of one statement without a transaction, for frequent short queries."""
    try:
        kept = _kept(engine)
        pooled = engine.raw_connection() if kept is None else kept.connection
        try:
            cursor = pooled.cursor()
            cursor.execute(statement, given)
            found = [tuple(row) for row in cursor.fetchall()]
        except Exception:
            (kept or pooled).invalidate()  # it may be the connection that is broken
            raise
        finally:
            if kept is None:
                pooled.close()
    except engine.dialect.loaded_dbapi.DatabaseError as error:
        if known := _known(engine, error):
            raise known from error
        raise
    return found


class _OfThread(threading.local):
    """The connection one thread keeps open."""

    kept: sa.Connection | None = None


_OF_THREAD = _OfThread()


@contextmanager
def keeping(engine: sa.Engine) -> Iterator[None]:
    """Within this context, this thread uses one connection for all reads and writes (SQLite only).

    Getting a connection from the pool takes longer than a short transaction. A PostgreSQL server
    may go away between two transactions; the pool checks for that.
    """
    if engine.dialect.name != "sqlite":
        yield
        return
    with engine.connect() as connection:
        _OF_THREAD.kept = connection
        try:
            yield
        finally:
            _OF_THREAD.kept = None


def _kept(engine: sa.Engine) -> sa.Connection | None:
    """The connection this thread keeps, if no transaction is open on it."""
    kept = _OF_THREAD.kept
    return None if kept is None or kept.engine is not engine or kept.in_transaction() else kept


@contextmanager
def _connected(engine: sa.Engine) -> Iterator[sa.Connection]:
    """The connection this thread keeps, or one from the pool."""
    kept = _kept(engine)
    try:
        if kept is not None:
            yield kept
        else:
            with engine.connect() as own:
                yield own
    except (sa.exc.DatabaseError, engine.dialect.loaded_dbapi.DatabaseError) as error:
        known = _known(engine, error.orig if isinstance(error, sa.exc.DatabaseError) else error)
        if known is None:
            raise
        if kept is not None:
            kept.invalidate()  # its next use reconnects
        raise known from error


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A read transaction: all its statements see the same state."""
    with _connected(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: sa.Engine, *, lasts: bool = True) -> Iterator[sa.Connection]:
    """One short write transaction.

    With `lasts` it survives a power cut once it is committed. Without, it survives a crash of this
    process; SQLite syncs it to disk with the next transaction that lasts.
    """
    with _connected(engine) as connection:
        # Passed in `info`, because setting execution options takes as long as all the rest.
        connection.info[_LASTS] = lasts
        with connection.begin():
            yield connection


def _known(
    engine: sa.Engine, error: BaseException | None
) -> CatalogUnreachable | CatalogDamaged | None:
    """The error of the catalog for an error of its driver; None if a statement is to blame."""
    url = engine.url.render_as_string(hide_password=False)
    if is_damaged(error):
        return CatalogDamaged.of(url, error)
    if isinstance(error, engine.dialect.loaded_dbapi.OperationalError):
        return CatalogUnreachable.of(url, error)
    return None
