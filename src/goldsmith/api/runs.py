"""Routes of runs: list, show, logs, and retry."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from goldsmith import logs
from goldsmith.api.access import OpenRuntime, Operator, Viewer
from goldsmith.api.models import Page, RequestBody, model_of
from goldsmith.api.paging import Cursor, Limit, page, position_of
from goldsmith.api.repeats import ActOnce
from goldsmith.journal import healing, runs, verdicts
from goldsmith.journal.tables import Run, RunStatus, StageRun, Verdict
from goldsmith.planning.selection import select
from goldsmith.worker import loop

router = APIRouter(prefix="/runs", tags=["runs"])

RunModel = model_of(Run)
StageRunModel = model_of(StageRun)
VerdictModel = model_of(Verdict)


@router.get("", response_model=Page[RunModel])  # type: ignore[valid-type]
def list_runs(
    caller: Viewer,
    runtime: OpenRuntime,
    pipeline: Annotated[str | None, Query(max_length=300)] = None,
    status: RunStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Any:
    """Runs, newest first."""
    if pipeline is not None:
        caller.check(runtime, [pipeline])
    before = position_of(cursor, datetime.fromisoformat, str)
    found = runs.recent_runs(
        runtime.journal,
        pipeline_id=pipeline,
        pipelines=caller.pipelines(runtime),
        status=None if status is None else status.value,
        before=None if before is None else (before[0], before[1]),
        most=limit + 1,
    )
    return page(found, limit, Run.as_plain, lambda run: [run.started_at, run.run_id])


@router.get("/{run_id}")
def show_run(caller: Viewer, runtime: OpenRuntime, run_id: str) -> dict[str, Any]:
    """A run with its stage runs, the verdicts of its checks and the remedies used."""
    found = runs.run(runtime.journal, run_id)
    caller.check(runtime, [found.pipeline_id])
    return {
        **found.as_plain(),
        "remedies": healing.remedy_sentences(runtime.journal, run_id),
        "stage_runs": [run.as_plain() for run in runs.stage_runs_of(runtime.journal, run_id)],
        "verdicts": [verdict.as_plain() for verdict in verdicts.of_run(runtime.journal, run_id)],
    }


@router.get("/{run_id}/events", response_model=Page[dict[str, Any]])
def events_of(
    caller: Viewer, runtime: OpenRuntime, run_id: str, limit: Limit = 200, cursor: Cursor = None
) -> Any:
    """The events of a run, oldest first."""
    caller.check(runtime, [runs.run(runtime.journal, run_id).pipeline_id])
    after = position_of(cursor, int)
    found = runtime.journal.read(
        run_id=run_id, since_event_id=0 if after is None else after[0], most=limit + 1
    )
    return page(found, limit, lambda event: event.as_plain(), lambda event: [event.event_id])


@router.get("/{run_id}/logs")
def logs_of(caller: Viewer, runtime: OpenRuntime, run_id: str) -> list[dict[str, Any]]:
    """The log lines of a run; each has a number for links to it."""
    found = runs.run(runtime.journal, run_id)
    caller.check(runtime, [found.pipeline_id])
    lines = logs.read(runtime.log_file)
    mine = [line for line in lines if line["facts"].get("run_id") == run_id]
    return [{"line": number, **line} for number, line in enumerate(mine, start=1)]


class Retry(RequestBody):
    """From which stage to run again."""

    from_stage: int | None = Field(default=None, ge=0, description="Start at this stage_order.")


@router.post("/{run_id}/retry", status_code=202)
def retry(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, run_id: str, body: Retry
) -> dict[str, Any]:
    """Ask for another run of a run's pipeline, with the current catalog."""
    found = runs.run(runtime.journal, run_id)
    caller.check(runtime, [found.pipeline_id])
    stages = runtime.catalog.snapshot().stages_of.get(str(found.pipeline_id), ())
    selection = [
        f"stage:{stage.pipeline_id}-{stage.stage_order}"
        for stage in stages
        if body.from_stage is None or stage.stage_order >= body.from_stage
    ] or [f"stage:{found.pipeline_id}-{body.from_stage or 1}"]
    select(runtime.catalog_indexer.catalog_index(), selection)

    def act() -> dict[str, Any]:
        return loop.submit_request(runtime, selection, {}, caller.owner).as_plain()

    return once(caller, act, status=202)
