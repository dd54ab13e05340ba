"""The gates in order: each decides whether a stage may start now, and gives the reason if not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from goldsmith.planning.run_windows import BadRunWindow, next_open
from goldsmith.scheduling.values import GateVerdict

_OPEN = GateVerdict(True)


@dataclass(frozen=True, slots=True)
class GateFacts:
    """The facts about one request that the gates need; the caller reads them from rows."""

    now: float
    pipeline: str
    #: Sentence of the flag that stops it (who, why); None: no flag.
    stopped_because: str | None = None
    #: The window's text, such as `22:00-06:00 Europe/Zurich`; None: always.
    window: str | None = None
    #: Upstream dataset → seconds by which its data is too old; empty: all fresh.
    stale_upstreams: Mapping[str, float] = field(default_factory=dict)
    #: Sources that are down, with a sentence each.
    unhealthy_sources: Mapping[str, str] = field(default_factory=dict)
    #: Target → who holds its lease.
    held_targets: Mapping[str, str] = field(default_factory=dict)
    #: Throttle → why the first stage would wait for it, in a sentence.
    throttled: Mapping[str, str] = field(default_factory=dict)
    #: Sentence of `profiles.decide` if it keeps the request waiting; None: it may start.
    profile_wait: str | None = None


Gate = Callable[[GateFacts], GateVerdict]


def kill_switch(facts: GateFacts) -> GateVerdict:
    """No flag stops it."""
    return _OPEN if facts.stopped_because is None else GateVerdict(False, facts.stopped_because)


def window(facts: GateFacts) -> GateVerdict:
    """The pipeline may run at this time of day."""
    now = datetime.fromtimestamp(facts.now, UTC)
    try:
        opens = next_open(facts.window, now)
    except BadRunWindow as error:
        return GateVerdict(False, str(error))
    if opens <= now:
        return _OPEN
    because = f"Its window {facts.window} opens at {opens:%Y-%m-%d %H:%M} UTC."
    return GateVerdict(False, because, opens.timestamp())


def upstream_freshness(facts: GateFacts) -> GateVerdict:
    """The datasets it reads are fresh enough."""
    for dataset, seconds in sorted(facts.stale_upstreams.items()):
        return GateVerdict(False, f"Dataset '{dataset}' is {seconds / 60:.0f} minutes too old.")
    return _OPEN


def source_health(facts: GateFacts) -> GateVerdict:
    """Its sources are healthy."""
    for source, sentence in sorted(facts.unhealthy_sources.items()):
        return GateVerdict(False, f"Source '{source}' is down: {sentence}")
    return _OPEN


def target_lease(facts: GateFacts) -> GateVerdict:
    """No other run writes its target."""
    for target, holder in sorted(facts.held_targets.items()):
        return GateVerdict(False, f"Target '{target}' is being written by {holder}.")
    return _OPEN


def throttle(facts: GateFacts) -> GateVerdict:
    """No throttle of its source or target is in debt for long, or has all its slots taken."""
    for _name, sentence in sorted(facts.throttled.items()):
        return GateVerdict(False, sentence)
    return _OPEN


def profile(facts: GateFacts) -> GateVerdict:
    """The profile gives it a slot."""
    return _OPEN if facts.profile_wait is None else GateVerdict(False, facts.profile_wait)


#: The gates, in the order in which they are passed.
GATES: tuple[Gate, ...] = (
    kill_switch,
    window,
    upstream_freshness,
    source_health,
    target_lease,
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
