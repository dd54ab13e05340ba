"""Mending: how a request ended is written down, and what failed is decided about.

One transaction holds all of it: what remedies were used, what the next attempt does otherwise,
when it is due. Healing itself acts on nothing: its decision is the request, waiting again.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.retries import RetryPolicy
from goldsmith.engine import faults
from goldsmith.errors import GoldsmithError
from goldsmith.healing.budget import Limits
from goldsmith.healing.failure import Decision, Do, Failure
from goldsmith.healing.heal import Healed, Known, heal
from goldsmith.healing.pairs import all_pairs
from goldsmith.healing.remedy import Outside, RemedyStopped
from goldsmith.journal import events, healing, requests, runs
from goldsmith.journal.clock import read_clock
from goldsmith.journal.events_of_healing import StageHeld
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request, Run, RunStatus, StageRun
from goldsmith.journal.tables_of_healing import FileAside, HealingUse
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.planning.stops import why_stopped
from goldsmith.planning.survey import Survey
from goldsmith.runtime import Runtime
from goldsmith.scheduling import floors, incidents
from goldsmith.scheduling.moving import move
from goldsmith.scheduling.resuming import HEALING, Resumed

_DAY = timedelta(days=1)
#: The code of a stage whose worker died.
WORKER_LOST = "WorkerLost"


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
        done = move(runtime, request, ended, tries, healed, worker, connection)
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
        return move(runtime, request, newest, (), healed, worker, connection)


def after_death(runtime: Runtime, request: Request) -> Request:
    """The worker of a request died: it waits again, unless it has cost too many workers.

    A death counts as a try of the stages that were under way; of a request whose stages have no
    retry policy so many are borne as `healing_limits` says.
    """
    journal, survey = runtime.journal, runtime.surveyor.survey()
    begun = runs.recent_runs(journal, request_id=request.request_id, most=None)
    left = [run for run in begun if run.ended_at is None]
    tries = [one for run in left for one in runs.stage_runs_of(journal, run.run_id)]
    lost = [
        one.with_(error_code=WORKER_LOST, error_message="the worker died under way")
        for one in tries
        if one.ended_at is None
    ]
    deaths, most = Resumed.of(request).deaths + 1, Limits.of(survey.rows).worker_deaths
    borne = RetryPolicy(retry_id="worker_deaths", max_retries=most)
    try:
        healed = _decided(runtime, request, lost, unless_said=borne)
    except RemedyStopped as stopped:
        return _stopped(runtime, request, (), stopped.because, str(request.worker))
    because = "its worker died" + (f" {deaths} times" if deaths > 1 else "")
    if not healed and deaths > most:
        hold = Healed(decision=Decision(do=Do.HOLD, because=because))
        healed = [(_blamed(survey, request), hold)]
    with journal.writing() as connection:
        for run in left:
            ended = events.RunInterrupted(because="its process died")
            runs.finish_run(journal, run.run_id, ended, connection=connection)
        for failure, made in healed:
            _write_down(runtime, failure, replace(made, after=timedelta()), connection)
        if any(made.decision.do is Do.HOLD for _failure, made in healed):
            incidents.after_request(runtime, request, (), healed, connection)
            return requests.failed(
                journal,
                request.request_id,
                because=f"{because} [{WORKER_LOST}]",
                worker=request.worker,
                connection=connection,
            )
        said = {**request.options.get(HEALING, {}), "deaths": deaths}
        return requests.requeue(
            journal,
            request.request_id,
            because,
            attempt=request.attempt + 1,
            options={**request.options, HEALING: said},
            worker=request.worker,
            connection=connection,
        )


def _blamed(survey: Survey, request: Request) -> Failure:
    """The first stage of a request that never gets as far as a stage."""
    names: Sequence[str] = ()
    with contextlib.suppress(NothingSelected):
        names = select(survey, Resumed.of(request).selection)
    pipeline, _, order = (names[0] if names else "").rpartition("-")
    return Failure(
        code=WORKER_LOST,
        message="the worker died before any stage began",
        pipeline_id=pipeline,
        stage_order=int(order or 0),
        attempt=request.attempt,
        request_id=request.request_id,
    )


def _stopped(
    runtime: Runtime, request: Request, ended: Sequence[Run], because: str, worker: str
) -> Request:
    """A row stopped the stage while a remedy of its was asked: a release tries it again."""
    ids = [run.run_id for run in ended]
    return requests.stopped(
        runtime.journal, request.request_id, because=because, run_ids=ids, worker=worker
    )


def _decided(
    runtime: Runtime,
    request: Request,
    failed: Sequence[StageRun],
    *,
    unless_said: RetryPolicy | None = None,
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
            policy=(None if near is None else near.retry) or unless_said,
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
