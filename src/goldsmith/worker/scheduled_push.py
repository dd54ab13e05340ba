"""Collect from a warehouse and push, as a row of `push_schedules` declares.

A push contains the state of the warehouse now. So several publishes within an hour are one push,
and after an outage of the receiver the next push contains the missed changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from goldsmith.assets import manifest as manifests
from goldsmith.assets.items import Flow
from goldsmith.catalog.flags import Flag, FlagScope
from goldsmith.catalog.push_schedules import PushSchedule
from goldsmith.collectors.collect import CollectRequest, collect
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.emitters.push import push
from goldsmith.emitters.receiver import INGEST_ENDPOINT, HttpReceiver
from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.journal import pushes
from goldsmith.journal.tables import Request
from goldsmith.planning.stopped import Stops, stop_text
from goldsmith.runtime import Runtime
from goldsmith.storage.lake_tables import metadata_files

#: The warehouse of a row that means our own lake.
OWN = "own"
_WAIT = timedelta(minutes=5)
#: While everything is stopped.
_LOOK_AGAIN = timedelta(minutes=1)
#: Query histories are read this far back at most after a failure.
_LONGEST_LOOK_BACK = timedelta(days=7)


@dataclass
class TryAgain(Exception):
    """The push is to be tried again at a time."""

    at: datetime
    because: str


def push_scheduled(runtime: Runtime, request: Request) -> str:
    """Collect and push; returns what was done. Raises TryAgain or GoldsmithError."""
    name = str(request.options["push_schedule_id"])
    row = runtime.catalog.snapshot().table(PushSchedule).get((name,))
    if row is None or not row.enabled:
        return f"the push schedule '{name}' is gone or not enabled"
    if not row.warehouse or not row.resource_uuid:
        raise BadRequest(
            sentence=f"The push schedule '{name}' names no warehouse or no resource.",
            advice="Set warehouse and resource_uuid in its row of push_schedules.",
        )
    flow, now = Flow(row.flow), datetime.now(UTC)
    _wait_while_stopped(runtime, now)
    receiver = HttpReceiver(
        key_id=runtime.secrets.resolve(str(row.key_id)).reveal(),
        token=runtime.secrets.resolve(str(row.key_token)),
        endpoint=row.endpoint or INGEST_ENDPOINT,
    )
    last = pushes.last_arrived(runtime.journal, row.resource_uuid, flow.value, receiver.address)
    if last is not None and last.started_at is not None and now < last.started_at + pushes.EVERY:
        at = last.started_at + pushes.EVERY
        raise TryAgain(at, f"the last push was within the hour; this one waits until {at:%H:%M}")
    try:
        return _collect_and_push(runtime, row, receiver, flow, last, now)
    except GoldsmithError as error:
        if not error.transient:
            raise
        raise TryAgain(now + _WAIT, f"{error} [{error.code}]") from error


def _collect_and_push(
    runtime: Runtime,
    row: PushSchedule,
    receiver: HttpReceiver,
    flow: Flow,
    last: Any,
    now: datetime,
) -> str:
    look_back = timedelta(hours=row.look_back_hours)
    if last is not None and last.started_at is not None:
        look_back = min(max(look_back, now - last.started_at), max(_LONGEST_LOOK_BACK, look_back))
    file = _manifest_file(runtime, row)
    own = row.warehouse == OWN
    collected = collect(
        CollectRequest(
            warehouse="iceberg" if own else str(row.warehouse),
            flow=flow,
            resource_uuid=str(row.resource_uuid),
            resource_type=row.resource_type,
            settings={name: str(value) for name, value in row.connection.items()},
            patterns=TablePatterns(row.include, row.exclude),
            only_volume=row.only_volume,
            look_back=look_back,
        ),
        file,
        runtime.secrets,
        now=now,
        connection=_own_lake(runtime) if own else None,
    )
    gaps = f"; {len(collected.gaps)} gaps" if collected.gaps else ""
    # Collecting takes time: a stop that came meanwhile holds.
    _wait_while_stopped(runtime, datetime.now(UTC))
    if collected.items == 0:
        return f"there is nothing to push{gaps}"
    done = push(
        manifests.read(file),
        receiver,
        runtime.journal,
        requested_by=f"schedule:{row.push_schedule_id}",
    )
    ids = ", ".join(done.invocation_ids[:3])
    return f"pushed {done.items:,} items of {flow.value}, invocation ids {ids}{gaps}"


def _wait_while_stopped(runtime: Runtime, now: datetime) -> None:
    """Raise TryAgain while the flag `everything` stops all work."""
    stops = Stops.of(runtime.catalog.snapshot().table(Flag).values(), now)
    flag = stops.by_entity.get((FlagScope.EVERYTHING.value, "*"))
    if flag is not None:
        raise TryAgain(now + _LOOK_AGAIN, stop_text(flag))


def _manifest_file(runtime: Runtime, row: PushSchedule) -> Path:
    folder = Path(runtime.settings.project) / ".goldsmith" / "pushes"
    folder.mkdir(parents=True, exist_ok=True)
    safe = "".join(
        letter if letter.isalnum() or letter in "-_" else "_" for letter in row.push_schedule_id
    )
    return folder / f"{safe[:100]}.json"


def _own_lake(runtime: Runtime) -> Any:
    """The catalog of our own lake, which the runtime closes."""
    lake = runtime.storage.lake() if metadata_files(runtime.storage) else None
    if lake is None:
        return SimpleNamespace(name=OWN, list_namespaces=lambda *_: [], close=lambda: None)
    return _OpenLake(lake)


class _OpenLake:
    """A catalog that stays open: the runtime uses it further."""

    def __init__(self, lake: Any) -> None:
        self._lake = lake

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lake, name)

    def close(self) -> None:
        """Leave it open."""
