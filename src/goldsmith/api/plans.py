"""Routes of plans and reasons: what would run, the status of everything, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from goldsmith.api.access import OpenRuntime, Viewer, ViewerOfAll
from goldsmith.journal import runs
from goldsmith.journal.reasons import why
from goldsmith.journal.status_screen import status_screen
from goldsmith.planning import planner
from goldsmith.planning.explain import as_plain
from goldsmith.planning.selection import select

router = APIRouter(tags=["status"])


@router.get("/status")
def status(
    caller: ViewerOfAll, runtime: OpenRuntime, most: Annotated[int, Query(ge=1, le=200)] = 20
) -> dict[str, Any]:
    """What runs, waits, failed last and is stopped."""
    return status_screen(runtime.catalog_url, most=most).as_plain()


@router.get("/plan")
def plan(
    caller: Viewer,
    runtime: OpenRuntime,
    selection: Annotated[list[str] | None, Query(max_length=1000)] = None,
) -> dict[str, Any]:
    """What would run and why, from the rows as they are; inputs are not looked at."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    stages = select(catalog_index, selection or [])
    caller.check(runtime, sorted({catalog_index.stages[name].stage.pipeline_id for name in stages}))
    made = planner.plan(
        catalog_index,
        selection or [],
        now=datetime.now(UTC),
        environment=runtime.settings.environment,
        expected=runs.expected(runtime.journal),
    )
    return as_plain(made, runtime.storage.address)


@router.get("/why")
def explain(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    entity: Annotated[str, Query(max_length=600, examples=["pipeline:orders"])],
) -> dict[str, Any]:
    """Why something runs, waits, was stopped, failed, is blocked or never ran."""
    return why(runtime.catalog_url, entity).as_plain()
