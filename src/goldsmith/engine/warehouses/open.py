"""Open the warehouse that a target's type stands for in this environment."""

from __future__ import annotations

from goldsmith.engine.warehouses.warehouse import Warehouse, WarehouseKind
from goldsmith.registry import Registry
from goldsmith.settings.warehouse_kinds import PACKAGE
from goldsmith.storage.storage import Storage

WAREHOUSES: Registry[WarehouseKind] = Registry(
    "kind of warehouse", package=PACKAGE, kind=WarehouseKind, file="kind"
)


def open_warehouse(storage: Storage, type_: str, *, wait_seconds: float = 60.0) -> Warehouse:
    """The warehouse of a target's type; its driver is imported on first use.

    `wait_seconds` limits the wait for a DuckDB file that another process has open.
    """
    settings = storage.settings.warehouses[type_]
    return WAREHOUSES.get(settings.kind).open(storage, settings, wait_seconds)
