"""Stop and release things by rows of `control_flags`, with the blast radius shown first."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.flags import Flag
from goldsmith.journal import requests, stage_runs
from goldsmith.journal.owners import is_gone
from goldsmith.journal.tables import RequestStatus
from goldsmith.planning import blast_radius
from goldsmith.planning.blast_radius import BlastRadius
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.runtime import Runtime
from goldsmith.worker import requeue
from goldsmith.worker.retry_state import RetryState


@dataclass(frozen=True, kw_only=True, slots=True)
class StopOrder:
    """What somebody wants to stop."""

    entity: str
    actor: str
    reason: str | None = None
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StopReach:
    """What a stop reaches: the stages, those that run now, and what depends on them."""

    entity: str
    until: datetime | None
    blast_radius: BlastRadius
    #: Stages that run now.
    running: tuple[str, ...]
    #: Pipelines that a worker has taken and that run no stage at the moment.
    starting: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        return {
            "entity": self.entity,
            "until": None if self.until is None else self.until.isoformat(),
            "running_stages": list(self.running),
            "starting": list(self.starting),
            **self.blast_radius.as_plain(),
        }


def reach(runtime: Runtime, order: StopOrder) -> StopReach:
    """What a stop would reach."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    flag = _flag(catalog_index, order)
    found = blast_radius.blast_radius_of(catalog_index, [flag], datetime.now(UTC))
    running = _running(runtime, found.stages)
    return StopReach(
        entity=f"{flag.entity_type}:{flag.entity_id}",
        until=order.until,
        blast_radius=found,
        running=running,
        starting=_starting(runtime, catalog_index, found.stages, running),
    )


def stop(runtime: Runtime, order: StopOrder) -> int:
    """Write the flag; returns the catalog's revision. Running stages stop within seconds."""
    flag = _flag(runtime.catalog_indexer.catalog_index(), order)
    reason = order.reason or f"stop {order.entity}"
    with runtime.catalog.change(actor=order.actor, reason=reason) as change:
        change.put([flag])
    return runtime.catalog.revision()


def release(runtime: Runtime, entity: str, *, reason: str | None, actor: str) -> list[str] | None:
    """Release a stop and requeue what it stopped; None if no flag stopped it."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    scope, name = blast_radius.entity(catalog_index, entity)
    flag = catalog_index.rows.get(Flag, scope, name, "enabled")
    if flag is None or flag.flag_value:
        return None
    with runtime.catalog.change(actor=actor, reason=reason or f"release {entity}") as change:
        free = flag.with_(flag_value=True, reason=reason, starts_at=None, ends_at=None)
        change.put([free.with_(updated_at=datetime.now(UTC), updated_by=actor)])
    return [request.request_id for request in requeue.requeue_released_requests(runtime)]


def _flag(catalog_index: CatalogIndex, order: StopOrder) -> Flag:
    scope, name = blast_radius.entity(catalog_index, order.entity)
    return Flag(
        entity_type=scope,
        entity_id=name,
        flag_name="enabled",
        flag_value=False,
        reason=order.reason,
        ends_at=order.until,
        updated_at=datetime.now(UTC),
        updated_by=order.actor,
    )


def _running(runtime: Runtime, stages: tuple[str, ...]) -> tuple[str, ...]:
    """Which of these stages run right now."""
    wanted = set(stages)
    names = (f"{run.pipeline_id}-{run.stage_order}" for run in stage_runs.running(runtime.journal))
    return tuple(name for name in names if name in wanted)


def _starting(
    runtime: Runtime, catalog_index: CatalogIndex, stages: tuple[str, ...], running: tuple[str, ...]
) -> tuple[str, ...]:
    """Pipelines of requests that a worker has taken and that run no stage at the moment."""
    busy = {name.rpartition("-")[0] for name in running}
    wanted = set(stages)
    found: dict[str, None] = {}
    for request in requests.with_status(runtime.journal, RequestStatus.RUNNING):
        if is_gone(request.worker):
            continue
        with contextlib.suppress(NothingSelected):
            for name in select(catalog_index, RetryState.of(request).selection):
                pipeline = catalog_index.stages[name].stage.pipeline_id
                if name in wanted and pipeline not in busy:
                    found[f"{pipeline} ({request.request_id})"] = None
    return tuple(found)
