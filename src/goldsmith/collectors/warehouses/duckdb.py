"""DuckDB: a file that is opened read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.collectors.collector import Collector, ConnectionSetting, SqlTexts


def connect(settings: Mapping[str, str]) -> Any:
    """Open the file with duckdb."""
    import duckdb

    return duckdb.connect(settings["path"], read_only=True)


_TABLES = """
SELECT t.table_name AS name, 'TABLE' AS kind, t.comment AS description,
    t.estimated_size AS rows, NULL AS size, NULL AS updated, NULL AS view_query
FROM duckdb_tables() t
WHERE t.database_name = current_database() AND t.schema_name = {schema} AND NOT t.internal
UNION ALL
SELECT v.view_name, 'VIEW', v.comment, NULL, NULL, NULL, v.sql
FROM duckdb_views() v
WHERE v.database_name = current_database() AND v.schema_name = {schema} AND NOT v.internal
ORDER BY name
"""

duckdb = Collector(
    resource_type="data-lake",
    dialect="duckdb",
    packages=("duckdb",),
    settings=(ConnectionSetting(name="path", doc="The file.", required=True),),
    connect=connect,
    sql=SqlTexts(
        schemas="""
SELECT database_name AS database, schema_name AS schema, NULL AS problem
FROM duckdb_schemas() WHERE database_name = current_database() AND NOT internal
UNION
SELECT current_database(), 'main', NULL
ORDER BY schema
""",
        tables=_TABLES,
        columns="""
SELECT c.table_name AS name, c.column_name, c.data_type AS column_type,
    c.comment AS column_description
FROM duckdb_columns() c
WHERE c.database_name = current_database() AND c.schema_name = {schema} AND NOT c.internal
ORDER BY c.table_name, c.column_index
""",
        marker="?",
    ),
    lacks="It records no sizes, no time of the last change and no query history: no bytes, no "
    "freshness, no query logs; lineage comes from views.",
)
