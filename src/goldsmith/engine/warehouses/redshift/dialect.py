"""The SQL of Redshift."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.landing import Landing, WarehouseColumn, WarehouseTable
from goldsmith.engine.warehouses.redshift.layout import encoding, layout
from goldsmith.engine.warehouses.server_dialect import ServerDialect
from goldsmith.engine.warehouses.types import is_variant


class RedshiftDialect(ServerDialect):
    """Redshift's types, names and statements."""

    name = "redshift"
    types = {  # noqa: RUF012 - a constant
        "boolean": "boolean",
        "tinyint": "smallint",
        "smallint": "smallint",
        "int": "integer",
        "bigint": "bigint",
        "float": "real",
        "double": "double precision",
        "decimal(p,s)": "numeric(p,s)",
        # Redshift's own `text` is varchar(256).
        "string": "varchar(65535)",
        "binary": "varbyte(1024000)",
        "date": "date",
        "timestamp": "timestamptz",
        "timestamp_ntz": "timestamp",
        # Redshift has TIME, but COPY cannot fill it from Parquet.
        "time": None,
        "array": "super",
        "map": "super",
        "struct": "super",
        "variant": "super",
    }
    longest_name = 127
    # Redshift supports CURRENT_TIMESTAMP only on the leader node.
    now = "GETDATE()"
    ledger_text = "varchar(512)"
    ledger_moment = "TIMESTAMP"

    def text_of(self, length: int) -> str:
        # Redshift counts bytes, Spark characters of up to four bytes.
        return f"varchar({min(4 * length, 65535)})"

    def folded(self, name: str) -> str:
        # Redshift lower-cases quoted names too, but only ASCII letters.
        return "".join(c.lower() if c.isascii() else c for c in name)

    def staged_type(self, column: str, type_: str, value: str) -> tuple[str, str]:
        if is_variant(type_):
            # COPY would load JSON text from Parquet into a SUPER as one string.
            return self.type_of(column, "string"), f"JSON_PARSE({value})"
        return super().staged_type(column, type_, value)

    def comparable(self, nested: str, *, has_map: bool) -> str:
        del has_map  # Redshift has no function that takes fields out of a large SUPER
        return f"JSON_SERIALIZE_TO_VARBYTE({nested})"

    def layout(self, landing: Landing, *, sorted_too: bool) -> str:
        return layout(landing, sorted_too=sorted_too)

    def encoding(self, landing: Landing, column: WarehouseColumn) -> str:
        return encoding(landing, column)

    def move_to_schema(self, old: WarehouseTable, new: WarehouseTable) -> Iterator[str]:
        # Redshift cannot move a table to another schema.
        yield f"CREATE TABLE {new.sql} (LIKE {old.sql} INCLUDING DEFAULTS)"
        yield f"INSERT INTO {new.sql} SELECT * FROM {old.sql}"
        yield f"DROP TABLE IF EXISTS {old.sql}"

    def maintenance(self, table: WarehouseTable) -> list[str]:
        # Redshift refuses VACUUM inside a transaction.
        return [f"VACUUM {table.sql}", f"ANALYZE {table.sql}"]


REDSHIFT: WarehouseDialect = RedshiftDialect()
