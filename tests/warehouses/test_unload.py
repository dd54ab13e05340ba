"""A stage that reads a warehouse table gets its rows as Parquet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq
import pytest

from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.engine.warehouses.publish import TableMissing
from goldsmith.engine.warehouses.staged import file_system
from goldsmith.storage.storage import Storage
from servers.postgres import Postgres
from servers.s3 import S3
from warehouses.bench import Bench
from warehouses.conftest import BUCKET, S3_KEYS, s3_settings

SCHEMA = {
    "id": "bigint",
    "Odd name": "string",
    "price": "decimal(12,2)",
    "day": "date",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "raw": "binary",
    "tags": "array<string>",
    "good": "boolean",
    "ratio": "double",
}
MOMENT = datetime(2026, 11, 16, 9, 30, 12, 5, tzinfo=UTC)
ROW = (
    *(1, 'a "b"\n', Decimal("1.20"), date(2026, 1, 2), MOMENT, MOMENT.replace(tzinfo=None)),
    *(b"\x00\xff", ["x"], True, 0.5),
)
EMPTY = (2, "", *([None] * 8))


def read(bench: Bench, folder: str) -> list[tuple[Any, ...]]:
    system, root = file_system(bench.storage, folder)
    table = pq.read_table(root, filesystem=system)
    rows = []
    for row in table.to_pylist():
        values = list(row.values())
        values[7] = values[7] and tuple(json.loads(values[7]))
        rows.append(tuple(values))
    return rows


def expected(*rows: tuple[Any, ...]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in rows)


def test_rows_come_back_as_they_went(warehouse: Bench) -> None:
    where, folder = warehouse.table(), f"{warehouse.staging}/{warehouse.table()}-in"
    warehouse.load(where, [ROW, EMPTY], SCHEMA)
    warehouse.warehouse.unload(where, folder)
    assert Counter(read(warehouse, folder)) == expected(ROW, EMPTY)
    # What an earlier try left is not read as rows of this one.
    warehouse.load(where, [EMPTY], SCHEMA, mode="overwrite")
    warehouse.warehouse.unload(where, folder)
    assert Counter(read(warehouse, folder)) == expected(EMPTY)


def test_an_empty_table_still_has_columns(warehouse: Bench) -> None:
    where, folder = warehouse.table(), f"{warehouse.staging}/{warehouse.table()}-in"
    warehouse.load(where, [], {"id": "bigint", "name": "string"})
    warehouse.warehouse.unload(where, folder)
    system, root = file_system(warehouse.storage, folder)
    assert pq.read_table(root, filesystem=system).column_names == ["id", "name"]


def test_a_table_that_is_not_there(warehouse: Bench) -> None:
    with pytest.raises(TableMissing, match=r"shop\.nowhere"):
        warehouse.warehouse.unload("shop.nowhere", f"{warehouse.staging}/nowhere")


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_staging_may_be_on_s3(
    kind: str,
    make_places: Callable[..., Storage],
    postgres: Bench,
    postgres_server: Postgres,
    s3: S3,
) -> None:
    toml = f'{s3_settings(s3)}[warehouses.postgres]\nurl = "{postgres.postgres}"\n'
    storage = make_places(toml, **S3_KEYS)
    warehouse = open_warehouse(storage, kind)
    staging = f"s3://{BUCKET}/{kind}"
    bench = Bench(kind=kind, warehouse=warehouse, storage=storage, staging=staging)
    bench.postgres = postgres.postgres
    where = bench.table()
    assert bench.load(where, [ROW, EMPTY], SCHEMA).rows == 2
    warehouse.unload(where, f"{staging}/in")
    assert Counter(read(bench, f"{staging}/in")) == expected(ROW, EMPTY)
