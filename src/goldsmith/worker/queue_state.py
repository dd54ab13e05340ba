"""The queue as scheduling sees it: waiting and running requests, with estimates."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import sqlalchemy as sa

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.profiles import PipelineProfile, ProfileSetting
from goldsmith.catalog.upkeep_schedules import SlotPrice
from goldsmith.journal import requests, workers
from goldsmith.journal.clock import later, now, read_clock, seconds
from goldsmith.journal.definitions import runs, stage_runs
from goldsmith.journal.tables import Request, RequestStatus, RunStatus
from goldsmith.journal.tables_of_service import WorkerStatus
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.schedules import BadSchedule, parse
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.runtime import Runtime
from goldsmith.scheduling import estimates, profiles
from goldsmith.scheduling.estimates import PastRun
from goldsmith.scheduling.fair_share import FairShare
from goldsmith.scheduling.values import (
    BALANCED,
    FOCUS,
    PlaceLoad,
    ProfileSettings,
    QueuedStage,
    RunningStage,
    SchedulerState,
    StageEstimate,
)
from goldsmith.worker.retry_state import RetryState

_LOG = logging.getLogger(__name__)
#: How many past runs of a stage an estimate is made from, and how long it is reused.
_RUNS, _REUSE_SECONDS = 10, 30.0
_LOAD_SECONDS = 3600.0


@dataclass
class StageEstimates:
    """Estimates of all stages from the journal, read again after half a minute."""

    runtime: Runtime
    #: What fair sharing would have done since this process began to look.
    fair_share: FairShare = field(default_factory=FairShare)
    _read_at: float = -_REUSE_SECONDS
    _history: dict[str, list[PastRun]] = field(default_factory=dict)
    _estimates: dict[str, StageEstimate] = field(default_factory=dict)

    def of(self, stage_id: str) -> StageEstimate:
        """The estimate of one stage."""
        if time.monotonic() - self._read_at >= _REUSE_SECONDS:
            self._history, self._estimates = self._read(), {}
            self._read_at = time.monotonic()
        found = self._estimates.get(stage_id)
        if found is None:
            history = self._history.get(stage_id, [])
            others = [] if history else [runs[0] for runs in self._history.values()]
            found = estimates.estimate_stage(history, others=others)
            self._estimates[stage_id] = found
        return found

    def _read(self) -> dict[str, list[PastRun]]:
        number = (
            sa.func.row_number()
            .over(
                partition_by=(stage_runs.c.pipeline_id, stage_runs.c.stage_order),
                order_by=stage_runs.c.ended_at.desc(),
            )
            .label("number")
        )
        newest = (
            sa.select(
                stage_runs.c.pipeline_id,
                stage_runs.c.stage_order,
                seconds(stage_runs.c.started_at, stage_runs.c.ended_at).label("took"),
                stage_runs.c.rows_read,
                stage_runs.c.bytes_written,
                number,
            )
            .where(stage_runs.c.status == RunStatus.SUCCEEDED.value)
            .subquery()
        )
        history: dict[str, list[PastRun]] = defaultdict(list)
        query = sa.select(newest).where(newest.c.number <= _RUNS)
        with self.runtime.journal.reading() as connection:
            for row in connection.execute(query.order_by(newest.c.number)):
                history[f"{row.pipeline_id}-{row.stage_order}"].append(
                    PastRun(
                        seconds=max(float(row.took or 0), 0.0),
                        records=float(row.rows_read or 0),
                        bytes=float(row.bytes_written or 0),
                    )
                )
        return history


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """The state of the queue at one moment, and the settings of each profile."""

    at: datetime
    state: SchedulerState
    settings: Mapping[str, ProfileSettings]
    requests: Mapping[str, Request]


def read_queue(
    runtime: Runtime,
    stage_estimates: StageEstimates,
    *,
    at_least_slots: int = 0,
    yielding: Mapping[str, float] | None = None,
) -> Queue:
    """The queue now: due requests that wait, and requests that run."""
    journal = runtime.journal
    waiting = requests.due(journal)
    running = requests.with_status(journal, RequestStatus.RUNNING)
    alive = workers.alive(journal, statuses=(WorkerStatus.ACTIVE, WorkerStatus.DRAINING))
    started = _started(runtime, running)
    with journal.reading() as connection:
        at = read_clock(connection)
    catalog_index = runtime.catalog_indexer.catalog_index()
    builder = _QueuedRequests(catalog_index, stage_estimates)
    settings = profile_settings(catalog_index)
    clock = at.timestamp()
    slots = max(sum(worker.slots for worker in alive), at_least_slots)
    stage_estimates.fair_share.advance(clock, len(waiting) + len(running), slots)
    queued = _promoted(catalog_index, [builder.queued(request) for request in waiting], settings)
    state = SchedulerState(
        slots=slots,
        waiting=tuple(queued),
        running=tuple(
            _running(
                builder.queued(request),
                started.get(request.request_id, clock),
                (yielding or {}).get(request.request_id),
                clock,
            )
            for request in running
        ),
        loads=_loads(runtime) if queued else {},
    )
    return Queue(
        at=at,
        state=state,
        settings=settings,
        requests={request.request_id: request for request in (*waiting, *running)},
    )


def profile_settings(catalog_index: CatalogIndex) -> dict[str, ProfileSettings]:
    """The settings of each profile, by the rows as they are now."""
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for setting in catalog_index.rows.rows(ProfileSetting):
        if setting.setting_value is not None:
            rows[setting.profile_id][setting.setting_key] = setting.setting_value
    by_hour = {
        row.hour: row.price for row in catalog_index.rows.rows(SlotPrice) if row.price is not None
    }
    prices = tuple(float(by_hour.get(hour, 1.0)) for hour in range(24))
    mapped = {row.profile_id or BALANCED for row in catalog_index.rows.rows(PipelineProfile)}
    settings = {}
    for name in sorted({BALANCED, FOCUS, *mapped, *rows}):
        known = {key: value for key, value in rows[name].items() if profiles.is_setting(key)}
        for key in rows[name].keys() - known.keys():
            _LOG.warning("profile '%s' has no setting '%s': it is ignored", name, key)
        found = profiles.settings_from_rows(name, known)
        # A worker has no micro-batches: only preemption takes a slot from a running request.
        found = replace(found, yield_to_shorter=0.0)
        settings[name] = replace(found, prices=prices) if by_hour else found
    return settings


class _QueuedRequests:
    """Makes a QueuedStage of each request; one pipeline is looked up once."""

    def __init__(self, catalog_index: CatalogIndex, stage_estimates: StageEstimates) -> None:
        self._index = catalog_index
        self._estimates = stage_estimates
        self._mapped = catalog_index.rows.table(PipelineProfile)
        self._pipelines = catalog_index.rows.table(Pipeline)
        self._stages: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._downstream = _downstream_counts(catalog_index)

    def queued(self, request: Request) -> QueuedStage:
        names = self._names(RetryState.of(request).selection)
        first = self._index.stages[names[0]] if names else None
        pipeline_id = first.stage.pipeline_id if first else _first(request)
        pipeline = self._pipelines.get((pipeline_id,))
        mapped = self._mapped.get((pipeline_id,))
        expected = [self._estimates.of(name) for name in names]
        total = sum(estimate.seconds for estimate in expected)
        # A stage without past runs has no measured load, so it waits for no other stage.
        measured = sum(estimate.bytes for estimate in expected if not estimate.is_prior)
        arrived = _seconds(request.due_at or request.asked_at)
        return QueuedStage(
            key=request.request_id,
            request_id=request.request_id,
            pipeline=pipeline_id,
            arrived=arrived,
            ready=max(arrived, _seconds(request.not_before)),
            entered=arrived,
            fair_seconds=self._estimates.fair_share.seconds(arrived, total),
            seconds=total,
            request_seconds=total,
            request_total=total,
            profile=(mapped.profile_id if mapped else None) or BALANCED,
            criticality=None if pipeline is None else pipeline.criticality,
            source=(first.stage.source_id if first else None) or "",
            target=(first.stage.target_id if first else None) or "",
            bytes_per_second=measured / total if total > 0 else 0.0,
            dependants=self._downstream.get(pipeline_id, 0),
            start_by=_start_by(request, pipeline, total),
            backfill=request.backfill_id is not None,
        )

    def _names(self, selection: tuple[str, ...]) -> tuple[str, ...]:
        if selection not in self._stages:
            try:
                self._stages[selection] = select(self._index, selection)
            except NothingSelected:
                self._stages[selection] = ()
        return self._stages[selection]


def _start_by(request: Request, pipeline: Pipeline | None, seconds: float) -> float | None:
    """The latest start that meets the SLA and ends before the next start of the schedule."""
    if pipeline is None:
        return None
    ends: list[float] = []
    if pipeline.sla_minutes is not None:
        ends.append(_seconds(request.due_at or request.asked_at) + pipeline.sla_minutes * 60)
    if request.due_at is not None and pipeline.schedule is not None:
        with contextlib.suppress(BadSchedule):
            following = parse(pipeline.schedule).next_after(request.due_at)
            ends += [] if following is None else [following.timestamp()]
    return min(ends) - seconds if ends else None


def _first(request: Request) -> str:
    return next(iter((*request.pipelines, *request.selection)), "")


def _seconds(at: datetime | None) -> float:
    return 0.0 if at is None else at.timestamp()


def _running(
    stage: QueuedStage, started: float, yielding_since: float | None, at: float
) -> RunningStage:
    left = max(stage.seconds - (at - started), 0.0)
    return RunningStage(
        stage=replace(stage, seconds=left, request_seconds=left),
        started=started,
        # It was asked to yield at that time: stop it when the grace time is over.
        next_batch=at if yielding_since is None else yielding_since,
        yielding_since=yielding_since,
    )


def _started(runtime: Runtime, running: Sequence[Request]) -> dict[str, float]:
    if not running:
        return {}
    query = (
        sa.select(runs.c.request_id, runs.c.started_at)
        .where(runs.c.request_id.in_([request.request_id for request in running]))
        .order_by(runs.c.started_at)
    )
    with runtime.journal.reading() as connection:
        return {name: at.timestamp() for name, at in connection.execute(query) if at is not None}


def _upstream_pipelines(catalog_index: CatalogIndex) -> dict[str, set[str]]:
    """The pipelines that write what each pipeline reads, or after which it is scheduled."""
    direct: dict[str, set[str]] = defaultdict(set)
    for name, before in catalog_index.upstream.items():
        mine = catalog_index.stages[name].stage.pipeline_id
        direct[mine] |= {catalog_index.stages[other].stage.pipeline_id for other in before} - {mine}
    for pipeline in catalog_index.rows.rows(Pipeline):
        text = (pipeline.schedule or "").strip()
        if text.startswith("after:"):
            direct[pipeline.pipeline_id].add(text.removeprefix("after:").strip())
    return direct


def _closure(direct: Mapping[str, set[str]], first: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(first)
    while waiting:
        for other in direct.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _downstream_counts(catalog_index: CatalogIndex) -> dict[str, int]:
    cached: dict[str, int] | None = catalog_index.__dict__.get("_downstream_pipelines")
    if cached is None:
        reverse: dict[str, set[str]] = defaultdict(set)
        for name, before in _upstream_pipelines(catalog_index).items():
            for other in before:
                reverse[other].add(name)
        cached = {name: len(_closure(reverse, [name])) for name in list(reverse)}
        catalog_index.__dict__["_downstream_pipelines"] = cached
    return cached


def _promoted(
    catalog_index: CatalogIndex,
    queued: list[QueuedStage],
    settings: Mapping[str, ProfileSettings],
) -> list[QueuedStage]:
    """Mark what critical pipelines of a profile that preempts need first.

    Those that wait, and those that start only after another one has run.
    """
    critical = {
        stage.pipeline
        for stage in (*queued, *_started_after(catalog_index))
        if profiles.is_critical(stage) and settings[stage.profile].preempt > 0
    }
    if not critical:
        return queued
    needed = _closure(_upstream_pipelines(catalog_index), critical)
    return [
        replace(stage, needed_by_critical=True) if stage.pipeline in needed else stage
        for stage in queued
    ]


def _started_after(catalog_index: CatalogIndex) -> Iterator[QueuedStage]:
    """The pipelines that start after another one, as if they waited already."""
    mapped = catalog_index.rows.table(PipelineProfile)
    for pipeline in catalog_index.rows.rows(Pipeline):
        name, profile = pipeline.pipeline_id, mapped.get((pipeline.pipeline_id,))
        if profile is not None and (pipeline.schedule or "").strip().startswith("after:"):
            yield QueuedStage(
                *(name, name, name, 0.0, 0.0, 0.0, 0.0),
                profile=profile.profile_id or BALANCED,
                criticality=pipeline.criticality,
            )


def _loads(runtime: Runtime) -> dict[str, PlaceLoad]:
    """The load on each target in the last minute, and its mean over the last hour."""
    recent = sa.case((stage_runs.c.ended_at > later(-60.0), stage_runs.c.bytes_written), else_=0)
    query = (
        sa.select(
            stage_runs.c.target_id,
            sa.func.sum(recent).label("last_minute"),
            sa.func.sum(stage_runs.c.bytes_written).label("all_bytes"),
            sa.func.sum(seconds(stage_runs.c.started_at, stage_runs.c.ended_at)).label("in_use"),
        )
        .where(
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
            stage_runs.c.ended_at > later(-_LOAD_SECONDS),
            stage_runs.c.ended_at <= now(),
        )
        .group_by(stage_runs.c.target_id)
    )
    with runtime.journal.reading() as connection:
        found = connection.execute(query).all()
    return {
        f"target:{row.target_id}": PlaceLoad(
            last_minute=float(row.last_minute or 0),
            mean_per_minute=float(row.all_bytes or 0) / max(float(row.in_use or 0) / 60, 1.0),
            seconds_in_use=float(row.in_use or 0),
        )
        for row in found
    }
