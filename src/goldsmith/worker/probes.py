"""Probe datasets: list a location, load a table, or ask a warehouse for `SELECT 1`."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from goldsmith.engine.attempt import WorkerResources
from goldsmith.errors import GoldsmithError
from goldsmith.journal import health
from goldsmith.journal.lineage_tables import DatasetHealth, HealthStatus
from goldsmith.lineage.breaker import Breaker, after_probe
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.lake import load_table
from goldsmith.planning.stage_context import Dataset
from goldsmith.storage.files import SourceMissing, SourceUnreachable
from goldsmith.storage.storage import Storage


def is_down(dataset: Dataset, resources: WorkerResources, breaker: Breaker) -> DatasetHealth | None:
    """Probe a dataset and store its health; return the health if the dataset is down.

    A first failure is probed again at once, so that one lost packet does not move a route.
    """
    known = health.health_of(resources.journal, dataset.dataset_id)
    for _probe in range(breaker.down_after):
        problem = probe(dataset, resources)
        at = datetime.now(UTC)
        known = after_probe(known, dataset.dataset_id, problem, at, breaker)
        if problem is None or known.status == HealthStatus.DOWN:
            break
    assert known is not None
    health.store(resources.journal, known)
    return known if known.status == HealthStatus.DOWN else None


def probe(dataset: Dataset, resources: WorkerResources) -> str | None:
    """Why a dataset cannot be read right now; None if it can."""
    try:
        match dataset_kind(dataset):
            case "files":
                _list_first(dataset.location or "", resources.storage)
            case "table":
                load_table(dataset, resources.storage)
            case _:
                assert dataset.target is not None  # a warehouse table has a row in targets
                resources.warehouse(str(dataset.target.type)).columns(dataset.location or "")
    except GoldsmithError as error:
        return resources.hide(str(error))
    except OSError as error:
        return resources.hide(str(error))
    return None


def _list_first(location: str, storage: Storage) -> None:
    """List at most one file; raise if the bucket is gone or cannot be reached."""
    real = storage.address(location)
    if not real.startswith("s3://"):
        bucket = "/".join(location.split("/")[:3])
        if not os.path.exists(real) and not os.path.isdir(storage.address(bucket)):
            raise SourceMissing(location=location, bucket=bucket)
        return
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, prefix = real.removeprefix("s3://").partition("/")
    try:
        storage.s3().list_objects_v2(Bucket=bucket, Prefix=prefix, MaxKeys=1)
    except (BotoCoreError, ClientError) as error:
        raise SourceUnreachable(location=location, cause=str(error)) from error
