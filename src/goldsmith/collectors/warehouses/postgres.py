"""PostgreSQL: everything from its system catalog; rows are the estimate of the last ANALYZE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.collectors.collector import Collector, ConnectionSetting, SqlTexts


def connect(settings: Mapping[str, str]) -> Any:
    """Connect with psycopg."""
    import psycopg

    return psycopg.connect(
        host=settings["host"],
        port=int(settings["port"]),
        dbname=settings["database"],
        user=settings["user"],
        password=settings.get("password"),
        sslmode=settings["sslmode"],
        connect_timeout=15,
    )


_SCHEMAS = """
SELECT current_database() AS database, nspname AS schema,
    CASE WHEN has_schema_privilege(oid, 'USAGE') THEN NULL
        ELSE 'permission denied: no USAGE on the schema' END AS problem
FROM pg_catalog.pg_namespace
WHERE nspname <> 'information_schema' AND nspname !~ '^pg_'
ORDER BY nspname
"""
_ABOUT = """
    SELECT c.oid, c.relname AS name,
        CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END
            AS kind,
        obj_description(c.oid, 'pg_class') AS description,
        CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END AS view_query,
        -- 0 means unknown before PostgreSQL 14, unless the table has no pages.
        CASE WHEN c.relkind IN ('r', 'm', 'p') AND c.reltuples > 0
                OR c.relkind IN ('r', 'm') AND pg_relation_size(c.oid) = 0
            THEN greatest(c.reltuples, 0)::bigint END AS rows,
        CASE WHEN c.relkind IN ('r', 'm') THEN pg_total_relation_size(c.oid) END AS size,
        NULL AS updated
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""

postgres = Collector(
    resource_type="data-lake",
    dialect="postgres",
    extra="postgres",
    packages=("psycopg[binary]",),
    settings=(
        ConnectionSetting(name="host", doc="The server.", default="localhost"),
        ConnectionSetting(name="port", doc="Its port.", default="5432"),
        ConnectionSetting(name="database", doc="The database.", required=True),
        ConnectionSetting(name="user", doc="The user.", required=True),
        ConnectionSetting(name="password", doc="Its password.", secret=True),
        ConnectionSetting(name="sslmode", doc="As libpq takes it.", default="prefer"),
    ),
    connect=connect,
    sql=SqlTexts(
        schemas=_SCHEMAS,
        tables=_ABOUT + "ORDER BY name",
        columns=f"""
WITH about AS MATERIALIZED ({_ABOUT})
SELECT about.*, a.attname AS column_name, format_type(a.atttypid, a.atttypmod) AS column_type,
    col_description(about.oid, a.attnum) AS column_description
FROM about LEFT JOIN pg_catalog.pg_attribute a
    ON a.attrelid = about.oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY about.name, a.attnum
""",
    ),
    lacks="It records no time of the last change and no query history: no freshness, no query "
    "logs; lineage comes from views.",
)
