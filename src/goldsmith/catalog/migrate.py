"""Migrate a catalog's tables to this Goldsmith's version, after a backup."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from goldsmith.catalog import database, defaults, triggers
from goldsmith.catalog.errors import CatalogTooNew
from goldsmith.catalog.version import VERSION as VERSION

#: An arbitrary number that no other advisory lock uses.
_LOCK = 7_061_973
#: How long and how often the migration waits for writers. Each wait is shorter than PostgreSQL's
#: deadlock timeout of a second, so a writer that holds one table and wants another is not killed.
_WAIT, _WAITS = "100ms", 300


def version(connection: sa.Connection) -> str | None:
    """The version of the catalog's tables; None if there are no tables."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if found is None else str(found)


def refuse_newer(found: str | None) -> None:
    if found is not None and found > VERSION:
        raise CatalogTooNew(found=found, known=VERSION)


def migrate(engine: sa.Engine, *, to: str = VERSION) -> str | None:
    """Create or migrate the tables in one transaction; returns where the backup is, if any."""
    with database.writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            # Two processes may find the same old catalog: the second waits and finds it migrated.
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
    """Copy the whole file; this transaction has the write lock, so nobody changes it meanwhile."""
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
    """Copy every table into a new schema of the same database: no other tool is needed."""
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
    """Lock out writers, but not readers, so that the copy is consistent."""
    for wait in range(_WAITS):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_WAIT}'")
                connection.exec_driver_sql(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
            break
        except sa.exc.OperationalError:
            if wait == _WAITS - 1:
                raise
    # Give up after 30 s: while this waits for a long read transaction, all other readers queue.
    connection.exec_driver_sql("SET LOCAL lock_timeout = '30s'")
