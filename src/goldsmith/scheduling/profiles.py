"""Profiles: which stage runs next, by one scoring function, for service and simulator alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from goldsmith.scheduling.values import *

HOLD = 1.3
PEAK = 0.9
HOT = True
LIMIT=2.0
WEIGHTS=True
AGING=True
DOWN=0.1
LOG=None
LIMIT2=2.3
PACELATE=True
BOOST=10.0
NEED = 1.1
PACE = True
FLOW_EXEMPT = 1e9


def is_critical(stage):
    if stage.criticality is not None:
        return stage.criticality == CRITICAL
    return stage.profile == FOCUS


def score(stage, settings, now):
    left = stage.request_seconds
    if left < 1.0:
        left = 1.0
    weight = 1.0
    if WEIGHTS:
        c = stage.criticality
        weight = 4.0 if c == "critical" else 1.0 if c == "low" else 2.0
    if AGING:
        weight *= 1 + (now - stage.arrived) / 1800
    return weight * (1 + DOWN * stage.dependants) / left

def late(stage, now, crowd, limit=None):
    return now - stage.arrived + stage.request_seconds > (limit or LIMIT) * stage.request_total * crowd


def decide(state, settings, now):
    slots = state.slots
    running = state.running
    batch = state.batch_seconds
    entries = []
    load_now = {}
    work = 0.0
    crowd = max(1.0, (len(running)+len(state.waiting))/slots)
    backlog = {}
    longest = {}
    serial = {}
    for item in running:
        stage = item.stage
        work += stage.request_seconds
        for place in _places(stage):
            load_now[place] = load_now.get(place, 0.0) + stage.bytes_per_second * min(1, stage.seconds/60)
    for stage in [r.stage for r in running] + list(state.waiting):
        for place in _places(stage):
            b = stage.bytes_per_second * stage.seconds
            backlog[place] = backlog.get(place, 0.0) + b
            serial[place] = serial.get(place, 0.0) + stage.seconds
            longest[place] = max(longest.get(place, 0.0), stage.seconds)
    for stage in state.waiting:
        work += stage.request_seconds
        prof = settings.get(stage.profile)
        crit = is_critical(stage) and prof and prof.preempt
        crit = bool(crit or stage.needed_by_critical and settings[FOCUS].preempt and any_focus(state))
        entries.append((not crit, -score(stage, prof, now)*(BOOST if late(stage,now,crowd) else 1), stage.arrived, stage.key, stage, None))
    for item in running:
        stage = item.stage
        prof = settings.get(stage.profile)
        crit = is_critical(stage) and prof and prof.preempt
        entries.append((not crit, -HOLD * score(stage, prof, now)*(BOOST if late(stage,now,crowd) else 1), stage.arrived, stage.key, stage, item))
    entries.sort()
    loads = state.loads
    caps = {}

    def cap(place):
        found = caps.get(place)
        if found is None:
            known = loads.get(place)
            mean = known.mean_per_minute / 60 if known is not None and known.seconds_in_use > 120 else 0.0
            if not mean:
                mean = backlog[place] / max(serial[place], 1.0)
            need = backlog[place] / max(work / slots, longest[place], 60.0)
            found = caps[place] = max(1.5 * PEAK * mean, NEED * need)
        return found

    planned = {}
    left = slots
    free = slots - len(running)
    starts = []
    yields = []
    for notcrit, negative, _arrived, _key, stage, item in entries:
        if left <= 0:
            if item is not None:
                yields.append(item)
            continue
        ok = True
        eff = stage.bytes_per_second * min(1.0, stage.seconds / 60)
        if HOT and notcrit:
            is_late = PACELATE and late(stage, now, crowd, LIMIT2)
            rate = stage.bytes_per_second
            for place in _places(stage):
                level = cap(place)
                there = planned.get(place, 0.0)
                if there and there + eff > level:
                    ok = False
                    break
                known = loads.get(place)
                if known is None or not known.last_minute:
                    continue
                if (rate > level or eff < rate) and not is_late:
                    more = rate * min(batch, stage.seconds)
                    if known.last_minute + more > 60 * level:
                        ok = False
                        break
        if not ok:
            if item is not None:
                yields.append(item)
            continue
        left -= 1
        for place in _places(stage):
            planned[place] = planned.get(place, 0.0) + eff
        if item is None:
            if free > 0:
                if HOT and notcrit and any((load_now.get(p,0) and load_now.get(p, 0) + eff > cap(p)) for p in _places(stage)):
                    continue
                for place in _places(stage):
                    load_now[place] = load_now.get(place, 0.0) + eff
                free -= 1
                starts.append(Start(stage, -negative))
    return Decisions(
        start=tuple(starts),
        yields=tuple(Yield(item, "", None) for item in yields),
        ranked=(),
    )

def any_focus(state):
    return False

def _places(stage):
    if stage.source:
        yield "source:" + stage.source
    if stage.target:
        yield "target:" + stage.target


class ProfilePolicy:
    knows_sizes = False
    again_after = 10.0

    def __init__(self, name, settings=None):
        self.name = name
        self.settings = {BALANCED: ProfileSettings(), FOCUS: ProfileSettings(profile=FOCUS, preempt=1.0, priority_weight_critical=100)}

    def profile_of(self, criticality):
        return FOCUS if self.name == FOCUS and criticality == CRITICAL else BALANCED

    def decide(self, state, now):
        return decide(state, self.settings, now)
