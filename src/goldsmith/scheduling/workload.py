"""Generate workloads for the simulator: bursty arrivals, heavy-tailed sizes, hot targets."""

from __future__ import annotations

import random
from dataclasses import dataclass

from goldsmith.scheduling.trace import TraceRun, TraceStage

_MB = 1_000_000.0
_LAYERS = ("bronze", "silver", "gold")


@dataclass(frozen=True, slots=True)
class WorkloadShape:
    """What a generated workload looks like."""

    pipelines: int = 500
    hours: float = 6.0
    #: Share of the runs that arrive in a burst at a full hour or quarter.
    bursty: float = 0.7
    hot_targets: int = 3
    #: Share of the last stages that write a hot target.
    hot_share: float = 0.6
    critical_share: float = 0.04
    low_share: float = 0.2
    after_share: float = 0.1
    #: Mean load of the slots: 1 is all of them busy all the time.
    load: float = 0.95
    slots: int = 8
    #: The exponent of the bounded Pareto distribution of sizes; smaller is heavier.
    tail: float = 1.1
    most_to_least: float = 400.0


def generate(seed: int, shape: WorkloadShape | None = None) -> tuple[TraceRun, ...]:
    """A workload; the same seed and shape give the same runs."""
    shape = shape or WorkloadShape()
    dice = random.Random(seed)
    span = shape.hours * 3600
    sizes = [_pareto(dice, shape.tail, shape.most_to_least) for _ in range(shape.pipelines)]
    scale = shape.load * shape.slots * span / sum(sizes) if sizes else 0.0
    quarters = max(1, int(shape.hours * 4))
    bursts = sorted(dice.sample(range(quarters), k=max(1, int(quarters * 0.6))))
    runs: list[TraceRun] = []
    for index, size in enumerate(sizes):
        name = f"pipeline_{index:03d}"
        if dice.random() < shape.bursty:
            arrives = dice.choice(bursts) * 900 + dice.uniform(0, 30)
        else:
            arrives = dice.uniform(0, span)
        chance = dice.random()
        criticality = (
            "critical"
            if chance < shape.critical_share
            else "low"
            if chance < shape.critical_share + shape.low_share
            else "normal"
        )
        after = (
            (runs[dice.randrange(len(runs))].pipeline,)
            if runs and dice.random() < shape.after_share
            else ()
        )
        runs.append(
            TraceRun(
                pipeline=name,
                criticality=criticality,
                arrives=round(arrives, 3),
                stages=_stages(dice, name, size * scale, shape),
                after=after,
            )
        )
    return tuple(sorted(runs, key=lambda run: (run.arrives, run.pipeline)))


def _stages(
    dice: random.Random, name: str, seconds: float, shape: WorkloadShape
) -> tuple[TraceStage, ...]:
    layers = _LAYERS[: dice.choice((1, 2, 3, 3))]
    parts = [dice.uniform(0.3, 1.0) for _ in layers]
    source = f"raw.{name}"
    found: list[TraceStage] = []
    for index, (layer, part) in enumerate(zip(layers, parts, strict=True)):
        last = index == len(layers) - 1
        hot = last and shape.hot_targets and dice.random() < shape.hot_share
        target = f"hot_{dice.randrange(shape.hot_targets)}" if hot else f"{layer}.{name}"
        took = max(0.5, seconds * part / sum(parts))
        size = took * 20 * _MB * dice.lognormvariate(0, 0.4)
        found.append(
            TraceStage(
                seconds=round(took, 3),
                source=source,
                target=target,
                records=float(round(size / 500)),
                bytes=float(round(size)),
            )
        )
        source = target
    return tuple(found)


def _pareto(dice: random.Random, tail: float, most_to_least: float) -> float:
    """A value of the bounded Pareto distribution from 1 to `most_to_least`."""
    share = dice.random()
    low, high = 1.0, most_to_least**-tail
    return float((low - share * (low - high)) ** (-1 / tail))
