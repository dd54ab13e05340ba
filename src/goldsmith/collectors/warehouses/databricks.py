"""Databricks: Unity Catalog's system tables; sizes and times of DESCRIBE DETAIL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldsmith.collectors.collector import (
    Collector,
    ConnectionSetting,
    SqlTexts,
    WarehouseFunctions,
)


def connect(settings: Mapping[str, str]) -> Any:
    """Connect with databricks.sql."""
    from databricks import sql

    return sql.connect(
        server_hostname=settings["server_hostname"],
        http_path=settings["http_path"],
        access_token=settings["access_token"],
    )


def schemas(connection: Any) -> Iterator[dict[str, Any]]:
    """The schemas of all catalogs that the user may see."""
    cursor = connection.cursor()
    cursor.execute(
        "SELECT catalog_name, schema_name FROM system.information_schema.schemata "
        "WHERE catalog_name <> 'system' AND schema_name <> 'information_schema' "
        "ORDER BY catalog_name, schema_name"
    )
    for database, schema in cursor.fetchall():
        yield {"database": database, "schema": schema, "problem": None}


def tables(
    connection: Any, database: str, schema: str, only_volume: bool
) -> Iterator[dict[str, Any]]:
    """The tables of a schema with columns, tags, sizes and times."""

    def quoted(name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    cursor = connection.cursor()
    given = {"catalog": database, "schema": schema}
    within = "FROM system.information_schema.{} WHERE {} = :catalog AND {} = :schema"
    columns: dict[str, list[dict[str, Any]]] = {}
    tags: dict[str, list[dict[str, Any]]] = {}
    views: dict[str, str] = {}
    if not only_volume:
        cursor.execute(
            "SELECT table_name, column_name, full_data_type, comment "
            + within.format("columns", "table_catalog", "table_schema")
            + " ORDER BY table_name, ordinal_position",
            given,
        )
        while batch := cursor.fetchmany(2_000):
            for table, name, kind, comment in batch:
                columns.setdefault(table, []).append(
                    {"name": name, "type": kind, "description": comment}
                )
        cursor.execute(
            "SELECT table_name, tag_name, tag_value "
            + within.format("table_tags", "catalog_name", "schema_name"),
            given,
        )
        for table, key, value in cursor.fetchall():
            tags.setdefault(table, []).append({"key": key, "value": value})
        cursor.execute(
            "SELECT table_name, view_definition "
            + within.format("views", "table_catalog", "table_schema"),
            given,
        )
        views = dict(cursor.fetchall())
    cursor.execute(
        "SELECT table_name, table_type, comment, created, last_altered "
        + within.format("tables", "table_catalog", "table_schema")
        + " ORDER BY table_name",
        given,
    )
    for name, kind, comment, created, altered in cursor.fetchall():
        row = {
            "name": name,
            "kind": kind,
            "description": comment,
            "created_on": created,
            "updated": altered,
            "columns": columns.get(name, []),
            "tags": tags.get(name, []),
            "view_query": views.get(name),
        }
        if "VIEW" not in str(kind):
            try:
                cursor.execute(
                    f"DESCRIBE DETAIL {quoted(database)}.{quoted(schema)}.{quoted(name)}"
                )
                names = [column[0] for column in cursor.description]
                detail = dict(zip(names, cursor.fetchone() or (), strict=False))
                row["size"] = detail.get("sizeInBytes")
                row["rows"] = detail.get("numRows")
                row["updated"] = detail.get("lastModified") or altered
            except Exception as error:  # no right on the table, or not a Delta table
                yield {"name": name, "problem": f"no sizes: {str(error).splitlines()[0]}"}
        yield row


databricks = Collector(
    resource_type="databricks",
    log_type="databricks",
    dialect="databricks",
    extra="databricks",
    packages=("databricks-sql-connector",),
    settings=(
        ConnectionSetting(name="server_hostname", doc="The workspace's host.", required=True),
        ConnectionSetting(name="http_path", doc="The SQL warehouse's path.", required=True),
        ConnectionSetting(name="access_token", doc="A token.", required=True, secret=True),
    ),
    connect=connect,
    sql=SqlTexts(
        schemas="",
        tables="",
        columns="",
        marker="?",
        queries="""
SELECT statement_id AS query_id, statement_text AS text, start_time AS started,
    end_time AS ended, executed_by AS user, error_message AS error_text,
    produced_rows AS rows, session_id AS session,
    total_task_duration_ms AS x_total_task_duration_ms, read_rows AS x_read_rows,
    read_bytes AS x_read_bytes
FROM system.query.history
WHERE start_time >= {start} AND start_time < {end} AND execution_status <> 'RUNNING'
ORDER BY start_time LIMIT {limit}
""",
        edges="""
SELECT target_table_full_name AS to_table, source_table_full_name AS from_table,
    target_column_name AS to_column, source_column_name AS from_column
FROM system.access.column_lineage
WHERE event_time >= {start} AND event_time < {end}
    AND target_table_full_name IS NOT NULL AND source_table_full_name IS NOT NULL
UNION
SELECT target_table_full_name, source_table_full_name, NULL, NULL
FROM system.access.table_lineage
WHERE event_time >= {start} AND event_time < {end}
    AND target_table_full_name IS NOT NULL AND source_table_full_name IS NOT NULL
LIMIT {limit}
""",
    ),
    functions=WarehouseFunctions(schemas=schemas, tables=tables),
    lacks="No server of Databricks can be run for a test: the answers in our tests are recorded. "
    "Lineage is that of system.access alone.",
)
