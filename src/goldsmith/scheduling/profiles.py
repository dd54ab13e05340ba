"""Profiles: which stage runs next, by one scoring function, for service and simulator alike.

The queue is ordered by class, then by score, highest first. A running critical stage keeps its
slot; waiting critical stages of a profile that preempts come next; then all others by score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.scheduling.hotspots import EndpointLimits
from goldsmith.scheduling.queue_sentences import explain_waits
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
    Term,
    Yield,
)

#: A running stage loses its slot only to a score this much higher.
_HOLD = 1.3
#: A request slower than this many times fair sharing is late: it ranks this much higher, and
#: waits for no other one at its source or target.
LATE_AFTER = 1.4
_LATE = 10.0
#: A stage is slowed down for its own rate as long as its request is less late than this.
_UNPACED_AFTER = 1.8
_SHIPPED = {
    BALANCED: ProfileSettings(profile=BALANCED),
    FOCUS: ProfileSettings(
        profile=FOCUS,
        priority_weight_critical=100.0,
        priority_weight_normal=1.0,
        priority_weight_noncritical=0.0,
        preempt=1.0,
        spread_starts=0.0,
    ),
}
_NUMBERS = tuple(
    each.name for each in fields(ProfileSettings) if each.name not in ("profile", "prices")
)
#: Price of a slot-second in an hour of the day, UTC: `price_hour_0` to `price_hour_23`.
PRICE = "price_hour_"


@dataclass(eq=False, kw_only=True)
class UnknownSchedulingSetting(GoldsmithError):
    """A profile has no setting of this name."""

    profile: str
    setting: str

    def __str__(self) -> str:
        return f"Profile '{self.profile}' has no setting '{self.setting}'."

    @property
    def hint(self) -> str:
        close = nearest(self.setting, _NUMBERS)
        known = f"Settings: {one_of((*_NUMBERS, PRICE + '0'), most=30)}."
        return f"Did you mean '{close}'? {known}" if close else known


def is_setting(name: str) -> bool:
    """Whether a profile has a setting of this name."""
    hour = name.removeprefix(PRICE)
    return name in _NUMBERS or (name != hour and hour.isdecimal() and int(hour) < 24)


def settings_from_rows(profile: str, rows: Mapping[str, float]) -> ProfileSettings:
    """The settings of a profile: its rows over the defaults of `focus` or `balanced`."""
    settings = replace(_SHIPPED.get(profile, _SHIPPED[BALANCED]), profile=profile)
    prices = list(settings.prices)
    numbers: dict[str, Any] = {}
    for name, value in rows.items():
        if not is_setting(name):
            raise UnknownSchedulingSetting(profile=profile, setting=name)
        if name in _NUMBERS:
            numbers[name] = float(value)
        else:
            prices[int(name.removeprefix(PRICE))] = float(value)
    return replace(settings, prices=tuple(prices), **numbers)


def is_critical(stage: QueuedStage) -> bool:
    """Critical by its own row, or mapped to focus without a criticality of its own."""
    if stage.criticality is not None:
        return stage.criticality == CRITICAL
    return stage.profile == FOCUS


def score_terms(
    stage: QueuedStage, settings: ProfileSettings, state: SchedulerState, now: float
) -> tuple[Term, ...]:
    """The terms of a stage's score with a sentence each, for `why`; the score is their product."""
    waited = max(0.0, now - stage.arrived)
    crowd = _crowd(state)
    weight = _weight(stage, settings)
    kind = "critical" if is_critical(stage) else stage.criticality or "normal"
    terms = [
        Term("weight", weight, f"profile {settings.profile} weighs {kind} pipelines {weight:g}"),
        Term(
            "downstream",
            1 + settings.downstream_weight * stage.dependants,
            f"{stage.dependants} requests depend on it",
        ),
        Term(
            "age",
            1 + waited / (60 * settings.aging_minutes) if settings.aging_minutes > 0 else 1.0,
            f"it has waited {waited:.0f} s; {settings.aging_minutes:g} minutes double its weight",
        ),
        Term(
            "size",
            1 / max(stage.request_seconds, 1.0),
            f"about {stage.request_seconds:.0f} s of it are still to run: the shortest goes first",
        ),
    ]
    if _may_rank_late(stage, settings) and _is_late(stage, crowd, now):
        because = f"it is {LATE_AFTER:g} times later than fair sharing would make it"
        terms.append(Term("late", _LATE, because))
    if stage.backfill:
        terms.append(Term("backfill", settings.backfill_weight, "it is a backfill"))
    return tuple(terms)


def score(
    stage: QueuedStage, settings: ProfileSettings, state: SchedulerState, now: float
) -> float:
    """The score that orders the queue, highest first: the product of `score_terms`."""
    return _score(stage, settings, _crowd(state), now)


