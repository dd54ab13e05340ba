"""Probe datasets: list a location, load a table, or ask a warehouse for a table's columns."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.warehouses.warehouse import Warehouse
from goldsmith.errors import GoldsmithError
from goldsmith.journal import health
from goldsmith.journal.journal import Journal
from goldsmith.journal.lineage_tables import DatasetHealth, HealthStatus
from goldsmith.lineage.breaker import Breaker, after_probe
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.lake import load_table
from goldsmith.planning.stage_context import Dataset
from goldsmith.runtime import Runtime
from goldsmith.storage.files import SourceMissing, SourceUnreachable
from goldsmith.storage.storage import Storage

#: Source option: `none`, or a file below the location that must be there.
PROBE_OPTION = "probe"


@dataclass(frozen=True, kw_only=True, slots=True)
class Probes:
    """Probes datasets of one environment, and keeps their health."""

    journal: Journal
    storage: Storage
    breaker: Breaker
    hide: Callable[[str], str]
    #: Opens the warehouse of a target's type; None: warehouse tables count as healthy.
    warehouse: Callable[[str], Warehouse] | None = None

    @classmethod
    def of_service(cls, runtime: Runtime) -> Probes:
        """The probes of a service, which opens no warehouse."""
        return cls(
            journal=runtime.journal,
            storage=runtime.storage,
            breaker=Breaker.of(runtime.settings.health),
            hide=runtime.secrets.redact,
        )

    @classmethod
    def of(cls, resources: WorkerResources) -> Probes:
        """The probes of a worker."""
        return cls(
            journal=resources.journal,
            storage=resources.storage,
            breaker=Breaker.of(resources.storage.settings.health),
            hide=resources.hide,
            warehouse=resources.warehouse,
        )

    def cut_off(self) -> dict[str, str]:
        """The datasets that a drill cuts off in this environment now, and why."""
        environment = self.storage.settings.environment
        return health.cut_off(self.journal, environment, datetime.now(UTC))

    def why_down(self, dataset: Dataset) -> str | None:
        """Probe a dataset and store its health; say why it is down, or None.

        A first failure is probed again at once, so that one lost packet does not move a route.
        """
        before = known = health.health_of(self.journal, dataset.dataset_id)
        cut = self.cut_off().get(dataset.dataset_id)
        for _probe in range(self.breaker.down_after):
            known, problem = self._probed(known, dataset, cut)
            if problem is None or known.status == HealthStatus.DOWN:
                break
        assert known is not None
        health.store(self.journal, known, before)
        return known.because if known.status == HealthStatus.DOWN else None

    def probe_again(self, before: DatasetHealth, dataset: Dataset) -> DatasetHealth:
        """Probe a dataset that is down once more, and store what was found."""
        cut = self.cut_off().get(dataset.dataset_id)
        found, _problem = self._probed(before, dataset, cut)
        health.store(self.journal, found, before)
        return found

    def _probed(
        self, known: DatasetHealth | None, dataset: Dataset, cut: str | None
    ) -> tuple[DatasetHealth, str | None]:
        problem = cut or self.problem(dataset)
        now = datetime.now(UTC)
        return after_probe(known, dataset.dataset_id, problem, now, self.breaker), problem

    def problem(self, dataset: Dataset) -> str | None:
        """Why a dataset cannot be read right now; None if it can."""
        wanted = None if dataset.source is None else dataset.source.options.get(PROBE_OPTION)
        if wanted == "none":
            return None
        try:
            match dataset_kind(dataset):
                case "files":
                    below = dataset.location or ""
                    list_first(below, self.storage)
                    if isinstance(wanted, str):
                        file = f"{below.rstrip('/')}/{wanted.lstrip('/')}"
                        list_first(file, self.storage, must_be_there=True)
                case "table":
                    load_table(dataset, self.storage)
                case _:
                    if self.warehouse is not None and dataset.target is not None:
                        opened = self.warehouse(str(dataset.target.type))
                        opened.columns(dataset.location or "")
        except (GoldsmithError, OSError) as error:
            return self.hide(str(error))
        return None


def list_first(location: str, storage: Storage, *, must_be_there: bool = False) -> None:
    """List at most one file; raise if the bucket is gone or cannot be reached.

    With `must_be_there`, raise also if nothing is at the location.
    """
    real = storage.address(location)
    if not real.startswith("s3://"):
        bucket = "/".join(location.split("/")[:3])
        is_there = os.path.exists(real)
        if not is_there and (must_be_there or not os.path.isdir(storage.address(bucket))):
            raise SourceMissing(location=location, bucket=bucket)
        return
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, prefix = real.removeprefix("s3://").partition("/")
    try:
        found = storage.s3_for_probes().list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
    except (BotoCoreError, ClientError) as error:
        raise SourceUnreachable(location=location, cause=str(error)) from error
    if must_be_there and not found.get("KeyCount"):
        raise SourceMissing(location=location, bucket=bucket)
