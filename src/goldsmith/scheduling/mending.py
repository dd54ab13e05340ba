"""Mending: how a request ended is written down, and what failed is decided about.

One transaction holds all of it: what remedies were used, what the next attempt does otherwise,
when it is due. Healing itself acts on nothing: its decision is the request, waiting again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.engine import faults
from goldsmith.errors import GoldsmithError
from goldsmith.healing.budget import Limits
from goldsmith.healing.failure import Do, Failure
from goldsmith.healing.heal import Healed, Known, heal
from goldsmith.healing.pairs import all_pairs
from goldsmith.healing.remedy import Outside, RemedyStopped
from goldsmith.journal import events, healing, requests, runs
from goldsmith.journal.clock import read_clock
from goldsmith.journal.events_of_healing import StageHeld
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request, Run, RunStatus, StageRun
from goldsmith.journal.tables_of_healing import FileAside, HealingUse
from goldsmith.planning.stops import why_stopped
from goldsmith.planning.survey import Survey
from goldsmith.runtime import Runtime
from goldsmith.scheduling import floors, incidents
from goldsmith.scheduling.resuming import HEALING, Resumed

_DAY = timedelta(days=1)
_FINE = (RunStatus.SUCCEEDED, RunStatus.SKIPPED)


def settle(runtime: Runtime, request: Request, ended: Sequence[Run], *, worker: str) -> Request:
    """Write down how an attempt at a request ended: it is done, tried again, or failed."""
    journal = runtime.journal
    tries = [one for run in ended for one in runs.stage_runs_of(journal, run.run_id)]
    failed = [one for one in tries if one.status == RunStatus.FAILED]
    is_trial = request.options.get("limit") is not None
    try:
        healed = [] if is_trial else _decided(runtime, request, failed)
    except RemedyStopped as stopped:
        return _stopped(runtime, request, ended, stopped.because, worker)
    faults.reach("healing-decided")
    with journal.writing() as connection:
        judged = healing.judge(journal, request.request_id, tries, connection=connection)
        for failure, made in healed:
            _write_down(runtime, failure, made, connection)
        done = _move(runtime, request, ended, tries, healed, worker, connection)
        faults.reach("healing-written")
        incidents.after_request(runtime, request, tries, healed, connection)
    floors.switch_off(runtime, judged)
    return done


def after_error(
    runtime: Runtime, request: Request, code: str, error: GoldsmithError, *, worker: str
) -> Request | None:
    """A stage broke off and its target cannot be asked: tried again, or None where it is not.

    Its try is not called a failure: whoever writes the target next settles it. Each such
    attempt counts all the same.
    """
    journal = runtime.journal
    ended = runs.recent_runs(journal, request_id=request.request_id, most=None)
    newest = [run for run in ended if run.run_id not in request.run_ids]
    tries = [one for run in newest for one in runs.stage_runs_of(journal, run.run_id)]
    broken = [
        one.with_(
            error_code=code,
            error_message=runtime.secrets.redact(str(error)),
            facts={"error": dict(error.facts)},
        )
        for one in tries
        if one.ended_at is None
    ]
    try:
        healed = _decided(runtime, request, broken)
    except RemedyStopped as stopped:
        return _stopped(runtime, request, newest, stopped.because, worker)
    if not broken or any(made.decision.do is Do.HOLD for _failure, made in healed):
        return None
    with journal.writing() as connection:
        for failure, made in healed:
            _write_down(runtime, failure, made, connection)
        # Stages that had not begun have no try yet: all of the attempt's are planned again.
        return _move(runtime, request, newest, (), healed, worker, connection)


def _stopped(
    runtime: Runtime, request: Request, ended: Sequence[Run], because: str, worker: str
) -> Request:
    """A row stopped the stage while a remedy of its was asked: a release tries it again."""
    ids = [run.run_id for run in ended]
    return requests.stopped(
        runtime.journal, request.request_id, because=because, run_ids=ids, worker=worker
    )


def _decided(
    runtime: Runtime, request: Request, failed: Sequence[StageRun]
) -> list[tuple[Failure, Healed]]:
    if not failed:
        return []
    journal, survey = runtime.journal, runtime.surveyor.survey()
    now = datetime.now(UTC)
    since = now - _DAY
    uses = healing.uses(journal, since=since)[::-1]
    times = healing.failures_in_request(journal, request.request_id)
    pairs, limits = all_pairs(survey.rows), Limits.of(survey.rows)
    decided = []
    for stage_run in failed:
        name = f"{stage_run.pipeline_id}-{stage_run.stage_order}"
        near = survey.stages.get(name)
        failure = failure_of(survey, stage_run, request, times)
        known = Known(
            pairs=pairs,
            policy=None if near is None else near.retry,
            limits=limits,
            uses=uses,
            pipeline_failures=healing.failures_since_success(
                journal, str(stage_run.pipeline_id), since
            ),
            chance=random.random(),
        )
        decided.append((failure, heal(failure, known, now, _outside(runtime, name))))
    return decided


def _outside(runtime: Runtime, stage: str) -> Outside:
    settings = runtime.settings

    def stopped() -> str | None:
        survey = runtime.surveyor.survey()
        near = survey.stages.get(stage)
        return None if near is None else why_stopped(near, survey.rows, datetime.now(UTC))

    return Outside(
        stopped=stopped,
        secrets=runtime.secrets,
        folder=settings.project,
        aws_endpoint=settings.secrets.endpoint,
        region=settings.storage.region,
    )


def failure_of(
    survey: Survey,
    stage_run: StageRun,
    request: Request,
    times: Mapping[tuple[str, int], int],
) -> Failure:
    """A failed try at a stage, as remedies see it."""
    pipeline, order = str(stage_run.pipeline_id), stage_run.stage_order or 0
    near = survey.stages.get(f"{pipeline}-{order}")
    row: dict[str, Any] = {}
    if near is not None:
        row = {**near.stage.as_file(), "read": near.words.read, "write_mode": near.words.write_mode}
    return Failure(
        code=stage_run.error_code or "Unclassified",
        message=stage_run.error_message or "",
        pipeline_id=pipeline,
        stage_order=order,
        stage_name=stage_run.stage_name,
        target_id=stage_run.target_id,
        stage=row,
        facts=stage_run.facts.get("error", {}),
        # A try that broke off counts as well, though nobody may call it failed.
        attempt=max(times.get((pipeline, order), 0), 1 if stage_run.ended_at else request.attempt),
        adjusted=Resumed.of(request).adjust.get(f"{pipeline}-{order}", {}),
        step=stage_run.step,
        request_id=request.request_id,
        run_id=stage_run.run_id,
        stage_run_id=stage_run.stage_run_id,
    )


def _write_down(
    runtime: Runtime, failure: Failure, made: Healed, connection: sa.Connection
) -> None:
    """The remedy that is used, the files it sets aside, and what becomes of the stage."""
    journal, decision = runtime.journal, made.decision
    if made.pair is not None:
        used = HealingUse(
            use_id=new_id("use"),
            error_code=made.pair.error_code,
            step_order=made.pair.step_order,
            remedy=made.pair.action,
            pipeline_id=failure.pipeline_id,
            stage_order=failure.stage_order,
            request_id=failure.request_id,
            run_id=failure.run_id,
            stage_run_id=failure.stage_run_id,
            did=decision.do.value,
            because=decision.because,
            adjust=decision.adjust,
        )
        healing.use(journal, used, connection=connection)
    for path in decision.files_aside:
        for aside in _aside(runtime, failure, path, decision.because):
            healing.set_aside(journal, aside, connection=connection)
    about: dict[str, Any] = {
        "pipeline_id": failure.pipeline_id,
        "stage_order": failure.stage_order,
        "request_id": failure.request_id,
        "run_id": failure.run_id,
        "stage_run_id": failure.stage_run_id,
        "error_code": failure.code,
        "resolution": decision.because,
    }
    if decision.do is Do.HOLD:
        journal.record(StageHeld(**about, attempt=failure.attempt), connection=connection)
    else:
        due = read_clock(connection) + made.after
        again = events.RetryScheduled(**about, attempt=failure.attempt + 1, not_before=due)
        journal.record(again, connection=connection)


def _aside(runtime: Runtime, failure: Failure, path: str, because: str) -> list[FileAside]:
    """The file as it is now, for each input of the stage it belongs to."""
    from goldsmith.planning.files import list_files

    near = runtime.surveyor.survey().stages.get(failure.stage_id)
    found = []
    for dataset in near.inputs if near is not None else ():
        location = dataset.location or ""
        if path.startswith(location.rstrip("/")):
            found += [
                FileAside(
                    dataset_id=dataset.dataset_id,
                    path=path,
                    etag=file.etag,
                    size=file.size,
                    error_code=failure.code,
                    because=because,
                    stage_run_id=failure.stage_run_id,
                )
                for file in list_files(location, runtime.places)
                if file.path == path
            ]
    return found


def _move(
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
                HEALING: {"stages": stages, "adjust": adjust, "held": held},
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
