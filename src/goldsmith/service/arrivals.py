"""Start pipelines when files arrive: list their sources with back-off, or read an SQS queue."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote_plus

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.errors import GoldsmithError
from goldsmith.journal import schedule_fires
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request
from goldsmith.journal.tables_of_service import ScheduleFire
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.locations import folder
from goldsmith.planning.stage_context import Dataset
from goldsmith.runtime import Runtime
from goldsmith.scheduling import schedules
from goldsmith.service.clock import Scheduled, paused, scheduled

_LOG = logging.getLogger(__name__)
#: Seconds between two listings of a source: doubled while nothing arrives, up to the longest.
_FIRST_SECONDS, _LONGEST_SECONDS = 5.0, 300.0
#: Source option: the SQS queue that S3 notifies of new objects.
QUEUE_OPTION = "arrival_queue"
_MOST_MESSAGES = 10


@dataclass
class _Watch:
    """When a source is listed next, and the files of its last listing."""

    next_at: float = 0.0
    wait: float = _FIRST_SECONDS
    seen: frozenset[tuple[str, int, str]] = frozenset()


@dataclass
class Arrivals:
    """Watches the sources of pipelines whose schedule is `on arrival`."""

    runtime: Runtime
    service: str
    _watches: dict[str, _Watch] = field(default_factory=dict)
    _queues: dict[str, Any] = field(default_factory=dict)

    def turn(self, now: float | None = None) -> list[ScheduleFire]:
        """Add a request for each pipeline whose sources have new files."""
        at = time.monotonic() if now is None else now
        catalog_index = self.runtime.catalog_indexer.catalog_index()
        fired: list[ScheduleFire] = []
        for entry in scheduled(catalog_index):
            if entry.pipeline is None:
                continue
            try:
                if not schedules.parse_schedule(entry.text).on_arrival:
                    continue
                fired += self._look(catalog_index, entry, entry.pipeline, at)
            except GoldsmithError as error:
                _LOG.warning("%s: %s", entry.subject, error)
        return fired

    def _look(
        self, catalog_index: CatalogIndex, entry: Scheduled, pipeline: Pipeline, at: float
    ) -> Iterator[ScheduleFire]:
        arrived: list[str] = []
        receipts: list[tuple[str, str]] = []
        for dataset in _sources(catalog_index, pipeline.pipeline_id):
            queue = dataset.source.options.get(QUEUE_OPTION) if dataset.source else None
            if queue is not None:
                found = [(str(queue), receipt) for receipt in self._notified(str(queue), dataset)]
                receipts += found
                arrived += [dataset.dataset_id] if found else []
            elif self._listed(dataset, at):
                arrived.append(dataset.dataset_id)
        if not arrived:
            return
        now = datetime.now(UTC)
        flag = paused(catalog_index, entry.subject, now)
        request = Request(
            request_id=new_id("request"),
            selection=entry.selection,
            pipelines=(pipeline.pipeline_id,),
            asked_by=f"schedule:{entry.subject}",
            due_at=now,
            because=f"new files in {', '.join(arrived)}",
        )
        fire = ScheduleFire(
            subject=entry.subject,
            due_at=now,
            schedule=entry.text,
            fired_by=self.service,
            request_id=request.request_id if flag is None else None,
            because=request.because if flag is None else "the schedule is paused",
        )
        if schedule_fires.fire(self.runtime.journal, fire, request if flag is None else None):
            yield fire
        # Deleted only now: a service that dies before leaves the notifications to the next.
        for queue_url, receipt in receipts:
            self._client().delete_message(QueueUrl=queue_url, ReceiptHandle=receipt)

    def _listed(self, dataset: Dataset, at: float) -> bool:
        """Whether a listing shows files that the last one did not; lists seldom while quiet.

        The first listing counts as new too: files may have arrived while no service ran. A start
        with nothing new is skipped by the run itself.
        """
        watch = self._watches.setdefault(dataset.dataset_id, _Watch())
        if at < watch.next_at:
            return False
        increments = Increments(self.runtime.catalog, self.runtime.storage)
        seen = frozenset((f.path, f.size, f.etag or "") for f in increments.files(dataset))
        is_new = bool(seen - watch.seen)
        watch.seen = seen
        watch.wait = _FIRST_SECONDS if is_new else min(2 * watch.wait, _LONGEST_SECONDS)
        watch.next_at = at + watch.wait
        return is_new

    def _notified(self, queue: str, dataset: Dataset) -> list[str]:
        """The receipts of notifications of objects under the source's location."""
        answer = self._client().receive_message(
            QueueUrl=queue, MaxNumberOfMessages=_MOST_MESSAGES, WaitTimeSeconds=0
        )
        prefix = f"{folder(dataset.location or '')}/"
        return [
            str(message["ReceiptHandle"])
            for message in answer.get("Messages", ())
            if any(address.startswith(prefix) for address in object_addresses(message["Body"]))
        ]

    def _client(self) -> Any:
        if "sqs" not in self._queues:
            import boto3

            storage = self.runtime.settings.storage
            secret = self.runtime.storage.secret
            self._queues["sqs"] = boto3.client(
                "sqs",
                endpoint_url=storage.endpoint,
                region_name=storage.region,
                aws_access_key_id=secret(storage.access_key),
                aws_secret_access_key=secret(storage.secret_key),
            )
        return self._queues["sqs"]


def object_addresses(body: str) -> list[str]:
    """The objects that a notification of S3 names, as s3:// addresses; also through SNS."""
    try:
        content = json.loads(body)
        if isinstance(content, dict) and isinstance(content.get("Message"), str):
            content = json.loads(content["Message"])
        records = content.get("Records", ()) if isinstance(content, dict) else ()
        return [
            f"s3://{record['s3']['bucket']['name']}/{unquote_plus(record['s3']['object']['key'])}"
            for record in records
            if str(record.get("eventName", "")).startswith("ObjectCreated")
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


def _sources(catalog_index: CatalogIndex, pipeline_id: str) -> Iterator[Dataset]:
    """The sources of a pipeline that are files."""
    seen: set[str] = set()
    for context in catalog_index.stages.values():
        if context.stage.pipeline_id != pipeline_id:
            continue
        for dataset in context.inputs:
            if dataset.dataset_id not in seen and dataset_kind(dataset) == "files":
                seen.add(dataset.dataset_id)
                yield dataset
