"""Any database with an information_schema that SQLAlchemy can open: tables, views and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    WarehouseFunctions,
)


def connect(settings: Mapping[str, str]) -> Any:
    """Connect with SQLAlchemy and the driver that the URL names."""
    import sqlalchemy

    url = sqlalchemy.make_url(settings["url"])
    if "password" in settings:
        url = url.set(password=settings["password"])
    engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
    return engine.connect().execution_options(stream_results=True)


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The schemas that have tables the user may see."""
    import sqlalchemy

    query = """
        SELECT DISTINCT table_catalog AS database_name, table_schema AS schema_name
        FROM information_schema.tables
        WHERE table_schema NOT IN ('information_schema', 'pg_catalog', 'sys', 'mysql',
            'performance_schema', 'INFORMATION_SCHEMA')
        ORDER BY schema_name
    """
    for row in connection.execute(sqlalchemy.text(query)).all():
        yield {"database": row.database_name, "schema": row.schema_name, "problem": None}


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The tables of a schema; an information_schema has no rows, sizes or times."""
    import sqlalchemy

    query = """
        SELECT t.table_name AS name, t.table_type AS kind, v.view_definition AS view_query,
            c.column_name AS column_name, c.data_type AS column_type,
            c.character_maximum_length AS characters, c.numeric_precision AS digits,
            c.numeric_scale AS decimals
        FROM information_schema.tables t
        LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema
            AND c.table_name = t.table_name AND c.table_catalog = t.table_catalog
        LEFT JOIN information_schema.views v ON v.table_schema = t.table_schema
            AND v.table_name = t.table_name AND v.table_catalog = t.table_catalog
        WHERE t.table_schema = :schema AND t.table_catalog = :database
        ORDER BY t.table_name, c.ordinal_position
    """
    found = connection.execute(
        sqlalchemy.text(query), {"schema": schema, "database": database}
    ).mappings()
    for name, group in groupby(found, key=lambda row: row["name"]):
        rows = list(group)
        columns = []
        for row in rows:
            kind = str(row["column_type"])
            if row["characters"] and "char" in kind.lower():
                kind = f"{kind}({row['characters']})"
            elif row["digits"] and kind.lower() in ("numeric", "decimal"):
                kind = f"{kind}({row['digits']},{row['decimals'] or 0})"
            if row["column_name"] is not None and not only_volume:
                columns.append({"name": row["column_name"], "type": kind, "description": None})
        about = {"name": name, "kind": rows[0]["kind"], "view_query": rows[0]["view_query"]}
        yield {**about, "columns": columns}


information_schema = Collector(
    resource_type="data-lake",
    packages=("sqlalchemy",),
    settings=(
        ConnectionSetting(
            name="url", doc="A URL of SQLAlchemy without the password.", required=True
        ),
        ConnectionSetting(name="password", doc="The password.", secret=True),
    ),
    connect=connect,
    functions=WarehouseFunctions(schemas=schemas, tables=tables),
    lacks="An information_schema has no rows, bytes, times, descriptions or history, and hides "
    "what the user may not see; lineage comes from views.",
)