def decide(state: SchedulerState, settings: Mapping[str, ProfileSettings], now: float) -> Decisions:
    """Which stages start now and in which order, which wait and why, which yield.

    `settings` has one entry for each profile in use; a profile without one is balanced.
    """
    return _Deciding(state, settings, now).decide()


def _weight(stage: QueuedStage, settings: ProfileSettings) -> float:
    if is_critical(stage):
        return settings.priority_weight_critical
    if stage.criticality == LOW:
        return settings.priority_weight_noncritical
    return settings.priority_weight_normal


def _crowd(state: SchedulerState) -> float:
    """How many requests share a slot."""
    return max(1.0, (len(state.waiting) + len(state.running)) / max(1, state.slots))


def _entered(stage: QueuedStage) -> float:
    return stage.entered or stage.arrived


def _fair_seconds(stage: QueuedStage, crowd: float) -> float:
    """How long fair sharing would take; without its history by the requests there are now."""
    return stage.fair_seconds or max(stage.request_total, stage.request_seconds) * crowd


def _is_late(stage: QueuedStage, crowd: float, now: float) -> bool:
    took = now - _entered(stage) + stage.request_seconds
    return took > LATE_AFTER * _fair_seconds(stage, crowd)


def _may_rank_late(stage: QueuedStage, settings: ProfileSettings) -> bool:
    """Not work that preempts: how many others there are must not change its order."""
    return not (stage.needed_by_critical or (settings.preempt > 0 and is_critical(stage)))


def _score(stage: QueuedStage, settings: ProfileSettings, crowd: float, now: float) -> float:
    """The product of the terms, without their sentences."""
    left = stage.request_seconds
    value = _weight(stage, settings) / (left if left > 1.0 else 1.0)
    value *= 1 + settings.downstream_weight * stage.dependants
    waited = now - stage.arrived
    if settings.aging_minutes > 0 and waited > 0:
        value *= 1 + waited / (60 * settings.aging_minutes)
    if _may_rank_late(stage, settings) and _is_late(stage, crowd, now):
        value *= _LATE
    return value * settings.backfill_weight if stage.backfill else value


#: More than any score: what runs keeps its slot before what waits.
_KEPT = 1e15
_Entry = tuple[int, float, float, str, QueuedStage, RunningStage | None]


