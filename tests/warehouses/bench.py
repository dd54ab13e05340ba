"""A warehouse on the bench: the same tests stage, load and look on each."""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from goldsmith.engine.names import name
from goldsmith.engine.warehouses.postgres.warehouse import PostgresWarehouse
from goldsmith.engine.warehouses.redshift.warehouse import RedshiftWarehouse
from goldsmith.engine.warehouses.server import ServerWarehouse
from goldsmith.engine.warehouses.warehouse import Load, LoadColumn, Loaded, Warehouse
from goldsmith.storage.storage import Storage

numbers = itertools.count(1)

_ARROW = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "time(6)": pa.time64("us"),
    "decimal(12,2)": pa.decimal128(12, 2),
    "decimal(38,10)": pa.decimal128(38, 10),
    "array<string>": pa.list_(pa.string()),
    "map<string,int>": pa.map_(pa.string(), pa.int32()),
    "struct<a:int,b:decimal(12,2)>": pa.struct([("a", pa.int32()), ("b", pa.decimal128(12, 2))]),
    "struct<x:string>": pa.struct([("x", pa.string())]),
    "struct<y:string,x:string,z:string>": pa.struct([(f, pa.string()) for f in "yxz"]),
    "variant": pa.string(),
}

Rows = Sequence[tuple[Any, ...]]


def nowhere(point: str) -> None:
    """Nobody waits at a point."""


@dataclass
class Bench:
    """An open warehouse, where it reads staged rows, and a way to look into it."""

    kind: str
    warehouse: Warehouse
    storage: Storage
    staging: str
    #: Where PostgreSQL is, for the two that are one.
    postgres: str = ""

    def table(self) -> str:
        """The location of a table that no other test has."""
        return f"shop.table_{next(numbers)}"

    def stage(self, rows: Rows, schema: Mapping[str, str], *, files: int = 1) -> str:
        """Write rows as Parquet to where the warehouse reads them."""
        address = f"{self.staging}/stage-{next(numbers)}"
        fields = pa.schema([(column, _ARROW[type_]) for column, type_ in schema.items()])
        for number in range(files):
            part = rows[number::files]
            columns = list(zip(*part, strict=True)) if part else [()] * len(fields)
            arrays = [pa.array(v, f.type) for v, f in zip(columns, fields, strict=True)]
            self.put(f"{address}/part-{number:05}.parquet", pa.table(arrays, schema=fields))
        return address

    def put(self, address: str, table: pa.Table, **how: Any) -> None:
        """Write a Parquet file at a path or an s3:// address."""
        written = io.BytesIO()
        pq.write_table(table, written, **how)
        if address.startswith("s3://"):
            bucket, _, key = address.removeprefix("s3://").partition("/")
            self.storage.s3().put_object(Bucket=bucket, Key=key, Body=written.getvalue())
            return
        Path(address).parent.mkdir(parents=True, exist_ok=True)
        Path(address).write_bytes(written.getvalue())

    def order(self, location: str, rows: Rows, schema: Mapping[str, str], **more: Any) -> Load:
        """A load of staged rows, not carried out yet."""
        number = next(numbers)
        settings = {
            "stage_run_id": f"try-20261116-093012-{number:08x}",
            "mode": "append",
            "token": number,
            "rows": len(rows),
            **more,
        }
        if "staged" not in settings:
            settings["staged"] = self.stage(rows, schema)
        columns = tuple(LoadColumn(name=c, type=t) for c, t in schema.items())
        return Load(location=location, columns=columns, **settings)

    def load(self, location: str, rows: Rows, schema: Mapping[str, str], **more: Any) -> Loaded:
        return self.warehouse.load(self.order(location, rows, schema, **more), nowhere)

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the warehouse by a connection of the test's own."""
        if self.kind == "duckdb":
            with duckdb.connect(str(self.storage.settings.warehouses["duckdb"].path)) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                done = connection.execute(sql.replace("%s", "?") if values else sql, list(values))
                return done.fetchall() if done.description else []
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def rows(self, location: str, *columns: str) -> list[tuple[Any, ...]]:
        """Everything in a table, in no order."""
        folded = [c.lower() if self.kind == "redshift" else c for c in columns]
        chosen = ", ".join(name(c, dialect="postgres") for c in folded) or "*"
        return self.ask(f"SELECT {chosen} FROM {self.sql(location)}")

    def sql(self, location: str) -> str:
        return name(*location.split("."), dialect="postgres")

    def leftovers(self) -> list[str]:
        """What loads left behind: anything of ours but the ledger."""
        found = self.ask(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema = 'goldsmith' OR table_name LIKE 'load%%'".replace("%%", "%")
        )
        ours = {("goldsmith", "loads"), ("redshift_system", "load_errors")}
        return [".".join(table) for table in found if table not in ours]


def again(bench: Bench, **changed: object) -> ServerWarehouse:
    """The same warehouse with other settings."""
    settings = replace(bench.storage.settings.warehouses[bench.kind], **changed)
    kind = PostgresWarehouse if bench.kind == "postgres" else RedshiftWarehouse
    return kind(bench.storage, settings)
