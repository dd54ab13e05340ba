"""Decide the status of a request after an attempt, and the overrides of the next attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.healing.failure import DecisionKind, Failure
from goldsmith.healing.heal import Healed
from goldsmith.journal import requests
from goldsmith.journal.clock import read_clock
from goldsmith.journal.tables import FILES_LEFT, Request, Run, RunStatus, StageRun
from goldsmith.runtime import Runtime
from goldsmith.worker.retry_state import HEALING, RetryState

_FINE = (RunStatus.SUCCEEDED, RunStatus.SKIPPED)


def decide_next_state(
    runtime: Runtime,
    request: Request,
    ended: Sequence[Run],
    stage_runs: Sequence[StageRun],
    healed: Sequence[tuple[Failure, Healed]],
    worker: str,
    connection: sa.Connection,
) -> Request:
    """Requeue, stop, fail or complete the request."""
    journal, ids = runtime.journal, [run.run_id for run in ended]
    before = RetryState.of(request)
    again = [
        (failure, result)
        for failure, result in healed
        if result.decision.do is not DecisionKind.HOLD
    ]
    held = [*before.held, *(f.stage_id for f, m in healed if m.decision.do is DecisionKind.HOLD)]
    with_more_files = [stage_run for stage_run in stage_runs if _has_more(stage_run)]
    if again or with_more_files:
        adjust = {name: dict(overrides) for name, overrides in before.adjust.items()}
        for failure, result in again:
            adjust[failure.stage_id] = _merged(
                adjust.get(failure.stage_id, {}), result.decision.adjust
            )
        wait = max((result.after for _failure, result in again), default=timedelta())
        stages = _stages_again(stage_runs, again, with_more_files) or list(before.stages)
        return requests.requeue(
            journal,
            request.request_id,
            _because(again, with_more_files),
            not_before=read_clock(connection) + wait if wait else None,
            attempt=request.attempt + (1 if again else 0),
            after_run_id=ids[0] if ids else None,
            options={
                **request.options,
                HEALING: {
                    "stages": stages,
                    "adjust": adjust,
                    "held": held,
                    "deaths": before.deaths,
                },
            },
            pipelines=sorted({str(run.pipeline_id) for run in ended}),
            run_ids=ids,
            worker=worker,
            connection=connection,
        )
    bad = next((run for run in ended if run.status not in _FINE), None)
    if bad is None and not held:
        return requests.done(
            journal, request.request_id, run_ids=ids, worker=worker, connection=connection
        )
    why = f"held: {', '.join(held)}" if bad is None else bad.error_message or bad.because
    how = requests.RequestEnd(because=why, run_ids=ids, worker=worker, connection=connection)
    stopped = next(
        (stage_run for stage_run in stage_runs if stage_run.status == RunStatus.STOPPED), None
    )
    if stopped is not None:
        # After a release all stages are planned again; published stages find nothing new.
        how["because"] = stopped.because
        return requests.stopped(journal, request.request_id, **how)
    return requests.failed(journal, request.request_id, **how)


def _has_more(stage_run: StageRun) -> bool:
    """Whether the stage run left new files for the next attempt."""
    return stage_run.status == RunStatus.SUCCEEDED and bool(stage_run.facts.get(FILES_LEFT))


def _stages_again(
    stage_runs: Sequence[StageRun],
    again: Sequence[tuple[Failure, Healed]],
    with_more_files: Sequence[StageRun],
) -> list[str]:
    """The stages of the next attempt: retried, blocked by them, or with files left to read."""
    named = {
        f"{stage_run.pipeline_id}-{stage_run.stage_order}": stage_run for stage_run in stage_runs
    }
    if with_more_files:
        held = {name for name, stage_run in named.items() if stage_run.status == RunStatus.FAILED}
        return [n for n in named if n not in held or n in {f.stage_id for f, _ in again}]
    wanted = {failure.stage_id for failure, _made in again}
    held_up = (RunStatus.BLOCKED, RunStatus.STOPPED)
    blocked = {name for name, stage_run in named.items() if stage_run.status in held_up}
    return [name for name in named if name in wanted | blocked]


def _merged(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    both = {**before, **more}
    # `fresh` reopens Spark and connections for one attempt only.
    both["fresh"] = bool(more.get("fresh"))
    # A rate is lowered once for each refusal.
    both["lower_rate"] = more.get("lower_rate")
    if before.get("spark") and more.get("spark"):
        both["spark"] = {**before["spark"], **more["spark"]}
    return {name: value for name, value in both.items() if value not in (None, False)}


def _because(again: Sequence[tuple[Failure, Healed]], with_more_files: Sequence[StageRun]) -> str:
    reasons = [f"{f.stage_id} failed ({f.code}): {m.decision.because}" for f, m in again]
    reasons += [
        f"{stage_run.pipeline_id}-{stage_run.stage_order} reads its next files"
        for stage_run in with_more_files
    ]
    return "; ".join(reasons)
