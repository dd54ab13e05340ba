"""Redshift: SVV and SYS views of one database.

SVV_TABLE_INFO has the rows and leaves out empty tables; SYS_QUERY_TEXT has the whole text of a
query in pieces of 4,000 characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    SqlTexts,
    WarehouseFunctions,
)


def connect(settings: Mapping[str, str]) -> Any:
    """Connect with redshift_connector."""
    import redshift_connector

    connection = redshift_connector.connect(
        host=settings["host"],
        port=int(settings["port"]),
        database=settings["database"],
        user=settings["user"],
        password=settings["password"],
        ssl=settings["ssl"] == "true",
        timeout=30,
    )
    connection.autocommit = True
    return connection


def queries(
    connection: Any, start: datetime, end: datetime, limit: int
) -> Iterator[dict[str, Any]]:
    """The queries that started in a window: their texts are read for 200 at a time."""
    from datetime import UTC

    history = f"""
        SELECT h.query_id, h.start_time, h.end_time, h.status, h.error_message, h.returned_rows,
            h.database_name, h.session_id, h.elapsed_time, u.usename
        FROM sys_query_history h LEFT JOIN pg_user u ON u.usesysid = h.user_id
        WHERE h.start_time >= %s AND h.start_time < %s
            AND h.status IN ('success', 'failed', 'canceled')
        ORDER BY h.start_time, h.query_id LIMIT {int(limit)}
    """
    cursor, texts_cursor = connection.cursor(), connection.cursor()
    cursor.execute(
        history,
        (start.astimezone(UTC).replace(tzinfo=None), end.astimezone(UTC).replace(tzinfo=None)),
    )
    while batch := cursor.fetchmany(200):
        marks = ", ".join(["%s"] * len(batch))
        texts_cursor.execute(
            "SELECT query_id, text FROM sys_query_text "
            f"WHERE query_id IN ({marks}) ORDER BY query_id, sequence",
            tuple(row[0] for row in batch),
        )
        texts: dict[int, str] = {}
        for query_id, piece in texts_cursor.fetchall():
            texts[query_id] = texts.get(query_id, "") + piece
        for row in batch:
            failed = str(row[3]).strip() != "success"
            yield {
                "query_id": str(row[0]),
                "started": row[1],
                "ended": row[2],
                "text": texts.get(row[0], "").rstrip(),
                "error_text": (str(row[4] or row[3]).strip()) if failed else None,
                "rows": row[5],
                "database": str(row[6] or "").strip() or None,
                "schema": "public",
                "session": row[7],
                "user": None if row[9] is None else str(row[9]).strip(),
                "x_database_name": str(row[6] or "").strip() or None,
                "x_elapsed_time_us": row[8],
            }


redshift = Collector(
    resource_type="redshift",
    log_type="redshift",
    dialect="redshift",
    extra="aws",
    packages=("redshift-connector",),
    settings=(
        ConnectionSetting(name="host", doc="The endpoint.", required=True),
        ConnectionSetting(name="port", doc="Its port.", default="5439"),
        ConnectionSetting(name="database", doc="The database.", required=True),
        ConnectionSetting(name="user", doc="The user.", required=True),
        ConnectionSetting(name="password", doc="Its password.", required=True, secret=True),
        ConnectionSetting(name="ssl", doc="true or false.", default="true"),
    ),
    connect=connect,
    sql=SqlTexts(
        schemas="""
SELECT current_database() AS database, nspname AS schema,
    CASE WHEN has_schema_privilege(nspname, 'USAGE') THEN NULL
        ELSE 'permission denied: no USAGE on the schema' END AS problem
FROM pg_namespace
WHERE nspname NOT IN ('information_schema', 'catalog_history', 'redshift_system')
    AND nspname !~ '^pg_'
ORDER BY nspname
""",
        tables="""
SELECT table_name AS name, table_type AS kind, remarks AS description
FROM svv_tables WHERE table_catalog = current_database() AND table_schema = {schema}
ORDER BY table_name
""",
        columns="""
SELECT table_name AS name, column_name,
    CASE WHEN character_maximum_length IS NOT NULL
            THEN data_type || '(' || character_maximum_length || ')'
        WHEN data_type = 'numeric'
            THEN data_type || '(' || numeric_precision || ',' || numeric_scale || ')'
        ELSE data_type END AS column_type, remarks AS column_description
FROM svv_columns WHERE table_catalog = current_database() AND table_schema = {schema}
ORDER BY table_name, ordinal_position
""",
        volumes="""
SELECT "table" AS name, tbl_rows AS rows, size * 1048576 AS size
FROM svv_table_info WHERE "schema" = {schema}
""",
        views="""
SELECT viewname AS name, definition AS view_query FROM pg_views WHERE schemaname = {schema}
""",
    ),
    functions=WarehouseFunctions(queries=queries),
    lacks="It records no time of the last change: no freshness. Only a superuser sees the queries "
    "of others. One database is read at a time.",
)
