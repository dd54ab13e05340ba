"""Routes of schedules: when pipelines start by themselves, pause and resume."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from goldsmith.api.access import OpenRuntime, Operator, Viewer
from goldsmith.api.models import Page, RequestBody
from goldsmith.api.paging import Cursor, Limit, page_by_key
from goldsmith.api.repeats import ActOnce
from goldsmith.service import schedule_view

router = APIRouter(prefix="/schedules", tags=["schedules"])


class PauseBody(RequestBody):
    """Why a schedule is paused."""

    reason: str = Field(min_length=1, max_length=2000, description="Why, for whoever asks.")


class ResumeBody(RequestBody):
    """Why a schedule is resumed."""

    reason: str | None = Field(default=None, max_length=2000)


@router.get("", response_model=Page[dict[str, Any]])
def list_schedules(
    caller: Viewer, runtime: OpenRuntime, limit: Limit = 200, cursor: Cursor = None
) -> Any:
    """Every schedule: its next start, its last, and whether it is paused.

    A limited key sees the schedules of its pipelines, none of upkeep.
    """
    allowed = caller.pipelines(runtime)
    subjects = None if allowed is None else {f"pipeline:{name}" for name in allowed}
    found = [
        row
        for row in schedule_view.listed_schedules(runtime)
        if subjects is None or row["subject"] in subjects
    ]
    return page_by_key(found, lambda row: str(row["subject"]), cursor, limit)


@router.get("/{pipeline}/next")
def list_next_starts(
    caller: Viewer,
    runtime: OpenRuntime,
    pipeline: str,
    most: Annotated[int, Query(ge=1, le=1000)] = 10,
) -> list[str]:
    """The next starts of a pipeline in UTC; none if it starts after another."""
    caller.check(runtime, [pipeline])
    _schedule, starts = schedule_view.next_starts(runtime, pipeline, most)
    return [start.isoformat() for start in starts]


@router.post("/{pipeline}/pause")
def pause(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, pipeline: str, body: PauseBody
) -> dict[str, Any]:
    """Pause a pipeline's schedule: due starts are left out; requests still run."""
    caller.check(runtime, [pipeline])

    def act() -> dict[str, Any]:
        return schedule_view.set_paused(
            runtime, pipeline, True, actor=caller.owner, reason=body.reason
        )

    return once(caller, act)


@router.post("/{pipeline}/resume")
def resume(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, pipeline: str, body: ResumeBody
) -> dict[str, Any]:
    """Resume a paused schedule; starts that were left out are not caught up."""
    caller.check(runtime, [pipeline])

    def act() -> dict[str, Any]:
        return schedule_view.set_paused(
            runtime, pipeline, False, actor=caller.owner, reason=body.reason
        )

    return once(caller, act)
