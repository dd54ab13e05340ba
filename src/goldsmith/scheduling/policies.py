"""The policies of a simulation: the profiles, and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from goldsmith.scheduling.profiles import decide
from goldsmith.scheduling.values import (
    BALANCED,
    CRITICAL,
    FOCUS,
    LOW,
    Decisions,
    ProfileSettings,
    QueuedStage,
    RunningStage,
    SchedulerState,
    Start,
    Yield,
)

_RANK = {CRITICAL: 0, LOW: 2}


@dataclass(slots=True)
class OrderedPolicy:
    """Start stages in one fixed order; optionally take slots from stages that rank much lower."""

    order: Callable[[QueuedStage], tuple[float, ...]]
    preempts: bool = False
    knows_sizes: bool = False
    again_after: float = 0.0
    needs_fair_share: bool = False

    def profile_of(self, criticality: str | None) -> str:
        return BALANCED

    def decide(self, state: SchedulerState, now: float) -> Decisions:
        ranked = sorted(state.waiting, key=self.order)
        free = max(0, state.slots - len(state.running))
        starts = tuple(Start(stage, 0.0) for stage in ranked[:free])
        yields: list[Yield] = []
        if self.preempts and len(ranked) > free:
            yields = _displaced(
                ranked[free:],
                sorted(state.running, key=lambda r: self.order(r.stage))[::-1],
                lambda waiting, running: self.order(waiting) < self.order(running.stage),
            )
        return Decisions(start=starts, yields=tuple(yields), ranked=())


@dataclass(slots=True)
class FairPolicy:
    """Every run gets the same share of the slots, in turns of a micro-batch."""

    knows_sizes: bool = False
    again_after: float = 10.0
    needs_fair_share: bool = False
    _served: dict[str, float] = field(default_factory=dict)
    _seen: dict[str, float] = field(default_factory=dict)

    def profile_of(self, criticality: str | None) -> str:
        return BALANCED

    def decide(self, state: SchedulerState, now: float) -> Decisions:
        self.again_after = state.batch_seconds
        active = [r.stage.request_id for r in state.running]
        for running in state.running:
            name = running.stage.request_id
            since = max(self._seen.get(name, running.started), running.started)
            self._served[name] = self._served.get(name, 0.0) + now - since
            self._seen[name] = now
        known = [self._served[s] for s in active if s in self._served]
        known += [self._served[s.request_id] for s in state.waiting if s.request_id in self._served]
        least = min(known, default=0.0)
        for stage in state.waiting:
            self._served.setdefault(stage.request_id, least)
            self._seen[stage.request_id] = now
        served = self._served
        ranked = sorted(state.waiting, key=lambda s: (served[s.request_id], s.arrived))
        free = max(0, state.slots - len(state.running))
        yields = _displaced(
            ranked[free:],
            sorted(state.running, key=lambda r: -served[r.stage.request_id]),
            lambda waiting, running: (
                served[waiting.request_id] + 0.5 * state.batch_seconds
                < served[running.stage.request_id]
            ),
        )
        return Decisions(
            start=tuple(Start(stage, 0.0) for stage in ranked[:free]),
            yields=tuple(yields),
            ranked=(),
        )


def _displaced(
    waiting: list[QueuedStage],
    running: list[RunningStage],
    before: Callable[[QueuedStage, RunningStage], bool],
) -> list[Yield]:
    """Pair the first waiting stages with the last running ones while they rank before them."""
    found: list[Yield] = []
    for stage, last in zip(waiting, running, strict=False):
        if not before(stage, last):
            break
        found.append(Yield(last, "another run is before it", None))
    return found


def baseline_policies() -> dict[str, OrderedPolicy | FairPolicy]:
    """The baselines by name."""
    return {
        "fifo": OrderedPolicy(lambda s: (s.arrived, float(s.key))),
        "fair": FairPolicy(),
        "priority": OrderedPolicy(
            lambda s: (float(_RANK.get(s.criticality or "", 1)), s.arrived, float(s.key))
        ),
        "shortest": OrderedPolicy(lambda s: (s.request_seconds, s.arrived)),
        "oracle": OrderedPolicy(
            lambda s: (s.request_seconds, s.arrived), preempts=True, knows_sizes=True
        ),
    }


@dataclass(slots=True)
class ProfilePolicy:
    """The service's own function: all pipelines balanced, or the critical ones mapped to focus."""

    profile: str
    settings: Mapping[str, ProfileSettings]
    knows_sizes: bool = False
    again_after: float = 10.0
    needs_fair_share: bool = True

    def profile_of(self, criticality: str | None) -> str:
        return FOCUS if self.profile == FOCUS and criticality == CRITICAL else BALANCED

    def decide(self, state: SchedulerState, now: float) -> Decisions:
        return decide(state, self.settings, now)
