"""Record how a request ended and decide the retry of its failed stages.

One transaction writes the remedies used, the overrides of the next attempt and its due time.
Healing runs nothing itself: its decision is the requeued request.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.edges import Edge
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.engine import faults
from goldsmith.errors import GoldsmithError, plain_facts
from goldsmith.healing.budget import Limits
from goldsmith.healing.failure import Decision, DecisionKind, Failure
from goldsmith.healing.heal import Healed, HealingHistory, heal
from goldsmith.healing.pairs import Pair, all_pairs
from goldsmith.healing.remedy import RemedyContext, RemedyStopped
from goldsmith.journal import events, healing, health, requests, runs
from goldsmith.journal.clock import read_clock
from goldsmith.journal.healing_events import StageHeld
from goldsmith.journal.healing_tables import FileAside, HealingUse, RemedyOutcome
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request, Run, RunStatus, StageRun
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.planning.stage_context import StageContext
from goldsmith.planning.stopped import why_stopped
from goldsmith.runtime import Runtime
from goldsmith.worker import incidents, success_floor
from goldsmith.worker.next_attempt import decide_next_state
from goldsmith.worker.retry_state import HEALING, RetryState

_DAY = timedelta(days=1)
#: The error code of a stage whose worker died.
WORKER_LOST = "WorkerLost"


def record_outcome(
    runtime: Runtime, request: Request, ended: Sequence[Run], *, worker: str
) -> Request:
    """Record how an attempt at a request ended: done, requeued, stopped or failed."""
    journal = runtime.journal
    stage_runs = [
        stage_run for run in ended for stage_run in runs.stage_runs_of(journal, run.run_id)
    ]
    failed = [stage_run for stage_run in stage_runs if stage_run.status == RunStatus.FAILED]
    is_trial = request.options.get("limit") is not None
    try:
        healed = [] if is_trial else _decided(runtime, request, failed)
    except RemedyStopped as stopped:
        return _stopped(runtime, request, ended, stopped.because, worker)
    faults.reach("healing-decided")
    with journal.writing() as connection:
        judged = healing.judge(journal, request.request_id, stage_runs, connection=connection)
        for failure, result in healed:
            _write_down(runtime, failure, result, connection)
        done = decide_next_state(runtime, request, ended, stage_runs, healed, worker, connection)
        faults.reach("healing-written")
        incidents.after_request(runtime, request, stage_runs, healed, connection)
    success_floor.disable_failing_remedies(runtime, judged)
    return done


def after_error(
    runtime: Runtime, request: Request, code: str, error: GoldsmithError, *, worker: str
) -> Request | None:
    """Requeue a request whose stage broke off while its target was unreachable, or return None.

    The stage run is not recorded as failed: the next run of the target settles it. The attempt
    still counts against the retry policy.
    """
    if request.options.get("limit") is not None:
        return None  # a trial run is not retried
    journal = runtime.journal
    ended = runs.recent_runs(journal, request_id=request.request_id, most=None)
    newest = [run for run in ended if run.run_id not in request.run_ids]
    stage_runs = [
        stage_run for run in newest for stage_run in runs.stage_runs_of(journal, run.run_id)
    ]
    broken = [
        stage_run.with_(
            error_code=code,
            error_message=runtime.secrets.redact(str(error)),
            facts={"error": plain_facts(error.facts, runtime.secrets.redact)},
        )
        for stage_run in stage_runs
        if stage_run.ended_at is None
    ]
    try:
        healed = _decided(runtime, request, broken)
    except RemedyStopped as stopped:
        return _stopped(runtime, request, newest, stopped.because, worker)
    if not broken or any(result.decision.do is DecisionKind.HOLD for _failure, result in healed):
        return None
    with journal.writing() as connection:
        for failure, result in healed:
            _write_down(runtime, failure, result, connection)
        # Stages that had not started have no stage run yet: plan all stages of the attempt again.
        return decide_next_state(runtime, request, newest, (), healed, worker, connection)


def after_death(runtime: Runtime, request: Request) -> Request:
    """Requeue a request whose worker died, unless it has killed too many workers.

    A death counts as an attempt at each running stage. For stages without a retry policy,
    `healing_limits` sets how many deaths are allowed.
    """
    journal, catalog_index = runtime.journal, runtime.catalog_indexer.catalog_index()
    request_runs = runs.recent_runs(journal, request_id=request.request_id, most=None)
    left = [run for run in request_runs if run.ended_at is None]
    stage_runs = [
        stage_run for run in left for stage_run in runs.stage_runs_of(journal, run.run_id)
    ]
    lost = [
        stage_run.with_(error_code=WORKER_LOST, error_message="the worker died under way")
        for stage_run in stage_runs
        if stage_run.ended_at is None
    ]
    deaths, most = RetryState.of(request).deaths + 1, Limits.of(catalog_index.rows).worker_deaths
    death_policy = RetryPolicy(retry_id="worker_deaths", max_retries=most)
    try:
        healed = _decided(runtime, request, lost, default_policy=death_policy)
    except RemedyStopped as stopped:
        return _stopped(runtime, request, (), stopped.because, str(request.worker))
    because = "its worker died" + (f" {deaths} times" if deaths > 1 else "")
    if not healed and deaths > most:
        hold = Healed(decision=Decision(do=DecisionKind.HOLD, because=because))
        healed = [(_blamed(catalog_index, request), hold)]
    with journal.writing() as connection:
        for run in left:
            ended = events.RunInterrupted(because="its process died")
            runs.finish_run(journal, run.run_id, ended, connection=connection)
        for failure, result in healed:
            _write_down(runtime, failure, replace(result, after=timedelta()), connection)
        if any(result.decision.do is DecisionKind.HOLD for _failure, result in healed):
            incidents.after_request(runtime, request, (), healed, connection)
            return requests.failed(
                journal,
                request.request_id,
                because=f"{because} [{WORKER_LOST}]",
                worker=request.worker,
                connection=connection,
            )
        healing_options = {**request.options.get(HEALING, {}), "deaths": deaths}
        return requests.requeue(
            journal,
            request.request_id,
            because,
            attempt=request.attempt + 1,
            options={**request.options, HEALING: healing_options},
            worker=request.worker,
            connection=connection,
        )


def record_unrecorded(runtime: Runtime, request: Request) -> Request | None:
    """Record the end of a request whose runs all succeeded unrecorded; None: run it again.

    Its worker died, or lost the catalog, between the end of the runs and the record of it.
    """
    catalog_index = runtime.catalog_indexer.catalog_index()
    good = [
        run
        for run in runs.recent_runs(runtime.journal, request_id=request.request_id, most=None)
        if run.run_id not in request.run_ids
        and run.status in (RunStatus.SUCCEEDED, RunStatus.SKIPPED)
    ]
    with contextlib.suppress(NothingSelected):
        names = select(catalog_index, RetryState.of(request).selection)
        wanted = {catalog_index.stages[name].stage.pipeline_id for name in names}
        if good and wanted <= {run.pipeline_id for run in good}:
            return record_outcome(runtime, request, good, worker=str(request.worker))
    return None


def _blamed(catalog_index: CatalogIndex, request: Request) -> Failure:
    """A failure of the first selected stage, for a request whose worker died before any stage."""
    names: Sequence[str] = ()
    with contextlib.suppress(NothingSelected):
        names = select(catalog_index, RetryState.of(request).selection)
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
    """Stop a request whose stage was stopped while a remedy ran; a release requeues it."""
    ids = [run.run_id for run in ended]
    return requests.stopped(
        runtime.journal, request.request_id, because=because, run_ids=ids, worker=worker
    )


def _decided(
    runtime: Runtime,
    request: Request,
    failed: Sequence[StageRun],
    *,
    default_policy: RetryPolicy | None = None,
) -> list[tuple[Failure, Healed]]:
    if not failed:
        return []
    journal, catalog_index = runtime.journal, runtime.catalog_indexer.catalog_index()
    now = datetime.now(UTC)
    since = now - _DAY
    uses = healing.uses(journal, since=since)[::-1]
    times = healing.failures_in_request(journal, request.request_id)
    pairs, limits = all_pairs(catalog_index.rows), Limits.of(catalog_index.rows)
    decided = []
    for stage_run in failed:
        name = f"{stage_run.pipeline_id}-{stage_run.stage_order}"
        context = catalog_index.stages.get(name)
        failure = failure_of(catalog_index, stage_run, request, times)
        known = HealingHistory(
            pairs=pairs,
            policy=(None if context is None else context.retry) or default_policy,
            limits=limits,
            uses=uses,
            pipeline_failures=healing.failures_since_success(
                journal, str(stage_run.pipeline_id), since
            ),
            chance=random.random(),
        )
        decided.append((failure, heal(failure, known, now, _outside(runtime, name))))
    return decided


def _outside(runtime: Runtime, stage: str) -> RemedyContext:
    settings = runtime.settings

    def stopped() -> str | None:
        catalog_index = runtime.catalog_indexer.catalog_index()
        context = catalog_index.stages.get(stage)
        return (
            None if context is None else why_stopped(context, catalog_index.rows, datetime.now(UTC))
        )

    return RemedyContext(
        stopped=stopped,
        secrets=runtime.secrets,
        folder=settings.project,
        lambda_endpoint=settings.lambdas.endpoint or settings.secrets.endpoint,
        handlers=settings.lambdas.handlers,
        region=settings.storage.region,
    )


def failure_of(
    catalog_index: CatalogIndex,
    stage_run: StageRun,
    request: Request,
    times: Mapping[tuple[str, int], int],
) -> Failure:
    """A failed stage run as the value that remedies get."""
    pipeline, order = str(stage_run.pipeline_id), stage_run.stage_order or 0
    context = catalog_index.stages.get(f"{pipeline}-{order}")
    return Failure(
        code=stage_run.error_code or "Unclassified",
        message=stage_run.error_message or "",
        pipeline_id=pipeline,
        stage_order=order,
        stage_name=stage_run.stage_name,
        target_id=stage_run.target_id,
        stage={} if context is None else row_of(context, stage_run.facts.get("route")),
        facts=stage_run.facts.get("error", {}),
        # A stage run that broke off counts as an attempt, though it is not recorded as failed.
        attempt=max(times.get((pipeline, order), 0), 1 if stage_run.ended_at else request.attempt),
        adjusted=RetryState.of(request).adjust.get(f"{pipeline}-{order}", {}),
        step=stage_run.step,
        request_id=request.request_id,
        run_id=stage_run.run_id,
        stage_run_id=stage_run.stage_run_id,
    )


def row_of(context: StageContext, route: str | None = None) -> dict[str, Any]:
    """A stage's row as remedies get it, with resolved defaults and what its attempt read."""
    resolved, stage = context.resolved, context.stage
    read_from = stage.source_id if route is None else route.split(",")[-2]
    return {
        **context.stage.as_file(),
        "read": resolved.read,
        "write_mode": resolved.write_mode,
        "schema_policy_in_force": dict(resolved.schema_policy),
        "read_from": read_from,
        "other_sources": [
            edge.from_dataset_id
            for edge in context.rows.rows(Edge)
            if edge.to_dataset_id == stage.target_id and edge.from_dataset_id != read_from
        ],
    }


