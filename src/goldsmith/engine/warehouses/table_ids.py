"""Ids of warehouse tables: a table that is dropped and created again has another id.

PostgreSQL and Redshift have oids. DuckDB reuses the number of a dropped table, so the id is
stored in the table's comment, after any existing comment.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

from goldsmith.engine.names import literal
from goldsmith.engine.warehouses.landing import OWN_SCHEMA, WarehouseTable
from goldsmith.settings.sections import WarehouseKind

Run = Callable[..., list[tuple[Any, ...]]]

_MARK = re.compile(r"goldsmith-table:[0-9a-f]{32}")


def table_id(run: Run, table: WarehouseTable) -> str | None:
    """The id of a table; None if it has none."""
    if table.kind is WarehouseKind.DUCKDB:
        found = _MARK.search(comment(run, table) or "")
        return None if found is None else found[0]
    number = oid(run, table)
    if number is None:
        return None
    # A copied or restored database has other oids; the ledger's oid shows that.
    loads = WarehouseTable(kind=table.kind, schema=OWN_SCHEMA, table="loads")
    return f"oid:{oid(run, loads)}/{number}"


def ensure_table_id(run: Run, table: WarehouseTable) -> str | None:
    """The id of a table; a DuckDB table without one gets one, inside an open transaction."""
    found = table_id(run, table)
    if found is None and table.kind is WarehouseKind.DUCKDB:
        found = f"goldsmith-table:{uuid.uuid4().hex}"
        before = comment(run, table)
        set_comment(run, table, found if not before else f"{before}\n{found}")
    return found


def oid(run: Run, table: WarehouseTable) -> int | None:
    """The oid of a table in PostgreSQL or Redshift."""
    found = run(
        "SELECT CAST(c.oid AS bigint) FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = %s",
        table.schema,
        table.table,
    )
    return int(found[0][0]) if found else None


def comment(run: Run, table: WarehouseTable) -> str | None:
    """The comment of a DuckDB table."""
    found = run(
        "SELECT comment FROM duckdb_tables() WHERE database_name = current_database() "
        "AND lower(schema_name) = lower(?) AND lower(table_name) = lower(?)",
        table.schema,
        table.table,
    )
    return found[0][0] if found else None


def set_comment(run: Run, table: WarehouseTable, text: str) -> None:
    run(f"COMMENT ON TABLE {table.sql} IS {literal(text, table.kind)}")
