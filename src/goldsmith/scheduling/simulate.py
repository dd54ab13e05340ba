"""Replay a workload on virtual time with the scheduling code of the service.

The machine has slots. A stage holds one slot while it runs and may lose it at a micro-batch; its
finished batches are kept. A policy sees estimates, never the true sizes (only the oracle does).
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Protocol

from goldsmith.scheduling.endpoint_usage import EndpointUsage
from goldsmith.scheduling.estimates import PastRun, estimate_stage, remaining_seconds
from goldsmith.scheduling.fair_share import FairShare
from goldsmith.scheduling.trace import TraceRun, periods, upstream_runs
from goldsmith.scheduling.values import (
    CRITICAL,
    FOCUS,
    Decisions,
    QueuedStage,
    RunningStage,
    SchedulerState,
)

#: Past runs a simulated scheduler knows of each pipeline, and how much they vary (σ of the log).
PAST_RUNS = 5
VARIATION = 0.4
_SAME_TIME = 1e-6


class Policy(Protocol):
    """Who decides in a simulation: the service's function, or a baseline."""

    #: The policy knows true sizes.
    knows_sizes: bool
    #: Seconds after which it decides again although nothing happened, while stages wait.
    again_after: float
    #: It looks at `fair_seconds` of stages.
    needs_fair_share: bool

    def decide(self, state: SchedulerState, now: float) -> Decisions: ...

    def profile_of(self, criticality: str | None) -> str: ...


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that a workload runs on."""

    slots: int = 8
    batch_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """How one run fared."""

    run: TraceRun
    #: Its position in the trace.
    index: int
    started: float
    finished: float

    @property
    def flow(self) -> float:
        return self.finished - self.run.arrives


@dataclass(slots=True)
class _Job:
    """An unfinished run."""

    index: int
    run: TraceRun
    profile: str
    #: Expected seconds of each stage.
    expected: tuple[float, ...]
    #: Expected seconds from the start of each stage to the end of the run.
    rest: tuple[float, ...]
    upstreams: int
    downstream: list[int] = field(default_factory=list)
    dependants: int = 0
    stage: int = 0
    done: float = 0.0
    arrived: bool = False
    needed: bool = False
    #: When it had arrived and its upstreams had ended.
    entered: float = 0.0
    started: float | None = None
    finished: float | None = None


@dataclass(slots=True)
class _Holding:
    """A job that holds a slot."""

    job: _Job
    queued: QueuedStage
    since: float
    ends: float
    #: When it gives up its slot; None: it does not.
    yields_at: float | None = None
    yielding_since: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """The outcome of one policy."""

    runs: tuple[FinishedRun, ...]
    usage: EndpointUsage
    #: (start, end) of every time a slot was held.
    held: tuple[tuple[float, float], ...]
    yields: int


def replay(
    workload: Sequence[TraceRun], policy: Policy, machine: Machine, *, seed: int = 0
) -> PolicyReplay:
    """Run the workload under a policy."""
    return _Simulation(workload, policy, machine, seed).run()


def expected_seconds(workload: Sequence[TraceRun], seed: int) -> list[tuple[float, ...]]:
    """The estimate of every stage, by the service's own code, from past runs around its size."""
    dice = random.Random(f"{seed}/history")
    found: list[tuple[float, ...]] = []
    for run in workload:
        mine: list[float] = []
        for stage in run.stages:
            past = [
                PastRun(stage.seconds * dice.lognormvariate(0, VARIATION), stage.records, 0.0)
                for _ in range(PAST_RUNS)
            ]
            mine.append(estimate_stage(past).seconds)
        found.append(tuple(mine))
    return found


