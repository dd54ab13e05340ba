"""Amazon Redshift, loaded by COPY of Parquet files in S3."""

from __future__ import annotations

from goldsmith.credentials import library
from goldsmith.engine.warehouses.warehouse import Probing, Warehouse, WarehouseKind
from goldsmith.settings.sections import WarehouseSettings
from goldsmith.storage.storage import Storage


def _open(storage: Storage, settings: WarehouseSettings, wait_seconds: float) -> Warehouse:
    from goldsmith.engine.warehouses.redshift.warehouse import RedshiftWarehouse

    del wait_seconds  # `lock_sec` of the settings limits waits for a server
    return RedshiftWarehouse(storage, settings)


def _probe(settings: WarehouseSettings, probing: Probing) -> str:
    redshift_connector = library("redshift_connector", extra="aws")
    redshift_connector.connect(
        host=settings.host,
        port=settings.port,
        database=settings.database,
        user=settings.user,
        password=probing.password or "",
        ssl=settings.ssl is not False,
        timeout=probing.seconds,
    ).close()
    return probing.server("redshift", settings)


redshift = WarehouseKind(
    required=("host", "database", "user"),
    default_port=5439,
    stages_on_s3=True,
    open=_open,
    probe=_probe,
)
