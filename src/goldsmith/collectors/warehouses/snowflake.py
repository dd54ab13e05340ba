"""Snowflake: the INFORMATION_SCHEMA of each database, and ACCOUNT_USAGE for history and tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.collectors.collector import Collector, ConnectionSetting, SqlTexts


def connect(settings: Mapping[str, str]) -> Any:
    """Connect with snowflake.connector."""
    import snowflake.connector

    names = ("account", "user", "password", "role", "warehouse", "host", "port", "protocol")
    given: dict[str, Any] = {name: settings[name] for name in names if name in settings}
    return snowflake.connector.connect(**given, login_timeout=30)


_TABLES = """
SELECT table_name AS name, table_type AS kind, comment AS description, row_count AS rows,
    bytes AS size, last_altered AS updated, created AS created_on
FROM {database}.information_schema.tables WHERE table_schema = {schema}
ORDER BY table_name
"""

snowflake = Collector(
    resource_type="snowflake",
    log_type="snowflake",
    dialect="snowflake",
    extra="snowflake",
    packages=("snowflake-connector-python",),
    settings=(
        ConnectionSetting(name="account", doc="The account.", required=True),
        ConnectionSetting(name="user", doc="The user.", required=True),
        ConnectionSetting(name="password", doc="Its password.", required=True, secret=True),
        ConnectionSetting(name="role", doc="The role."),
        ConnectionSetting(name="warehouse", doc="The warehouse that runs the queries."),
        ConnectionSetting(name="host", doc="The host, if it is not the account's."),
        ConnectionSetting(name="port", doc="The port, if it is not 443."),
        ConnectionSetting(name="protocol", doc="https or http."),
    ),
    connect=connect,
    sql=SqlTexts(
        databases="SHOW TERSE DATABASES",
        skipped_databases=("snowflake", "snowflake_sample_data"),
        schemas="""
SELECT catalog_name AS database, schema_name AS schema, NULL AS problem
FROM {database}.information_schema.schemata
WHERE UPPER(schema_name) <> 'INFORMATION_SCHEMA' ORDER BY schema_name
""",
        tables=_TABLES,
        columns="""
SELECT table_name AS name, column_name,
    CASE WHEN data_type = 'NUMBER'
            THEN data_type || '(' || numeric_precision || ',' || numeric_scale || ')'
        WHEN data_type = 'TEXT' AND character_maximum_length IS NOT NULL
            THEN 'VARCHAR(' || character_maximum_length || ')'
        ELSE data_type END AS column_type, comment AS column_description
FROM {database}.information_schema.columns WHERE table_schema = {schema}
ORDER BY table_name, ordinal_position
""",
        views="""
SELECT table_name AS name, view_definition AS view_query
FROM {database}.information_schema.views WHERE table_schema = {schema}
""",
        queries="""
SELECT query_id, query_text AS text, start_time AS started, end_time AS ended, user_name AS user,
    error_code, error_message AS error_text, rows_produced AS rows, database_name AS database,
    schema_name AS schema, session_id AS session, warehouse_name AS x_warehouse_name,
    bytes_scanned AS x_bytes_scanned
FROM snowflake.account_usage.query_history
WHERE start_time >= {start} AND start_time < {end}
ORDER BY start_time LIMIT {limit}
""",
    ),
    upper_case=True,
    lacks="ACCOUNT_USAGE is up to 45 minutes late: end the look-back an hour ago with --until. "
    "Tags are not read.",
)
