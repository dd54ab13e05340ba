"""The SQL of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.engine.names import name
from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.landing import WarehouseTable
from goldsmith.engine.warehouses.server_dialect import ServerDialect


class PostgresDialect(ServerDialect):
    """PostgreSQL's types, names and statements."""

    name = "postgres"
    types = {  # noqa: RUF012 - a constant
        "boolean": "boolean",
        "tinyint": "smallint",
        "smallint": "smallint",
        "int": "integer",
        "bigint": "bigint",
        "float": "real",
        "double": "double precision",
        "decimal(p,s)": "numeric(p,s)",
        "string": "text",
        "binary": "bytea",
        "date": "date",
        "timestamp": "timestamptz",
        "timestamp_ntz": "timestamp",
        "time": "time",
        "array": "jsonb",
        "map": "jsonb",
        "struct": "jsonb",
        "variant": "jsonb",
    }
    longest_name = 63
    tells_case_apart = True
    # A staging table need not survive a crash of the server.
    creates_staging = "CREATE UNLOGGED TABLE"

    def comparable(self, nested: str, *, has_map: bool) -> str:
        return nested if has_map else f"jsonb_strip_nulls({nested})"

    def move_to_schema(self, old: WarehouseTable, new: WarehouseTable) -> Iterator[str]:
        yield f"ALTER TABLE {old.sql} SET SCHEMA {name(str(new.schema), dialect=self.name)}"
        if old.table != new.table:
            moved = WarehouseTable(dialect=self, schema=new.schema, table=old.table)
            yield f"ALTER TABLE {moved.sql} RENAME TO {name(new.table, dialect=self.name)}"

    def maintenance(self, table: WarehouseTable) -> list[str]:
        # PostgreSQL refuses VACUUM inside a transaction.
        return [f"VACUUM (ANALYZE) {table.sql}"]


POSTGRES: WarehouseDialect = PostgresDialect()
