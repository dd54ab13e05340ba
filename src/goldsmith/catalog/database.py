"""One engine for the catalog's database, SQLite or PostgreSQL, safe under several processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import make_url

from goldsmith.catalog.columns import read_json, write_json
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.errors import BadRequest

#: How long a writer waits for another writer before it gives up.
BUSY_SECONDS = 60
#: Of a connection: the next transaction writes, and whether it lasts.
_LASTS = "lasts"


def connect(url: str) -> sa.Engine:
    """An engine for a URL as people write it: `sqlite:///file` or `postgresql://…`."""
    try:
        parsed = make_url(url)
    except sa.exc.ArgumentError as error:
        raise BadRequest(
            sentence="The catalog's address is not one SQLAlchemy can read.",
            advice="Write sqlite:///path/to/catalog.db or postgresql://user@host/database.",
        ) from error
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(parsed)
        case "postgresql":
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
        # The connection that was used last has its pages and statements at hand.
        pool_use_lifo=True,
        # Each stage keeps one, and another file is no burden to anybody.
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
        # An intent lost to power, with the publish kept, would load twice. News may be lost, and
        # never alone: they are in the same file, and the next commit that lasts syncs it.
        level = "FULL" if lasts else "NORMAL"
        if connection.info.get("synchronous") != level:
            _say(connection, f"PRAGMA synchronous = {level}")
            connection.info["synchronous"] = level
        # A writer that begins as a reader can be refused half-way: it takes the lock first.
        _say(connection, "BEGIN IMMEDIATE")

    return engine


def _say(connection: sa.Connection, statement: str) -> None:
    """Straight to the driver: every transaction says this, and SQLAlchemy is slow to pass it on."""
    driver: Any = connection.connection.driver_connection
    try:
        driver.execute(statement)
    except driver.OperationalError as error:
        raise sa.exc.OperationalError(statement, None, error) from error


def glance(engine: sa.Engine, statement: str, given: Any = ()) -> list[tuple[Any, ...]]:
    """What one statement finds, with no transaction around it: for what is asked often."""
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
    except engine.dialect.loaded_dbapi.OperationalError as error:
        raise _unreachable(engine, error) from error
    return found


class _OfThread(threading.local):
    """What one thread has open."""

    kept: sa.Connection | None = None


_OF_THREAD = _OfThread()


@contextmanager
def keeping(engine: sa.Engine) -> Iterator[None]:
    """While inside, all that this thread asks and writes goes through one connection.

    It takes longer to get a connection than to carry a short transaction out. Not so to a
    server: it may be gone between two of them, and the pool looks for that.
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
    """The connection this thread keeps, where no transaction is under way on it."""
    kept = _OF_THREAD.kept
    return None if kept is None or kept.engine is not engine or kept.in_transaction() else kept


@contextmanager
def _connected(engine: sa.Engine) -> Iterator[sa.Connection]:
    """The connection this thread keeps, or another one."""
    kept = _kept(engine)
    try:
        if kept is not None:
            yield kept
        else:
            with engine.connect() as own:
                yield own
    except sa.exc.OperationalError as error:
        if kept is not None:
            kept.invalidate()  # the next one is opened anew
        raise _unreachable(engine, error.orig) from error


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """One consistent view of everything, however many statements it takes."""
    with _connected(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: sa.Engine, *, lasts: bool = True) -> Iterator[sa.Connection]:
    """One short transaction that changes rows, all or nothing.

    One that `lasts` survives a power cut as soon as it has ended. Another survives the end of
    this process, however sudden; SQLite brings it to the disk with the next one that lasts.
    """
    with _connected(engine) as connection:
        # For the transaction that begins now: execution options take as long as all the rest.
        connection.info[_LASTS] = lasts
        with connection.begin():
            yield connection


def _unreachable(engine: sa.Engine, cause: object) -> CatalogUnreachable:
    url = engine.url.render_as_string(hide_password=True)
    return CatalogUnreachable(url=url, cause=str(cause).strip())
