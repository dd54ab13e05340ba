"""Moving: where a request goes after an attempt, and what the next one does otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.healing.failure import Do, Failure
from goldsmith.healing.heal import Healed
from goldsmith.journal import requests
from goldsmith.journal.clock import read_clock
from goldsmith.journal.tables import Request, Run, RunStatus, StageRun
from goldsmith.runtime import Runtime
from goldsmith.scheduling.resuming import HEALING, Resumed

_FINE = (RunStatus.SUCCEEDED, RunStatus.SKIPPED)


def move(
    runtime: Runtime,
    request: Request,
    ended: Sequence[Run],
    tries: Sequence[StageRun],
    healed: Sequence[tuple[Failure, Healed]],
    worker: str,
    connection: sa.Connection,
) -> Request:
    """Put the request where it belongs now."""
    journal, ids = runtime.journal, [run.run_id for run in ended]
    before = Resumed.of(request)
    again = [(failure, made) for failure, made in healed if made.decision.do is not Do.HOLD]
    held = [*before.held, *(f.stage_id for f, m in healed if m.decision.do is Do.HOLD)]
    going_on = [one for one in tries if _has_more(one, before)]
    if again or going_on:
        adjust = {name: dict(said) for name, said in before.adjust.items()}
        for failure, made in again:
            adjust[failure.stage_id] = _merged(
                adjust.get(failure.stage_id, {}), made.decision.adjust
            )
        wait = max((made.after for _failure, made in again), default=timedelta())
        stages = _stages_again(tries, again, going_on) or list(before.stages)
        return requests.requeue(
            journal,
            request.request_id,
            _because(again, going_on),
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
    how = requests.How(because=why, run_ids=ids, worker=worker, connection=connection)
    stopped = next((one for one in tries if one.status == RunStatus.STOPPED), None)
    if stopped is not None:
        # Released, all of it is looked at again; what was published has nothing new to do.
        how["because"] = stopped.because
        return requests.stopped(journal, request.request_id, **how)
    return requests.failed(journal, request.request_id, **how)


def _has_more(stage_run: StageRun, before: Resumed) -> bool:
    """It read a part of its new files: the others come next, until there are none."""
    said = before.adjust.get(f"{stage_run.pipeline_id}-{stage_run.stage_order}", {})
    return stage_run.status == RunStatus.SUCCEEDED and said.get("files_at_once") is not None


def _stages_again(
    tries: Sequence[StageRun],
    again: Sequence[tuple[Failure, Healed]],
    going_on: Sequence[StageRun],
) -> list[str]:
    """What failed and is tried again, what was blocked by it, and what reads on."""
    named = {f"{one.pipeline_id}-{one.stage_order}": one for one in tries}
    if going_on:
        held = {name for name, one in named.items() if one.status == RunStatus.FAILED}
        return [n for n in named if n not in held or n in {f.stage_id for f, _ in again}]
    wanted = {failure.stage_id for failure, _made in again}
    held_up = (RunStatus.BLOCKED, RunStatus.STOPPED)
    blocked = {name for name, one in named.items() if one.status in held_up}
    return [name for name in named if name in wanted | blocked]


def _merged(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    both = {**before, **more}
    # Starting anew was for one attempt.
    both["fresh"] = bool(more.get("fresh"))
    if before.get("spark") and more.get("spark"):
        both["spark"] = {**before["spark"], **more["spark"]}
    return {name: value for name, value in both.items() if value not in (None, False)}


def _because(again: Sequence[tuple[Failure, Healed]], going_on: Sequence[StageRun]) -> str:
    said = [f"{f.stage_id} failed ({f.code}): {m.decision.because}" for f, m in again]
    said += [f"{one.pipeline_id}-{one.stage_order} reads its next files" for one in going_on]
    return "; ".join(said)