class _Simulation:
    """Virtual time, the queue and the slots."""

    def __init__(
        self, workload: Sequence[TraceRun], policy: Policy, machine: Machine, seed: int
    ) -> None:
        self.policy = policy
        self.machine = machine
        upstreams = upstream_runs(workload)
        self.periods = periods(workload)
        guesses: Sequence[tuple[float, ...]] = (
            [tuple(stage.seconds for stage in run.stages) for run in workload]
            if policy.knows_sizes
            else expected_seconds(workload, seed)
        )
        self.jobs = [
            _Job(
                index=index,
                run=run,
                profile=policy.profile_of(run.criticality),
                expected=guesses[index],
                rest=tuple(accumulate(reversed(guesses[index])))[::-1],
                upstreams=len(upstreams[index]),
            )
            for index, run in enumerate(workload)
        ]
        for index, found in enumerate(upstreams):
            for upstream in found:
                self.jobs[upstream].downstream.append(index)
        for job in self.jobs:
            job.dependants = len(_reachable(job.index, lambda i: self.jobs[i].downstream))
            if job.run.criticality == CRITICAL and job.profile == FOCUS:
                # `after` is declared: what a critical run waits for is promoted from the start.
                for upstream in _reachable(job.index, lambda i: upstreams[i]):
                    self.jobs[upstream].needed = True
        self.waiting: dict[int, QueuedStage] = {}
        self.holding: dict[int, _Holding] = {}
        self.usage = EndpointUsage()
        self.fair_share = FairShare()
        self.held: list[tuple[float, float]] = []
        self.yields = 0
        self._order = 0
        self._events: list[tuple[float, int, str, int]] = []
        self._tick_at: float | None = None

    def run(self) -> PolicyReplay:
        for job in self.jobs:
            self._push(job.run.arrives, "arrive", job.index)
        while self._events:
            now = self._events[0][0]
            while self._events and self._events[0][0] <= now + _SAME_TIME:
                _at, _order, kind, index = heapq.heappop(self._events)
                self._happen(kind, index, now)
            self._decide(now)
        return PolicyReplay(
            runs=tuple(
                FinishedRun(job.run, job.index, job.started or 0.0, job.finished)
                for job in self.jobs
                if job.finished is not None
            ),
            usage=self.usage,
            held=tuple(self.held),
            yields=self.yields,
        )

    def _push(self, at: float, kind: str, index: int) -> None:
        self._order += 1
        heapq.heappush(self._events, (at, self._order, kind, index))

    def _happen(self, kind: str, index: int, now: float) -> None:
        if kind == "arrive":
            job = self.jobs[index]
            job.arrived = True
            self._queue_if_ready(job, now)
        elif kind == "end":
            holding = self.holding.get(index)
            if holding is not None and holding.ends <= now + _SAME_TIME:
                self._end_stage(holding, now)
        elif kind == "yield":
            holding = self.holding.get(index)
            at = None if holding is None else holding.yields_at
            if holding is not None and at is not None and at <= now + _SAME_TIME:
                self._pause(holding, now)
        elif self._tick_at is not None and self._tick_at <= now + _SAME_TIME:
            self._tick_at = None

    def _queue_if_ready(self, job: _Job, now: float) -> None:
        if job.arrived and job.upstreams == 0:
            job.entered = now
            self.waiting[job.index] = self._queued(job, now, paused=False)

    def _queued(self, job: _Job, now: float, *, paused: bool) -> QueuedStage:
        stage = job.run.stages[job.stage]
        seconds = job.expected[job.stage]
        left = remaining_seconds(seconds, job.done) if job.done else seconds
        if self.policy.knows_sizes:
            left = stage.seconds - job.done
        period = self.periods.get(job.run.pipeline)
        return QueuedStage(
            key=str(job.index),
            request_id=str(job.index),
            pipeline=job.run.pipeline,
            arrived=job.run.arrives,
            ready=now,
            seconds=left,
            request_seconds=left + (job.rest[job.stage] - seconds),
            request_total=job.rest[0],
            profile=job.profile,
            criticality=job.run.criticality,
            source=stage.source,
            target=stage.target,
            bytes_per_second=stage.bytes_per_second,
            dependants=job.dependants,
            needed_by_critical=job.needed,
            start_by=None if period is None else job.run.arrives + period - job.rest[0],
            paused=paused,
            entered=job.entered,
        )

    def _start(self, job: _Job, now: float) -> None:
        queued = self.waiting.pop(job.index)
        stage = job.run.stages[job.stage]
        ends = now + stage.seconds - job.done
        self.holding[job.index] = _Holding(job=job, queued=queued, since=now, ends=ends)
        self.usage.begin(stage.source, stage.target, stage.bytes_per_second, now)
        if job.started is None:
            job.started = now
        self._push(ends, "end", job.index)

    def _release(self, holding: _Holding, now: float) -> None:
        del self.holding[holding.job.index]
        stage = holding.job.run.stages[holding.job.stage]
        self.usage.end(stage.source, stage.target, stage.bytes_per_second, now)
        self.held.append((holding.since, now))

    def _end_stage(self, holding: _Holding, now: float) -> None:
        self._release(holding, now)
        job = holding.job
        job.stage += 1
        job.done = 0.0
        if job.stage < len(job.run.stages):
            self.waiting[job.index] = self._queued(job, now, paused=False)
            return
        job.finished = now
        for index in job.downstream:
            self.jobs[index].upstreams -= 1
            self._queue_if_ready(self.jobs[index], now)

    def _pause(self, holding: _Holding, now: float) -> None:
        self._release(holding, now)
        holding.job.done += now - holding.since
        self.yields += 1
        self.waiting[holding.job.index] = self._queued(holding.job, now, paused=True)

    def _decide(self, now: float) -> None:
        active = len(self.waiting) + len(self.holding)
        self.fair_share.advance(now, active, self.machine.slots)
        while self.waiting:
            decisions = self.policy.decide(self._state(now), now)
            for start in decisions.start:
                self._start(self.jobs[int(start.stage.key)], now)
            wanted = {int(each.running.stage.key) for each in decisions.yields}
            paused = False
            for index, holding in list(self.holding.items()):
                if index not in wanted:
                    holding.yields_at = holding.yielding_since = None
                    continue
                if holding.yields_at is None:
                    holding.yielding_since = now
                    holding.yields_at = self._next_batch(holding, now)
                    if holding.yields_at <= now + _SAME_TIME:
                        self._pause(holding, now)
                        paused = True
                    else:
                        self._push(holding.yields_at, "yield", index)
            if not paused:
                break
        again = self.policy.again_after
        if self.waiting and again and self._tick_at is None:
            self._tick_at = now + again
            self._push(self._tick_at, "tick", -1)

    def _next_batch(self, holding: _Holding, now: float) -> float:
        batch = self.machine.batch_seconds
        batches = max(1, -int(-(now - holding.since - _SAME_TIME) // batch))
        return min(holding.since + batches * batch, holding.ends)

    def _fair_seconds(self, job: _Job) -> float:
        if not self.policy.needs_fair_share:
            return 0.0
        return self.fair_share.seconds(job.entered, job.rest[0])

    def _state(self, now: float) -> SchedulerState:
        running: list[RunningStage] = []
        for holding in self.holding.values():
            job = holding.job
            elapsed = job.done + now - holding.since
            stage = holding.queued
            left = (
                job.run.stages[job.stage].seconds - elapsed
                if self.policy.knows_sizes
                else remaining_seconds(job.expected[job.stage], elapsed)
            )
            rest = job.rest[job.stage] - job.expected[job.stage]
            running.append(
                RunningStage(
                    stage=replace(
                        stage,
                        seconds=left,
                        request_seconds=left + rest,
                        fair_seconds=self._fair_seconds(job),
                    ),
                    started=holding.since,
                    next_batch=self._next_batch(holding, now),
                    yielding_since=holding.yielding_since,
                )
            )
        return SchedulerState(
            slots=self.machine.slots,
            waiting=tuple(
                replace(stage, fair_seconds=self._fair_seconds(self.jobs[index]))
                for index, stage in self.waiting.items()
            ),
            running=tuple(running),
            loads=self.usage.loads(now),
            batch_seconds=self.machine.batch_seconds,
        )


def _reachable(start: int, following: Callable[[int], Sequence[int]]) -> set[int]:
    found: set[int] = set()
    stack = list(following(start))
    while stack:
        index = stack.pop()
        if index not in found:
            found.add(index)
            stack.extend(following(index))
    return found
