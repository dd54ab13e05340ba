"""Create the tables of a JDBC Iceberg catalog under a lock, before Spark sessions use it.

Iceberg creates these tables itself, but if two sessions or processes do so at once, one fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from goldsmith.errors import GoldsmithError
from goldsmith.settings.sections import LakeCatalog, sqlite_file
from goldsmith.storage.storage import Storage

#: Iceberg's own definitions, schema version V1.
_TABLES = (
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL,"
    " table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,"
    " metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),"
    " iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))",
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL,"
    " namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000),"
    " PRIMARY KEY (catalog_name, namespace, property_key))",
)
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('goldsmith: list of lake tables'))"
_THERE = "SELECT to_regclass(%s) IS NOT NULL"
_SCHEMA_THERE = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s"


@dataclass(eq=False, kw_only=True)
class LakeUnreachable(GoldsmithError):
    """The database of the Iceberg catalog does not answer, or refuses a statement."""

    transient = True
    exit_code = 1

    cause: str

    def __str__(self) -> str:
        return f"The list of lake tables cannot be reached: {self.cause}"

    @property
    def hint(self) -> str:
        return "`goldsmith config check` tries it. See the settings under [lake]."


def prepare(storage: Storage) -> None:
    """Create the catalog tables of a JDBC catalog if they do not exist."""
    lake = storage.settings.lake
    if lake.catalog is not LakeCatalog.JDBC:
        return
    file = sqlite_file(str(lake.uri))
    if file is None:
        _prepare_postgresql(storage)
    else:
        _prepare_sqlite(file)


def _prepare_sqlite(file: Path) -> None:
    import sqlite3

    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=15, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            connection.execute(table)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise LakeUnreachable(cause=f"{error} ({file})") from error
    finally:
        connection.close()


def _prepare_postgresql(storage: Storage) -> None:
    import psycopg
    from psycopg import sql

    name = storage.settings.lake.schema
    schema = sql.Identifier(name)
    listed = sql.Identifier(name, "iceberg_namespace_properties")
    url = storage.lake_url().set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with psycopg.connect(url) as connection:
            # If the tables exist, the user needs no right to create them.
            there = connection.execute(_THERE, [listed.as_string(connection)]).fetchone()
            if there is not None and there[0]:
                return
            connection.execute(_LOCK)
            if connection.execute(_SCHEMA_THERE, [name]).fetchone() is None:
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
            connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(schema))
            for table in _TABLES:
                connection.execute(sql.SQL(table))
    except psycopg.Error as error:
        raise LakeUnreachable(cause=str(error).strip().partition("\n")[0]) from error
