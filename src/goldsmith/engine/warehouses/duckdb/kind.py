"""DuckDB: one file, without a server."""

from __future__ import annotations

from goldsmith.engine.warehouses.warehouse import Probing, Warehouse, WarehouseKind
from goldsmith.settings.sections import WarehouseSettings
from goldsmith.storage.storage import Storage


def _open(storage: Storage, settings: WarehouseSettings, wait_seconds: float) -> Warehouse:
    from goldsmith.engine.warehouses.duckdb.warehouse import EmbeddedWarehouse

    return EmbeddedWarehouse(storage, settings, wait_seconds=wait_seconds)


def _probe(settings: WarehouseSettings, probing: Probing) -> str:
    import duckdb as driver

    file = settings.path
    if not file.exists():
        probing.try_folder(file.parent)
        return f"duckdb {file} (will be made)"
    try:
        driver.connect(str(file), read_only=True).close()
    except driver.IOException as error:
        if "lock" not in str(error):
            raise
        return f"duckdb {file}, in use by another process now"
    return f"duckdb {file}"


duckdb = WarehouseKind(is_embedded=True, open=_open, probe=_probe)
