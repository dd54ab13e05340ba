"""Profiles: which stage runs next. One score and one decision, for service and simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from math import prod
from typing import Any

from goldsmith.scheduling.values import (
    CRITICAL,
    FOCUS,
    LOW,
    Decisions,
    ProfileSettings,
    QueuedStage,
    SchedulerState,
    Start,
    Term,
    Wait,
    Yield,
)


def settings_from_rows(profile: str, rows: Mapping[str, float]) -> ProfileSettings:
    """The settings of a profile: its rows over the defaults of `balanced` or `focus`."""
    known = {field.name for field in fields(ProfileSettings)} - {"profile", "prices"}
    focus = {"preempt": 1.0, "priority_weight_critical": 100.0} if profile == FOCUS else {}
    values = {name: value for name, value in rows.items() if name in known}
    found: dict[str, Any] = {**focus, **values}
    return ProfileSettings(profile=profile, **found)


def is_critical(stage: QueuedStage) -> bool:
    """Critical by its own row, or mapped to focus without a criticality of its own."""
    if stage.criticality is not None:
        return stage.criticality == CRITICAL
    return stage.profile == FOCUS


def score_terms(
    stage: QueuedStage, settings: ProfileSettings, state: SchedulerState, now: float
) -> tuple[Term, ...]:
    """The terms of a stage's score with a sentence each, for `why`; the score is their product."""
    weight = settings.priority_weight_normal
    if is_critical(stage):
        weight = settings.priority_weight_critical
    elif stage.criticality == LOW:
        weight = settings.priority_weight_noncritical
    age = 1 + (now - stage.arrived) / 60 / max(settings.aging_minutes, 0.01)
    shortness = 1 / max(stage.request_seconds, 1.0)
    below = 1 + settings.downstream_weight * stage.dependants
    backfill = settings.backfill_weight if stage.backfill else 1.0
    return (
        Term("weight", weight, f"the weight of {stage.criticality or 'normal'} pipelines"),
        Term("age", age, f"it waits {now - stage.arrived:.0f} s"),
        Term("shortness", shortness, f"it takes about {stage.request_seconds:.0f} s"),
        Term("downstream", below, f"{stage.dependants} depend on it"),
        Term("backfill", backfill, "a backfill" if stage.backfill else "no backfill"),
    )


def score(
    stage: QueuedStage, settings: ProfileSettings, state: SchedulerState, now: float
) -> float:
    """The score that orders the queue, highest first: the product of `score_terms`."""
    return prod(term.value for term in score_terms(stage, settings, state, now))


def decide(state: SchedulerState, settings: Mapping[str, ProfileSettings], now: float) -> Decisions:
    """Which stages start now and in which order, which wait and why, which yield.

    `settings` has one entry for each profile in use; a profile without one is balanced.
    """

    def of(stage: QueuedStage) -> ProfileSettings:
        return settings.get(stage.profile, ProfileSettings())

    def first(stage: QueuedStage) -> bool:
        return (of(stage).preempt > 0 and is_critical(stage)) or stage.needed_by_critical

    ranked = sorted(
        ((not first(s), -score(s, of(s), state, now), s.arrived, s.key, s) for s in state.waiting),
        key=lambda entry: entry[:4],
    )
    has_first = any(not entry[0] for entry in ranked) or any(first(r.stage) for r in state.running)
    free = state.slots - len(state.running)
    start: list[Start] = []
    wait: list[Wait] = []
    for position, (is_later, negative, _arrived, _key, stage) in enumerate(ranked, 1):
        used = sum(r.stage.profile == stage.profile for r in state.running)
        used += sum(s.stage.profile == stage.profile for s in start)
        most = of(stage).max_concurrent_tasks
        because = f"{state.slots} slots are taken, {position - 1} requests come first"
        if is_later and has_first:
            because = "critical pipelines have every slot"
        elif used >= most:
            because = f"profile {stage.profile} runs {used} of {most:g} at once"
        elif free > len(start):
            start.append(Start(stage, -negative))
            continue
        wait.append(Wait(stage, -negative, position, partial(str, because)))
    yields = []
    if any(not entry[0] for entry in ranked):
        for item in state.running:
            if not first(item.stage):
                since = item.yielding_since if item.yielding_since is not None else now
                grace = settings.get(FOCUS, ProfileSettings()).preempt_grace_sec
                yields.append(Yield(item, "a critical pipeline needs its slot", since + grace))
    return Decisions(tuple(start), tuple(wait), tuple(yields))