class _Deciding:
    """One decision: the queue in order, and the slots that are left."""

    def __init__(
        self, state: SchedulerState, settings: Mapping[str, ProfileSettings], now: float
    ) -> None:
        self.state, self.settings, self.now = state, settings, now
        self.crowd = _crowd(state)
        self.limits = EndpointLimits(
            state.waiting, state.running, state.loads, state.slots, state.batch_seconds
        )
        #: Work that preempts waits for a slot.
        self.wanting = any(map(self._preempts, state.waiting))
        self.preempting = self.wanting or any(self._preempts(item.stage) for item in state.running)

    def decide(self) -> Decisions:
        state = self.state
        entries = self._entries()
        left, free = state.slots, state.slots - len(state.running)
        kept_for_others = self._floor(entries)
        by_profile: dict[str, int] = {}
        starts: list[Start] = []
        yields: list[RunningStage] = []
        waits: list[tuple[QueuedStage, float, str]] = []
        full = "critical" if self.preempting else "slots"
        for rank, negative, _arrived, _key, stage, item in entries:
            if left <= 0 and rank == 2 and item is None:  # most of a long queue
                waits.append((stage, -negative, full))
                continue
            reason = self._refusal(rank, stage, item, left, kept_for_others, by_profile)
            if reason is not None:
                if item is not None:
                    yields.append(item)
                else:
                    waits.append((stage, -negative, reason))
                continue
            left -= 1
            by_profile[stage.profile] = by_profile.get(stage.profile, 0) + 1
            self.limits.plan(stage)
            if item is not None:
                continue
            busy = None if rank < 2 else self._busy(stage)
            if free <= 0 or busy is not None:
                waits.append((stage, -negative, "yield" if busy is None else f"endpoint {busy}"))
                continue
            free -= 1
            self.limits.start(stage)
            starts.append(Start(stage, -negative))
        return Decisions(
            start=tuple(starts),
            yields=tuple(found for item in yields if (found := self._yield(item)) is not None),
            ranked=tuple(waits),
            explain=lambda decided: explain_waits(decided, state, self.now),
        )

    def _entries(self) -> list[_Entry]:
        entries: list[_Entry] = []
        now, crowd, preempting = self.now, self.crowd, self.preempting
        profiles = {stage.profile: self._of(stage) for stage in self.state.waiting}
        for stage in self.state.waiting:
            value = _score(stage, profiles[stage.profile], crowd, now)
            rank = 1 if preempting and self._preempts(stage) else 2
            entries.append((rank, -value, stage.arrived, stage.key, stage, None))
        for item in self.state.running:
            stage = item.stage
            value = _HOLD * _score(stage, self._of(stage), crowd, now)
            rank = 0 if self._preempts(stage) else 2
            if rank and not (self.preempting or self._of(stage).yield_to_shorter):
                value = float("inf")
            elif rank and self.wanting:
                # The first to reach its micro-batch yields: the order of the others can wait.
                entry = (rank, -_KEPT - item.next_batch, -value, stage.key, stage, item)
                entries.append(entry)
                continue
            entries.append((rank, -value, stage.arrived, stage.key, stage, item))
        entries.sort()  # keys are unique, so stages are never compared
        return entries

    def _of(self, stage: QueuedStage) -> ProfileSettings:
        return self.settings.get(stage.profile) or _SHIPPED.get(stage.profile, _SHIPPED[BALANCED])

    def _preempts(self, stage: QueuedStage) -> bool:
        """Critical work of a profile that preempts, or needed by such work."""
        if stage.needed_by_critical:
            return True
        return is_critical(stage) and self._of(stage).preempt > 0 and not stage.backfill

    def _floor(self, entries: list[_Entry]) -> int:
        """Slots that critical work leaves to the rest."""
        if not self.preempting or all(entry[0] < 2 for entry in entries):
            return 0
        share = max(
            self._of(stage).noncritical_floor for rank, *_, stage, _item in entries if rank < 2
        )
        return int(share * self.state.slots)

    def _refusal(
        self,
        rank: int,
        stage: QueuedStage,
        item: RunningStage | None,
        left: int,
        kept_for_others: int,
        by_profile: Mapping[str, int],
    ) -> str | None:
        """Why a stage gets no slot: the code of a reason; None: it gets one."""
        if left <= (kept_for_others if rank == 1 else 0):
            return "critical" if self.preempting and rank == 2 else "slots"
        settings = self._of(stage)
        most = settings.max_concurrent_tasks
        if most > 0 and by_profile.get(stage.profile, 0) >= most:
            return f"limit {most:g}"
        if rank < 2:
            return None
        if stage.backfill and self.preempting:
            return "critical"
        late = _is_late(stage, self.crowd, self.now)
        if item is None and not late and self._dear(stage, settings):
            return "price"
        begins = item is None and not stage.paused
        if settings.peak_to_mean > 0 and (settings.spread_starts or not begins):
            hot = self.limits.hot_endpoint(
                stage,
                settings.peak_to_mean,
                late=self._waits_for_none(stage),
                most_stretch=self._most_stretch(stage),
            )
            if hot is not None:
                return f"endpoint {hot}"
        return None

    def _busy(self, stage: QueuedStage) -> str | None:
        settings = self._of(stage)
        if settings.peak_to_mean <= 0 or self._waits_for_none(stage):
            return None
        if not settings.spread_starts and not stage.paused:
            return None
        return self.limits.busy_endpoint(stage, settings.peak_to_mean)

    def _waits_for_none(self, stage: QueuedStage) -> bool:
        """Whether a stage waits for no other one at its endpoints: it is late, or very short."""
        if stage.request_total <= self.state.batch_seconds:
            return True
        if stage.start_by is not None and self.now >= stage.start_by:
            return True
        return _is_late(stage, self.crowd, self.now)

    def _most_stretch(self, stage: QueuedStage) -> float:
        """By how much the rest of a request may be stretched before it is too late."""
        left = _UNPACED_AFTER * _fair_seconds(stage, self.crowd) - (self.now - _entered(stage))
        return left / max(stage.request_seconds, 0.001)

    def _dear(self, stage: QueuedStage, settings: ProfileSettings) -> bool:
        """Delay-tolerant work waits for a cheaper hour that comes before its slack ends."""
        if stage.criticality != LOW and not stage.backfill:
            return False
        slack = settings.defer_factor * max(stage.request_total, stage.request_seconds)
        until = min(stage.arrived + slack, stage.start_by or float("inf"))
        if until <= self.now:
            return False
        first, last = int(self.now // 3600), int(until // 3600)
        price = settings.prices[first % 24]
        later = range(first + 1, min(last, first + 24) + 1)
        return any(settings.prices[hour % 24] < price for hour in later)

    def _yield(self, item: RunningStage) -> Yield | None:
        settings = self._of(item.stage)
        if self.preempting:
            grace = max(
                (s.preempt_grace_sec for s in self.settings.values() if s.preempt > 0),
                default=settings.preempt_grace_sec,
            )
            since = self.now if item.yielding_since is None else item.yielding_since
            return Yield(item, "Critical work needs its slot.", max(since, item.next_batch) + grace)
        if not settings.yield_to_shorter:
            return None
        return Yield(item, "A stage with a higher score needs its slot or its endpoint.", None)
