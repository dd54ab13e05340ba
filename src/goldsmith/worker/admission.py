"""Decide which waiting requests may start: the gates in order, then the profile.

Every closed gate leaves a row in `waits` with a sentence; `goldsmith why` and `queue` show it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import sqlalchemy as sa

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.throttle_metrics import metric_of
from goldsmith.catalog.throttles import Throttle
from goldsmith.engine.pace.states import ThrottleState, states
from goldsmith.journal import requests, waits
from goldsmith.journal.clock import now as database_now
from goldsmith.journal.definitions import leases as lease_table
from goldsmith.journal.definitions import stage_runs
from goldsmith.journal.errors import RequestElsewhere, UnknownRequest
from goldsmith.journal.owners import is_gone
from goldsmith.journal.tables import Request, RunStatus
from goldsmith.journal.tables_of_service import WaitRow
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.locations import lease_resource
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.planning.stage_context import StageContext
from goldsmith.planning.stopped import Stops
from goldsmith.planning.throttled import Direction, throttles_of
from goldsmith.runtime import Runtime
from goldsmith.scheduling import gates, profiles
from goldsmith.scheduling.gates import GateFacts
from goldsmith.scheduling.values import Decisions, GateVerdict
from goldsmith.worker.queue_state import Queue, StageEstimates, read_queue
from goldsmith.worker.retry_state import RetryState
from goldsmith.worker.upkeep import TASK

#: Stage option: an input written by another pipeline may be at most this old.
MAX_INPUT_AGE = "max_input_age_minutes"


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """The requests that may start now, in order, and the decision of the profile."""

    start: tuple[Request, ...]
    decisions: Decisions
    queue: Queue


def admit(
    runtime: Runtime,
    stage_estimates: StageEstimates,
    *,
    yielding: Mapping[str, float] | None = None,
    foreground: bool = False,
) -> Admission:
    """The requests that may start, highest score first; the others get a row in `waits`.

    In the foreground (`goldsmith run` without a service) the profile orders requests but keeps
    none waiting, and stages wait for their leases themselves.
    """
    queue = read_queue(
        runtime, stage_estimates, at_least_slots=1 if foreground else 0, yielding=yielding
    )
    catalog_index = runtime.catalog_indexer.catalog_index()
    closed = _closed_gates(runtime, catalog_index, queue, foreground=foreground)
    free = tuple(stage for stage in queue.state.waiting if stage.key not in closed)
    state = replace(queue.state, waiting=free)
    if foreground:
        state = replace(state, slots=len(free) + len(state.running), loads={})
    decisions = profiles.decide(state, queue.settings, queue.at.timestamp())
    started = [start.stage.request_id for start in decisions.start]
    if foreground:
        started += [wait.stage.request_id for wait in decisions.wait]
    else:
        for wait in decisions.wait:
            closed[wait.stage.request_id] = ("profile", GateVerdict(False, wait.because))
    _note(runtime, queue, closed)
    return Admission(
        start=tuple(queue.requests[name] for name in started), decisions=decisions, queue=queue
    )


def _note(runtime: Runtime, queue: Queue, closed: Mapping[str, tuple[str, GateVerdict]]) -> None:
    """Record the waits, and delete those that are over."""
    noted = waits.listed(runtime.journal)
    for name, (gate, verdict) in closed.items():
        request = queue.requests[name]
        before = noted.get(name)
        if before is not None and (before.gate, before.because) == (gate, verdict.because):
            continue
        at = None if verdict.not_before is None else datetime.fromtimestamp(verdict.not_before, UTC)
        waits.note(
            runtime.journal,
            WaitRow(
                subject=name,
                pipeline_id=next(iter(request.pipelines or request.selection), None),
                gate=gate,
                because=verdict.because,
                not_before=at,
            ),
        )
        if before is None or before.gate != gate:
            # Only a new gate is an event: the sentence of a queue changes all the time.
            with contextlib.suppress(RequestElsewhere, UnknownRequest):  # another worker took it
                requests.wait(runtime.journal, name, f"{gate}: {verdict.because}")
    for name, wait in noted.items():
        if name not in closed and (
            not waits.is_of_stage_run(wait) or waits.is_stale(wait, queue.at)
        ):
            waits.over(runtime.journal, name)


def _closed_gates(
    runtime: Runtime, catalog_index: CatalogIndex, queue: Queue, *, foreground: bool
) -> dict[str, tuple[str, GateVerdict]]:
    waiting = queue.state.waiting
    if not waiting:
        return {}
    facts = _Facts(runtime, catalog_index, queue.at, foreground=foreground)
    closed = {}
    for stage in waiting:
        found = gates.first_closed(facts.of(queue.requests[stage.request_id], stage.pipeline))
        if found is not None:
            closed[stage.request_id] = found
    return closed


class _Facts:
    """Reads the facts that the gates need, once for all requests."""

    def __init__(
        self, runtime: Runtime, catalog_index: CatalogIndex, at: datetime, *, foreground: bool
    ) -> None:
        self._runtime = runtime
        self._index = catalog_index
        self._at = at
        self._foreground = foreground
        self._stops = Stops.of(catalog_index.rows.rows(Flag), at)
        self._held = {} if foreground else _held_leases(runtime)
        # In the foreground a stage waits itself, and reports the wait.
        self._throttles = {} if foreground else _throttles(runtime, catalog_index)
        self._by_selection: dict[tuple[str, ...], GateFacts] = {}

    def of(self, request: Request, pipeline_id: str) -> GateFacts:
        if TASK in request.options:
            return self._of_task(request)
        selection = RetryState.of(request).selection
        if selection not in self._by_selection:
            self._by_selection[selection] = self._facts(selection, pipeline_id)
        return self._by_selection[selection]

    def _of_task(self, request: Request) -> GateFacts:
        """Upkeep runs no stage: flags on everything or on its dataset hold it."""
        dataset = str(request.options.get("dataset_id") or "")
        entities = (("everything", "*"), ("target", dataset), ("source", dataset))
        stopped = self._stops.on_entities(entities)
        return GateFacts(now=self._at.timestamp(), pipeline="", stopped_because=stopped)

    def _facts(self, selection: tuple[str, ...], pipeline_id: str) -> GateFacts:
        try:
            names = select(self._index, selection)
        except NothingSelected:
            names = ()  # the request fails with that sentence when it is run
        contexts = [self._index.stages[name] for name in names]
        pipeline = self._index.rows.table(Pipeline).get((pipeline_id,))
        return GateFacts(
            now=self._at.timestamp(),
            pipeline=pipeline_id,
            stopped_because=self._stopped(contexts),
            window=None if pipeline is None else pipeline.run_window,
            stale_upstreams=self._stale(contexts),
            held_targets=self._held_targets(contexts),
            throttled=self._throttled(contexts),
        )

    def _stopped(self, contexts: list[StageContext]) -> str | None:
        """The stop of all stages; in the foreground the run itself reports it and ends."""
        if self._foreground or not contexts:
            return None
        reasons = [self._stops.on(context) for context in contexts]
        return reasons[0] if None not in reasons else None

    def _held_targets(self, contexts: list[StageContext]) -> dict[str, str]:
        held = {}
        for context in contexts[:1]:
            target = None if context.target is None else context.target.target
            if target is not None and self._held:
                resource = lease_resource(target, self._runtime.settings.warehouses)
                if resource in self._held:
                    held[target.target_id] = self._held[resource]
        return held

    def _throttled(self, contexts: list[StageContext]) -> dict[str, str]:
        """The throttles at which the first stage would wait for long; it waits here instead."""
        throttled = {}
        for context in contexts[:1] if self._throttles else ():
            pairs = [(dataset, Direction.READ) for dataset in context.inputs]
            if context.target is not None:
                pairs.append((context.target, Direction.LOAD))
            for dataset, direction in pairs:
                for throttle in throttles_of(self._throttles, dataset, direction):
                    because = self._throttles[throttle].wait_of_a_request
                    if because is not None:
                        throttled[throttle.throttle_id] = because
        return throttled

    def _stale(self, contexts: list[StageContext]) -> dict[str, float]:
        stale: dict[str, float] = {}
        for context in contexts:
            most = context.stage.options.get(MAX_INPUT_AGE)
            if not isinstance(most, int | float):
                continue
            for dataset in context.inputs:
                writers = {stage.pipeline_id for stage in dataset.writers}
                if writers and context.stage.pipeline_id not in writers:
                    age = self._age(dataset.dataset_id)
                    if age is None or age > most * 60:
                        stale[dataset.dataset_id] = (age or 0.0) - most * 60
        return stale

    def _age(self, dataset: str) -> float | None:
        query = sa.select(sa.func.max(stage_runs.c.ended_at)).where(
            stage_runs.c.target_id == dataset,
            stage_runs.c.status.in_((RunStatus.SUCCEEDED.value, RunStatus.SKIPPED.value)),
        )
        with self._runtime.journal.reading() as connection:
            found = connection.execute(query).scalar()
        if found is None:
            return None
        at = found if isinstance(found, datetime) else datetime.fromisoformat(str(found))
        return (self._at - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()


def _throttles(runtime: Runtime, catalog_index: CatalogIndex) -> dict[Throttle, ThrottleState]:
    """Every throttle that can be used, with its state."""
    rows = [t for t in catalog_index.rows.rows(Throttle) if metric_of(t.metric) and t.threshold]
    return {state.throttle: state for state in states(runtime.journal, rows)} if rows else {}


def _held_leases(runtime: Runtime) -> dict[str, str]:
    """The targets that are being written, and by whom."""
    query = sa.select(lease_table.c.resource, lease_table.c.owner).where(
        lease_table.c.owner.is_not(None), lease_table.c.expires_at > database_now()
    )
    with runtime.journal.reading() as connection:
        rows = connection.execute(query).all()
    return {str(resource): str(owner) for resource, owner in rows if not is_gone(owner)}
