"""Worker resources: Spark and warehouse connections, opened when a stage first needs them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.read import kept_schemas
from goldsmith.engine.session import spark_session
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.healing.classify import classify
from goldsmith.journal.owners import Owner
from goldsmith.planning.increments import Increments
from goldsmith.runtime import Runtime
from goldsmith.worker.kill_switch import KillSwitch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def worker_resources(runtime: Runtime) -> Iterator[WorkerResources]:
    """The resources of this process, closed on exit."""
    opened, switch = _Opened(runtime), KillSwitch(runtime)
    try:
        yield WorkerResources(
            spark=opened.spark,
            storage=runtime.storage,
            journal=runtime.journal,
            increments=Increments(runtime.catalog, runtime.storage),
            warehouse=opened.warehouse,
            owner=Owner.this_process(),
            kept_schema=lambda dataset: kept_schemas.get(runtime.journal, dataset),
            renew=opened.close,
            code_of=lambda error: classify(error).code.name,
            watched=switch.watching,
            hide=runtime.secrets.redact,
        )
    finally:
        switch.close()
        opened.close()


class _Opened:
    """Open resources; stages use them from several threads."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._spark: SparkSession | None = None
        self._warehouses: list[Warehouse] = []
        self._mine = threading.local()

    def spark(self) -> SparkSession:
        with self._lock:
            if self._spark is None:
                self._spark = spark_session.start(self._runtime.storage)
            return self._spark

    def warehouse(self, type_: str) -> Warehouse:
        """A connection for this thread only: two stages must not share a transaction."""
        warehouses: dict[str, Warehouse] = self._mine.__dict__.setdefault("held", {})
        if type_ not in warehouses:
            warehouses[type_] = open_warehouse(self._runtime.storage, type_)
            with self._lock:
                self._warehouses.append(warehouses[type_])
        return warehouses[type_]

    def close(self) -> None:
        """Close everything; each resource is opened again on first use."""
        with self._lock:
            for warehouse in self._warehouses:
                warehouse.close()
            self._warehouses.clear()
            self._mine = threading.local()
            self._runtime.storage.forget()
            if self._spark is not None:
                spark_session.stop(self._spark)
                self._spark = None
