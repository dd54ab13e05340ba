"""How many bytes each source and target moves in each minute, while a simulation runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from goldsmith.scheduling.values import PlaceLoad


@dataclass(slots=True)
class _Usage:
    """One endpoint."""

    rate: float = 0.0
    active: int = 0
    since: float = 0.0
    bytes: float = 0.0
    seconds_in_use: float = 0.0
    minutes: dict[int, float] = field(default_factory=dict)


class LoadsAt(Mapping[str, PlaceLoad]):
    """The loads of endpoints at one time."""

    def __init__(self, endpoints: Mapping[str, _Usage], now: float) -> None:
        self._endpoints = endpoints
        self._now = now

    def __getitem__(self, endpoint: str) -> PlaceLoad:
        usage = self._endpoints[endpoint]
        _advance(usage, self._now)
        minute, part = int(self._now // 60), (self._now % 60) / 60
        return PlaceLoad(
            last_minute=usage.minutes.get(minute, 0.0)
            + (1 - part) * usage.minutes.get(minute - 1, 0.0),
            mean_per_minute=60 * usage.bytes / usage.seconds_in_use
            if usage.seconds_in_use
            else 0.0,
            seconds_in_use=usage.seconds_in_use,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._endpoints)

    def __len__(self) -> int:
        return len(self._endpoints)


class EndpointUsage:
    """Bytes per minute of every source and target."""

    def __init__(self) -> None:
        self._endpoints: dict[str, _Usage] = {}

    def begin(self, source: str, target: str, rate: float, now: float) -> None:
        for usage in self._of(source, target):
            _advance(usage, now)
            usage.active += 1
            usage.rate += rate

    def end(self, source: str, target: str, rate: float, now: float) -> None:
        for usage in self._of(source, target):
            _advance(usage, now)
            usage.active -= 1
            usage.rate = usage.rate - rate if usage.active else 0.0

    def loads(self, now: float) -> LoadsAt:
        """The loads of all endpoints at a time, each computed when it is looked up."""
        return LoadsAt(self._endpoints, now)

    def peak_to_mean(self) -> dict[str, float]:
        """Most bytes in a minute over the mean bytes per minute in use, at least 1."""
        found: dict[str, float] = {}
        for name, usage in sorted(self._endpoints.items()):
            if not usage.bytes or not usage.seconds_in_use:
                continue
            mean = 60 * usage.bytes / usage.seconds_in_use
            found[name] = max(1.0, max(usage.minutes.values()) / mean)
        return found

    def minutes(self, endpoint: str) -> Mapping[int, float]:
        """Bytes by minute."""
        return self._endpoints[endpoint].minutes

    def _of(self, source: str, target: str) -> Iterator[_Usage]:
        if source:
            yield self._endpoints.setdefault(f"source:{source}", _Usage())
        if target:
            yield self._endpoints.setdefault(f"target:{target}", _Usage())


def _advance(usage: _Usage, now: float) -> None:
    """Count the bytes moved since the last change."""
    start = usage.since
    usage.since = now
    if not usage.active or now <= start:
        return
    usage.seconds_in_use += now - start
    usage.bytes += usage.rate * (now - start)
    while start < now:
        minute = int(start // 60)
        end = min(now, (minute + 1) * 60.0)
        usage.minutes[minute] = usage.minutes.get(minute, 0.0) + usage.rate * (end - start)
        start = end
