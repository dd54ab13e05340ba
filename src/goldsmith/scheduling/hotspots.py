"""Hotspots: how much load a source or target may take now, so that its load stays flat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldsmith.scheduling.values import PlaceLoad, QueuedStage, RunningStage

#: A endpoint is kept this far below its limit: a stage that yields goes on to its next micro-batch.
_MARGIN = 0.9
#: A endpoint may run this much faster than the rate at which its backlog ends with all other work.
_CATCH_UP = 1.1
#: The mean of a endpoint counts once it was in use this long.
_KNOWN_AFTER = 120.0
#: The backlog of a endpoint that ends within this many seconds raises its limit to end with it.
_HORIZON = 300.0
_MINUTE = 60.0


def endpoints(stage: QueuedStage) -> tuple[str, ...]:
    """The endpoints a stage uses: `source:ID`, `target:ID`."""
    if stage.source and stage.target:
        return ("source:" + stage.source, "target:" + stage.target)
    if stage.source:
        return ("source:" + stage.source,)
    return ("target:" + stage.target,) if stage.target else ()


def minute_rate(stage: QueuedStage) -> float:
    """The bytes per second a stage adds to a minute: one that ends within it adds less."""
    return stage.bytes_per_second * min(1.0, stage.seconds / _MINUTE)


class EndpointLimits:
    """The load that is planned on every endpoint, and its limit.

    The limit of an endpoint is `peak_to_mean` times its mean load while in use. It is higher where
    the backlog of the endpoint would end after all other work: then the endpoint is the bottleneck,
    and a flat load means using it fully.
    """

    def __init__(
        self,
        waiting: Sequence[QueuedStage],
        running: Sequence[RunningStage],
        loads: Mapping[str, PlaceLoad],
        slots: int,
        batch_seconds: float,
    ) -> None:
        self._loads = loads
        self._batch = batch_seconds
        self._planned: dict[str, float] = {}
        self._now: dict[str, float] = {}
        self._limits: dict[tuple[str, float], float] = {}
        #: Of each source and target: bytes, seconds and the longest stage of its backlog.
        self._sources: dict[str, list[float]] = {}
        self._targets: dict[str, list[float]] = {}
        work = 0.0
        for stage in waiting:
            work += stage.request_seconds
            self._count(stage)
        for item in running:
            work += item.stage.request_seconds
            self._count(item.stage)
            self.start(item.stage)
        self._drain = work / max(1, slots)

    def _count(self, stage: QueuedStage) -> None:
        seconds = stage.seconds
        size = stage.bytes_per_second * seconds
        for name, backlog in ((stage.source, self._sources), (stage.target, self._targets)):
            there = backlog.get(name)
            if there is None:
                backlog[name] = [size, seconds, seconds]
                continue
            there[0] += size
            there[1] += seconds
            if seconds > there[2]:
                there[2] = seconds

    def limit(self, endpoint: str, peak_to_mean: float) -> float:
        """Bytes per second that the endpoint may take."""
        found = self._limits.get((endpoint, peak_to_mean))
        if found is None:
            kind, _, name = endpoint.partition(":")
            backlog = self._sources if kind == "source" else self._targets
            size, seconds, longest = backlog[name]
            known = self._loads.get(endpoint)
            if known is not None and known.seconds_in_use > _KNOWN_AFTER:
                mean = known.mean_per_minute / _MINUTE
            else:
                mean = size / max(seconds, 1.0)
            keeps_up = size / max(self._drain, longest, _HORIZON)
            found = max(_MARGIN * peak_to_mean * mean, _CATCH_UP * keeps_up)
            self._limits[endpoint, peak_to_mean] = found
        return found

    def hot_endpoint(
        self, stage: QueuedStage, peak_to_mean: float, *, late: bool, most_stretch: float
    ) -> str | None:
        """The endpoint that has no room for the stage in the plan; None: it fits.

        A late stage waits for no other one. A stage whose own rate is above the limit runs only a
        part of the time, unless that would stretch what is left of it beyond `most_stretch`.
        """
        rate, more = stage.bytes_per_second, minute_rate(stage)
        for endpoint in endpoints(stage):
            limit = self.limit(endpoint, peak_to_mean)
            there = self._planned.get(endpoint, 0.0)
            if there and there + more > limit:
                if not late and not self._is_small(stage, endpoint, there, limit):
                    return endpoint
            elif rate <= limit and more >= rate:
                continue
            if rate > limit * most_stretch or most_stretch < 1.0:
                continue
            known = self._loads.get(endpoint)
            if known is not None and known.last_minute:
                batch = rate * min(self._batch, stage.seconds)
                if known.last_minute + batch > _MINUTE * limit:
                    return endpoint
        return None

    def busy_endpoint(self, stage: QueuedStage, peak_to_mean: float) -> str | None:
        """The endpoint on which a stage that is to yield still runs; None: the stage may start."""
        more = minute_rate(stage)
        for endpoint in endpoints(stage):
            there = self._now.get(endpoint, 0.0)
            limit = self.limit(endpoint, peak_to_mean)
            if there and there + more > limit and not self._is_small(stage, endpoint, there, limit):
                return endpoint
        return None

    def _is_small(self, stage: QueuedStage, endpoint: str, there: float, limit: float) -> bool:
        """Whether a stage ends within a micro-batch and its bytes fit into the minute."""
        if stage.seconds > self._batch:
            return False
        known = self._loads.get(endpoint)
        before = known.last_minute if known is not None else 0.0
        size = stage.bytes_per_second * stage.seconds
        return before + there * self._batch + size <= _MINUTE * limit

    def plan(self, stage: QueuedStage) -> None:
        """Count a stage that is to hold a slot."""
        _add(self._planned, stage)

    def start(self, stage: QueuedStage) -> None:
        """Count a stage that runs now."""
        _add(self._now, stage)


def _add(rates: dict[str, float], stage: QueuedStage) -> None:
    rate = minute_rate(stage)
    for endpoint in endpoints(stage):
        rates[endpoint] = rates.get(endpoint, 0.0) + rate
