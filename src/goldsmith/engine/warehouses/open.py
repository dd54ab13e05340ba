"""Open the warehouse that a target's type stands for in this environment."""

from __future__ import annotations

from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.settings.sections import WarehouseKind
from goldsmith.storage.storage import Storage


def open_warehouse(storage: Storage, type_: str, *, wait_seconds: float = 60.0) -> Warehouse:
    """The warehouse of a target's type; its driver is imported on first use.

    `wait_seconds` limits the wait for a DuckDB file that another process has open.
    """
    settings = storage.settings.warehouses[type_]
    match settings.kind:
        case WarehouseKind.DUCKDB:
            from goldsmith.engine.warehouses.duckdb.warehouse import EmbeddedWarehouse

            return EmbeddedWarehouse(storage, settings, wait_seconds=wait_seconds)
        case WarehouseKind.POSTGRES:
            from goldsmith.engine.warehouses.postgres.warehouse import PostgresWarehouse

            return PostgresWarehouse(storage, settings)
        case WarehouseKind.REDSHIFT:
            from goldsmith.engine.warehouses.redshift.warehouse import RedshiftWarehouse

            return RedshiftWarehouse(storage, settings)
