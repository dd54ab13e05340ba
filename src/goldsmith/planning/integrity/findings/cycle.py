"""Datasets feed each other in a circle through stages, so no order to run them in is right.

A stage whose SQL looks into its own target, such as for the rows not yet there, is no circle:
it reads the table as it was published last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.circles import circles, drawn
from goldsmith.planning.integrity.finding import Gravity, Wrong, graph_rule
from goldsmith.planning.neighbourhood import Neighbourhood


@graph_rule(Gravity.ERROR)
def cycle(rows: Snapshot, stages: Mapping[str, Neighbourhood]) -> Iterator[Wrong]:
    left = _unsettled(stages.values())
    if not left:
        return
    feeds: dict[str, dict[str, Neighbourhood]] = {}
    for near in left:
        target = near.stage.target_id
        for dataset in near.inputs:
            if target is not None and not _looks_into_itself(near, dataset.dataset_id):
                feeds.setdefault(dataset.dataset_id, {})[target] = near
    for circle in circles(feeds):
        for here, there in zip(circle, (*circle[1:], circle[0]), strict=True):
            near = feeds[here][there]
            yield Wrong(
                near.stage,
                f"Stage {near.stage_id} is part of a circle of datasets: {drawn(circle)}.",
                "Let one of the stages in the circle read or write another dataset.",
            )


def _unsettled(stages: Iterable[Neighbourhood]) -> list[Neighbourhood]:
    """The stages that are in a circle or come after one, and few others.

    Most stages come after the ones they read from already, so one pass settles nearly all.
    """
    settled: set[str] = set()
    waiting: dict[str, int] = {}
    left = _pass(stages, settled, waiting)
    while left:
        still = _pass(left, settled, waiting)
        if len(still) > len(left) * 0.9:
            return still
        left = still
    return left


def _pass(
    stages: Iterable[Neighbourhood], settled: set[str], waiting: dict[str, int]
) -> list[Neighbourhood]:
    left = []
    for near in stages:
        for dataset in near.inputs:
            if (
                dataset.writers
                and dataset.dataset_id not in settled
                and not _looks_into_itself(near, dataset.dataset_id)
            ):
                left.append(near)
                break
        else:
            target = near.target
            if target is None:
                continue
            name, others = target.dataset_id, len(target.writers) - 1
            if others > 0:
                # Settled with the last of its writers.
                waiting[name] = waiting.get(name, others + 1) - 1
                if waiting[name] > 0:
                    continue
            settled.add(name)
    return left


def _looks_into_itself(near: Neighbourhood, dataset_id: str) -> bool:
    return near.stage.target_id == dataset_id != near.stage.source_id
