"""Which warehouse a target's type is in this environment."""

from __future__ import annotations

from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.planning.places import Places
from goldsmith.settings.sections import WarehouseKind


def open_warehouse(places: Places, type_: str) -> Warehouse:
    """The warehouse behind a target's type; its driver is imported when it is used."""
    settings = places.settings.warehouses[type_]
    match settings.kind:
        case WarehouseKind.DUCKDB:
            from goldsmith.engine.warehouses.embedded import EmbeddedWarehouse

            return EmbeddedWarehouse(places, settings)
        case WarehouseKind.POSTGRES:
            from goldsmith.engine.warehouses.postgresql import PostgresWarehouse

            return PostgresWarehouse(places, settings)
        case WarehouseKind.REDSHIFT:
            from goldsmith.engine.warehouses.redshift import RedshiftWarehouse

            return RedshiftWarehouse(places, settings)
