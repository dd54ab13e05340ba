"""Routes of requests: ask for a run, see the queue, cancel what waits."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from goldsmith.api.access import Caller, OpenRuntime, Operator, Viewer
from goldsmith.api.models import RequestBody
from goldsmith.api.repeats import ActOnce
from goldsmith.journal import requests
from goldsmith.journal.tables import Request, RequestStatus
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.runtime import Runtime
from goldsmith.worker import loop

router = APIRouter(prefix="/requests", tags=["requests"])


class RunOrder(RequestBody):
    """What to run."""

    selection: list[str] = Field(
        min_length=1,
        max_length=1000,
        examples=[["orders"]],
        description="Selections as on the command line: pipelines, `+x`, `tag:`, `layer:` …",
    )
    full_refresh: bool = Field(default=False, description="Read everything again.")
    yes: bool = Field(default=False, description="Lose the rows of files that are gone.")


@router.get("")
def list_requests(
    caller: Viewer, runtime: OpenRuntime, status: RequestStatus = RequestStatus.WAITING
) -> list[dict[str, Any]]:
    """The requests with a status, oldest first; those that wait say why."""
    found = requests.with_status(runtime.journal, status, most=1000)
    allowed = caller.pipelines(runtime)
    return [
        request.as_plain()
        for request in found
        if allowed is None or ((names := pipelines_of(runtime, request)) and names <= allowed)
    ]


@router.post("", status_code=202)
def request_run(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, body: RunOrder
) -> dict[str, Any]:
    """Ask for a run. A worker takes the request when the gates are open."""
    _check(caller, runtime, body.selection)
    if body.full_refresh and not body.yes:
        loop.refuse_gone_files(runtime, body.selection)
    options = {"full_refresh": body.full_refresh}

    def act() -> dict[str, Any]:
        return loop.submit_request(runtime, body.selection, options, caller.owner).as_plain()

    return once(caller, act, status=202)


@router.get("/{request_id}")
def show_request(caller: Viewer, runtime: OpenRuntime, request_id: str) -> dict[str, Any]:
    """One request: its status, the reason, and the runs it led to."""
    found = requests.get(runtime.journal, request_id)
    caller.check(runtime, sorted(pipelines_of(runtime, found)) or [None])
    return found.as_plain()


@router.delete("/{request_id}")
def cancel(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, request_id: str
) -> dict[str, Any]:
    """Cancel a request that does not run; a running one has to be stopped."""
    found = requests.get(runtime.journal, request_id)
    caller.check(runtime, sorted(pipelines_of(runtime, found)) or [None])

    def act() -> dict[str, Any]:
        because = f"cancelled by {caller.owner}"
        ended = requests.cancel(runtime.journal, request_id, because=because, actor=caller.owner)
        return ended.as_plain()

    return once(caller, act)


def _check(caller: Caller, runtime: Runtime, selection: list[str]) -> None:
    catalog_index = runtime.catalog_indexer.catalog_index()
    stages = select(catalog_index, selection)
    caller.check(
        runtime, sorted({catalog_index.stages[stage].stage.pipeline_id for stage in stages})
    )


def pipelines_of(runtime: Runtime, request: Request) -> frozenset[str]:
    """The pipelines a request reaches now; empty if its selection names nothing any more."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    try:
        stages = select(catalog_index, request.selection)
    except NothingSelected:
        return frozenset(request.pipelines)
    return frozenset(catalog_index.stages[stage].stage.pipeline_id for stage in stages)
