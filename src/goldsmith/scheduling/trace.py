"""Traces: the runs a simulation replays, as JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from goldsmith.errors import GoldsmithError, one_of

#: Intervals are regular if the longest is at most this much longer than the shortest.
_REGULAR = 1.2
_CRITICALITIES = ("critical", "normal", "low")
_RUN_KEYS = frozenset(("pipeline", "criticality", "arrives", "stages", "after"))
_STAGE_KEYS = frozenset(("seconds", "source", "target", "records", "bytes"))


@dataclass(frozen=True, slots=True)
class TraceStage:
    """One stage of a run in a trace."""

    seconds: float
    source: str = ""
    target: str = ""
    records: float = 0.0
    bytes: float = 0.0

    @property
    def bytes_per_second(self) -> float:
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class TraceRun:
    """One run of a pipeline: a line of a trace."""

    pipeline: str
    arrives: float
    stages: tuple[TraceStage, ...]
    criticality: str | None = None
    #: Pipelines whose run it waits for.
    after: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)


@dataclass(eq=False, kw_only=True)
class BadTrace(GoldsmithError):
    """A trace cannot be simulated."""

    line: int
    because: str

    def __str__(self) -> str:
        return f"Line {self.line} of the trace: {self.because}."

    @property
    def hint(self) -> str:
        return (
            'Each line is one JSON object: {"pipeline", "criticality", "arrives": seconds,'
            ' "stages": [{"seconds", "source", "target", "records", "bytes"}],'
            ' "after": [pipeline]}.'
        )


def read_trace(lines: Iterable[str]) -> tuple[TraceRun, ...]:
    """Parse the lines of a trace; empty lines are skipped. Raises BadTrace."""
    runs: list[TraceRun] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise BadTrace(line=number, because=f"it is not JSON ({error})") from None
        runs.append(_run(number, value))
        numbers.append(number)
    if not runs:
        raise BadTrace(line=1, because="there are no runs in it")
    known = {run.pipeline for run in runs}
    for number, run in zip(numbers, runs, strict=True):
        for name in run.after:
            if name not in known:
                because = f"'{run.pipeline}' runs after '{name}', which is not in the trace"
                raise BadTrace(line=number, because=because)
    circle = find_circle({run.pipeline: run.after for run in runs})
    if circle:
        where = next(n for n, run in zip(numbers, runs, strict=True) if run.pipeline == circle[0])
        raise BadTrace(line=where, because=f"`after` goes in a circle: {' → '.join(circle)}")
    return tuple(runs)


def write_trace(runs: Iterable[TraceRun]) -> Iterable[str]:
    """The lines of a trace."""
    for run in runs:
        value: dict[str, Any] = {
            "pipeline": run.pipeline,
            "criticality": run.criticality,
            "arrives": run.arrives,
            "stages": [
                {
                    "seconds": stage.seconds,
                    "source": stage.source,
                    "target": stage.target,
                    "records": stage.records,
                    "bytes": stage.bytes,
                }
                for stage in run.stages
            ],
            "after": list(run.after),
        }
        yield json.dumps(value, ensure_ascii=False)


def upstream_runs(runs: Sequence[TraceRun]) -> list[tuple[int, ...]]:
    """For each run the runs it waits for.

    Of a pipeline named in `after` it is the latest run that arrives no later than this run; if
    all arrive later, the first of them.
    """
    by_pipeline: dict[str, list[tuple[float, int]]] = {}
    for index, run in enumerate(runs):
        by_pipeline.setdefault(run.pipeline, []).append((run.arrives, index))
    for arrivals in by_pipeline.values():
        arrivals.sort()
    found: list[tuple[int, ...]] = []
    for run in runs:
        mine: list[int] = []
        for name in dict.fromkeys(run.after):
            arrivals = by_pipeline[name]
            earlier = [index for arrives, index in arrivals if arrives <= run.arrives]
            mine.append(earlier[-1] if earlier else arrivals[0][1])
        found.append(tuple(mine))
    return found


def periods(runs: Sequence[TraceRun]) -> dict[str, float]:
    """The seconds between two runs of each pipeline that arrives at regular times."""
    arrivals: dict[str, list[float]] = {}
    for run in runs:
        arrivals.setdefault(run.pipeline, []).append(run.arrives)
    found: dict[str, float] = {}
    for name, times in arrivals.items():
        gaps = [later - earlier for earlier, later in pairwise(sorted(times))]
        if len(gaps) > 1 and max(gaps) <= _REGULAR * min(gaps):
            found[name] = min(gaps)
    return found


def find_circle(after: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The names of a circle of `after`, first and last alike; empty if there is none."""
    done: set[str] = set()
    for start in after:
        trail: list[str] = []
        on_trail: set[str] = set()
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            name, index = stack.pop()
            if index == 0:
                if name in done:
                    continue
                trail.append(name)
                on_trail.add(name)
            followers = after.get(name, ())
            if index < len(followers):
                stack.append((name, index + 1))
                follower = followers[index]
                if follower in on_trail:
                    return (*trail[trail.index(follower) :], follower)
                if follower not in done:
                    stack.append((follower, 0))
            else:
                done.add(name)
                on_trail.discard(name)
                trail.pop()
    return ()


