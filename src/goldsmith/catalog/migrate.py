"""Bring a catalog's tables to the version this Goldsmith knows, after a backup."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from goldsmith.catalog import database, defaults, triggers
from goldsmith.catalog.errors import CatalogTooNew
from goldsmith.catalog.version import VERSION as VERSION

#: Any number that nothing else locks on.
_LOCK = 7_061_973
#: How long we wait for writers, and how often: each wait is so short that somebody who holds one
#: table and wants another never deadlocks with us (a server looks for deadlocks after a second).
_WAIT, _WAITS = "100ms", 300


def version(connection: sa.Connection) -> str | None:
    """The version of the tables there are; None where there are none."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if found is None else str(found)


def refuse_newer(found: str | None) -> None:
    if found is not None and found > VERSION:
        raise CatalogTooNew(found=found, known=VERSION)


def migrate(engine: sa.Engine, *, to: str = VERSION) -> str | None:
    """Make or migrate the tables in one transaction; where the backup lies, if one was needed."""
    with database.writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            # Two processes may find the same old catalog: the second finds it done.
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        found = version(connection)
        refuse_newer(found)
        if found == to:
            return None
        backup = None if found is None else _back_up(connection, found)
        _upgrade(connection, to)
        triggers.install(connection)
        defaults.insert_missing(connection)
    return backup


def _upgrade(connection: sa.Connection, to: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def _back_up(connection: sa.Connection, found: str) -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%d_%H%M%S_%f")
    name = f"backup_{found}_{stamp}"
    if connection.dialect.name == "sqlite":
        return _copy_file(connection, name)
    return _copy_schema(connection, name)


def _copy_file(connection: sa.Connection, name: str) -> str:
    """A copy of the whole file; we hold the write lock, so it is the state before us."""
    file = Path(str(connection.engine.url.database))
    copy = file.with_name(f"{file.name}.{name}")
    source = sqlite3.connect(file)
    target = sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()
    return str(copy)


def _copy_schema(connection: sa.Connection, name: str) -> str:
    """A copy of every table in a schema of its own: no tool beside the server is needed."""
    quote = connection.dialect.identifier_preparer.quote
    tables = sa.inspect(connection).get_table_names()
    _hold_writers(connection, ", ".join(quote(table) for table in tables))
    connection.exec_driver_sql(f"CREATE SCHEMA {quote(name)}")
    for table in tables:
        connection.exec_driver_sql(
            f"CREATE TABLE {quote(name)}.{quote(table)} AS TABLE {quote(table)}"
        )
    return f"schema {name}"


def _hold_writers(connection: sa.Connection, tables: str) -> None:
    """Let nobody write until we are done, so that the copy is of one moment; readers go on."""
    for wait in range(_WAITS):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_WAIT}'")
                connection.exec_driver_sql(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
            break
        except sa.exc.OperationalError:
            if wait == _WAITS - 1:
                raise
    # A reader's long transaction must not queue every other reader behind us.
    connection.exec_driver_sql("SET LOCAL lock_timeout = '30s'")
