"""The gates in order: each says whether a stage may start now, and why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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


def first_closed(facts: GateFacts) -> tuple[str, GateVerdict] | None:
    """The name and verdict of the first closed gate of `GATES`; None: all are open."""
    raise NotImplementedError