def _run(line: int, value: object) -> TraceRun:
    if not isinstance(value, dict):
        raise BadTrace(line=line, because="it is not an object")
    _refuse_unknown(line, value, _RUN_KEYS)
    pipeline = value.get("pipeline")
    if not isinstance(pipeline, str) or not pipeline:
        raise BadTrace(line=line, because="`pipeline` is missing or not a text")
    criticality = value.get("criticality")
    if criticality is not None and criticality not in _CRITICALITIES:
        because = (
            f"`criticality` is {criticality!r}, and it may be {one_of(_CRITICALITIES)} or null"
        )
        raise BadTrace(line=line, because=because)
    stages = value.get("stages")
    if not isinstance(stages, list) or not stages:
        raise BadTrace(line=line, because="`stages` is missing or empty")
    after = value.get("after") or []
    if not isinstance(after, list) or not all(isinstance(name, str) for name in after):
        raise BadTrace(line=line, because="`after` is not a list of pipelines")
    return TraceRun(
        pipeline=pipeline,
        criticality=criticality,
        arrives=_number(line, value, "arrives"),
        stages=tuple(_stage(line, stage) for stage in stages),
        after=tuple(after),
    )


def _stage(line: int, value: object) -> TraceStage:
    if not isinstance(value, dict):
        raise BadTrace(line=line, because="a stage is not an object")
    _refuse_unknown(line, value, _STAGE_KEYS)
    for key in ("source", "target"):
        if not isinstance(value.get(key) or "", str):
            raise BadTrace(line=line, because=f"`{key}` of a stage is not a text")
    return TraceStage(
        seconds=_number(line, value, "seconds"),
        source=value.get("source") or "",
        target=value.get("target") or "",
        records=_number(line, value, "records", default=0.0),
        bytes=_number(line, value, "bytes", default=0.0),
    )


def _refuse_unknown(line: int, value: Mapping[str, object], known: frozenset[str]) -> None:
    if unknown := sorted(value.keys() - known):
        because = f"`{unknown[0]}` is not known here; known are {one_of(sorted(known))}"
        raise BadTrace(line=line, because=because)


def _number(
    line: int, value: Mapping[str, object], key: str, *, default: float | None = None
) -> float:
    number = value.get(key, default)
    if number is None and default is not None:
        number = default
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise BadTrace(line=line, because=f"`{key}` is missing or not a number")
    if not math.isfinite(number) or number < 0:
        raise BadTrace(line=line, because=f"`{key}` is {number}, and it must be 0 or more")
    return float(number)
