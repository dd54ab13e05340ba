"""The gates in order: each says whether a stage may start now, and why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from goldsmith.scheduling.schedules import next_open
from goldsmith.scheduling.values import GateVerdict


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What the gates look at for one request; the caller reads it from rows."""

    now: float
    pipeline: str
    #: Sentence of the flag that stops it (who, why); None: no flag.
    stopped_because: str | None = None
    #: `pipelines` window text, such as `22:00-06:00 Europe/Zurich`; None: always.
    window: str | None = None
    #: Upstream dataset → seconds its data is too old; empty: all fresh.
    stale_upstreams: Mapping[str, float] = field(default_factory=dict)
    #: Sources that are down, with a sentence each.
    unhealthy_sources: Mapping[str, str] = field(default_factory=dict)
    #: Target → who holds its lease.
    held_targets: Mapping[str, str] = field(default_factory=dict)
    #: Throttle → seconds until its bucket has tokens.
    throttled: Mapping[str, float] = field(default_factory=dict)
    #: Sentence of `profiles.decide` if it keeps the request waiting; None: it may start.
    profile_wait: str | None = None


Gate = Callable[[GateFacts], GateVerdict]


def kill_switch(facts: GateFacts) -> GateVerdict:
    return GateVerdict(facts.stopped_because is None, facts.stopped_because or "")


def window(facts: GateFacts) -> GateVerdict:
    at = datetime.fromtimestamp(facts.now, UTC)
    opens = next_open(facts.window, at)
    because = f"its window {facts.window} opens at {opens:%Y-%m-%d %H:%M} UTC"
    return GateVerdict(opens <= at, because, opens.timestamp())


def upstream_freshness(facts: GateFacts) -> GateVerdict:
    stale = ", ".join(f"{name} by {age:.0f} s" for name, age in facts.stale_upstreams.items())
    return GateVerdict(not stale, f"its inputs are too old: {stale}")


def source_health(facts: GateFacts) -> GateVerdict:
    return GateVerdict(not facts.unhealthy_sources, "; ".join(facts.unhealthy_sources.values()))


def lease(facts: GateFacts) -> GateVerdict:
    held = ", ".join(f"{name} is written by {who}" for name, who in facts.held_targets.items())
    return GateVerdict(not held, held)


def throttle(facts: GateFacts) -> GateVerdict:
    waits = ", ".join(f"{name}, {left:.0f} s" for name, left in facts.throttled.items())
    return GateVerdict(not waits, f"waiting for throttle {waits}")


def profile(facts: GateFacts) -> GateVerdict:
    return GateVerdict(facts.profile_wait is None, facts.profile_wait or "")


GATES: tuple[Gate, ...] = (
    kill_switch,
    window,
    upstream_freshness,
    source_health,
    lease,
    throttle,
    profile,
)


def first_closed(facts: GateFacts) -> tuple[str, GateVerdict] | None:
    """The name and verdict of the first closed gate of `GATES`; None: all are open."""
    for gate in GATES:
        verdict = gate(facts)
        if not verdict.open:
            return gate.__name__, verdict
    return None
