"""Routes of the kill switch: what is stopped, the blast radius, stop and release."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from goldsmith.api.access import Caller, OpenRuntime, Operator, Viewer
from goldsmith.api.models import RequestBody
from goldsmith.api.repeats import ActOnce
from goldsmith.catalog.flags import Flag
from goldsmith.planning import blast_radius
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.runtime import Runtime
from goldsmith.worker import stops

router = APIRouter(prefix="/flags", tags=["flags"])


class StopBody(RequestBody):
    """What to stop, why, and until when."""

    entity: str = Field(
        max_length=600,
        examples=["pipeline:orders"],
        description="everything, pipeline:ID, stage:ID-ORDER, source:ID or target:ID.",
    )
    reason: str = Field(min_length=1, max_length=2000, description="Why, for the people on call.")
    until: datetime | None = Field(default=None, description="When the stop ends by itself.")
    dry_run: bool = Field(default=False, description="Only show the blast radius.")


class ReleaseBody(RequestBody):
    """What to release, and why."""

    entity: str = Field(max_length=600, examples=["pipeline:orders"])
    reason: str | None = Field(default=None, max_length=2000)


@router.get("")
def list_flags(caller: Viewer, runtime: OpenRuntime, all: bool = False) -> list[dict[str, Any]]:
    """What is stopped, by whom, why and until when; with `all` also flags that stop nothing."""
    now = datetime.now(UTC)
    rows = runtime.catalog_indexer.catalog_index().rows.rows(Flag)
    found = sorted(
        (flag for flag in rows if all or flag.stops(now)),
        key=lambda flag: (flag.entity_type, flag.entity_id, flag.flag_name),
    )
    return [{**flag.as_plain(), "stops": flag.stops(now)} for flag in found]


@router.post("/stop")
def stop(caller: Operator, runtime: OpenRuntime, once: ActOnce, body: StopBody) -> dict[str, Any]:
    """Stop something, running or not; `dry_run` shows what that reaches."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    _check(caller, runtime, catalog_index, body.entity)
    order = stops.StopOrder(
        entity=body.entity, reason=body.reason, until=body.until, actor=caller.owner
    )
    reached = stops.reach(runtime, order)
    if body.dry_run:
        return {**reached.as_plain(), "stopped": False}
    return once(
        caller,
        lambda: {**reached.as_plain(), "stopped": True, "revision": stops.stop(runtime, order)},
    )


@router.post("/release")
def release(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, body: ReleaseBody
) -> dict[str, Any]:
    """Release a stop; stopped requests wait again."""
    _check(caller, runtime, runtime.catalog_indexer.catalog_index(), body.entity)

    def act() -> dict[str, Any]:
        released = stops.release(runtime, body.entity, reason=body.reason, actor=caller.owner)
        return {"entity": body.entity, "released": released is not None, "requests": released or []}

    return once(caller, act)


def _check(caller: Caller, runtime: Runtime, catalog_index: CatalogIndex, entity: str) -> None:
    """A limited key may stop and release only pipelines and stages of its own."""
    scope, name = blast_radius.entity(catalog_index, entity)
    if scope == "pipeline":
        caller.check(runtime, [name])
    elif scope == "stage":
        caller.check(runtime, [catalog_index.stages[name].stage.pipeline_id])
    else:
        caller.check(runtime, [None])
