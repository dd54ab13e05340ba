"""What the dialects of PostgreSQL and Redshift share: both have PostgreSQL's system catalog."""

from __future__ import annotations

from goldsmith.engine.warehouses.dialect import Run, WarehouseDialect
from goldsmith.engine.warehouses.landing import OWN_SCHEMA, WarehouseTable


class ServerDialect(WarehouseDialect):
    """A warehouse with the system catalog of PostgreSQL."""

    @property
    def columns_of(self) -> str:
        return (
            "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute a "
            "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
            "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped "
            "ORDER BY a.attnum"
        )

    def table_id(self, run: Run, table: WarehouseTable) -> str | None:
        number = oid(run, table)
        if number is None:
            return None
        # A copied or restored database has other oids; the ledger's oid shows that.
        loads = WarehouseTable(dialect=self, schema=OWN_SCHEMA, table="loads")
        return f"oid:{oid(run, loads)}/{number}"


def oid(run: Run, table: WarehouseTable) -> int | None:
    """The oid of a table: a table that is created again has another."""
    found = run(
        "SELECT CAST(c.oid AS bigint) FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = %s",
        table.schema,
        table.table,
    )
    return int(found[0][0]) if found else None