def _write_down(
    runtime: Runtime, failure: Failure, healed: Healed, connection: sa.Connection
) -> None:
    """Record the remedy, the files it excludes, and the retry or hold of the stage."""
    journal, decision = runtime.journal, healed.decision
    for pair, because in healed.failed:
        failed = _use(failure, pair, healing.FAILED_ITSELF, runtime.secrets.redact(because))
        over = failed.with_(outcome=RemedyOutcome.FAILED, judged_at=read_clock(connection))
        healing.use(journal, over, connection=connection)
    if healed.pair is not None:
        used = _use(failure, healed.pair, decision.do.value, decision.because)
        healing.use(journal, used.with_(adjust=decision.adjust), connection=connection)
    for path in decision.files_aside:
        for set_aside_file in _excluded_files(runtime, failure, path, decision.because):
            healing.set_aside(journal, set_aside_file, connection=connection)
    if decision.marks_down is not None:
        because = f"{failure.code}: {failure.message}"
        health.mark_down(journal, decision.marks_down, because, connection=connection)
    about: dict[str, Any] = {
        "pipeline_id": failure.pipeline_id,
        "stage_order": failure.stage_order,
        "request_id": failure.request_id,
        "run_id": failure.run_id,
        "stage_run_id": failure.stage_run_id,
        "error_code": failure.code,
        "resolution": decision.because,
    }
    if decision.do is DecisionKind.HOLD:
        journal.record(StageHeld(**about, attempt=failure.attempt), connection=connection)
    else:
        due = read_clock(connection) + healed.after
        again = events.RetryScheduled(**about, attempt=failure.attempt + 1, not_before=due)
        journal.record(again, connection=connection)


def _use(failure: Failure, pair: Pair, did: str, because: str) -> HealingUse:
    return HealingUse(
        use_id=new_id("use"),
        error_code=pair.error_code,
        step_order=pair.step_order,
        remedy=pair.action,
        pipeline_id=failure.pipeline_id,
        stage_order=failure.stage_order,
        request_id=failure.request_id,
        run_id=failure.run_id,
        stage_run_id=failure.stage_run_id,
        did=did,
        because=because,
    )


def _excluded_files(runtime: Runtime, failure: Failure, path: str, because: str) -> list[FileAside]:
    """The excluded file in its current version, once per input of the stage that contains it."""
    from goldsmith.storage.files import list_files

    context = runtime.catalog_indexer.catalog_index().stages.get(failure.stage_id)
    found = []
    for dataset in context.inputs if context is not None else ():
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
                for file in list_files(location, runtime.storage)
                if file.path == path
            ]
    return found
