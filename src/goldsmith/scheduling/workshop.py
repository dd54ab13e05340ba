"""The tools of a worker: Spark, warehouses and the rest, opened when a stage first needs them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goldsmith.engine import kept_schemas, session
from goldsmith.engine.warehouses.open import open_warehouse
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.engine.work import Tools
from goldsmith.healing.classify import classify
from goldsmith.journal.owners import Owner
from goldsmith.planning.increments import Increments
from goldsmith.runtime import Runtime
from goldsmith.scheduling.kill_switch import KillSwitch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def workshop(runtime: Runtime) -> Iterator[Tools]:
    """The tools of this process, put away at the end."""
    opened, switch = _Opened(runtime), KillSwitch(runtime)
    try:
        yield Tools(
            spark=opened.spark,
            places=runtime.places,
            journal=runtime.journal,
            increments=Increments(runtime.catalog, runtime.places),
            warehouse=opened.warehouse,
            owner=Owner.this_process(),
            kept_schema=lambda dataset: kept_schemas.get(runtime.journal, dataset),
            keep_schema=lambda dataset, text: kept_schemas.put(runtime.journal, dataset, text),
            renew=opened.close,
            code_of=lambda error: classify(error).code.name,
            watched=switch.watching,
            hide=runtime.secrets.redact,
        )
    finally:
        switch.close()
        opened.close()


class _Opened:
    """What was opened so far; stages ask from several threads."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._spark: SparkSession | None = None
        self._warehouses: list[Warehouse] = []
        self._mine = threading.local()

    def spark(self) -> SparkSession:
        with self._lock:
            if self._spark is None:
                self._spark = session.start(self._runtime.places)
            return self._spark

    def warehouse(self, type_: str) -> Warehouse:
        """A connection of this thread's own: two stages must not share a transaction."""
        held: dict[str, Warehouse] = self._mine.__dict__.setdefault("held", {})
        if type_ not in held:
            held[type_] = open_warehouse(self._runtime.places, type_)
            with self._lock:
                self._warehouses.append(held[type_])
        return held[type_]

    def close(self) -> None:
        """Let go of everything; what is asked for next is opened anew."""
        with self._lock:
            for warehouse in self._warehouses:
                warehouse.close()
            self._warehouses.clear()
            self._mine = threading.local()
            self._runtime.places.forget()
            if self._spark is not None:
                session.stop(self._spark)
                self._spark = None
