"""PostgreSQL, loaded by COPY from this process."""

from __future__ import annotations

from goldsmith.credentials import library
from goldsmith.engine.warehouses.warehouse import Probing, Warehouse, WarehouseKind
from goldsmith.settings.sections import WarehouseSettings
from goldsmith.storage.storage import Storage


def _open(storage: Storage, settings: WarehouseSettings, wait_seconds: float) -> Warehouse:
    from goldsmith.engine.warehouses.postgres.warehouse import PostgresWarehouse

    del wait_seconds  # `lock_sec` of the settings limits waits for a server
    return PostgresWarehouse(storage, settings)


def _probe(settings: WarehouseSettings, probing: Probing) -> str:
    psycopg = library("psycopg", extra="postgres")
    more: dict[str, str] = {}
    if settings.ssl is not None:
        more["sslmode"] = "require" if settings.ssl else "disable"
    psycopg.connect(
        host=settings.host,
        port=settings.port,
        dbname=settings.database,
        user=settings.user,
        password=probing.password,
        connect_timeout=probing.seconds,
        **more,
    ).close()
    return probing.server("postgres", settings)


postgres = WarehouseKind(required=("host", "database"), default_port=5432, open=_open, probe=_probe)
