"""Stages form a cycle through the datasets they read and write, so there is no order to run them.

A stage whose SQL reads its own target, for example to find missing rows, is no cycle: it reads the
table as last published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.cycles import circles, drawn
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, graph_rule
from goldsmith.planning.stage_context import StageContext


@graph_rule(FindingSeverity.ERROR)
def cycle(rows: CatalogRows, stages: Mapping[str, StageContext]) -> Iterator[FoundProblem]:
    left = _unsettled(stages.values())
    if not left:
        return
    feeds: dict[str, dict[str, StageContext]] = {}
    for context in left:
        target = context.stage.target_id
        for dataset in context.inputs:
            if target is not None and not _looks_into_itself(context, dataset.dataset_id):
                feeds.setdefault(dataset.dataset_id, {})[target] = context
    for circle in circles(feeds):
        for here, there in zip(circle, (*circle[1:], circle[0]), strict=True):
            context = feeds[here][there]
            yield FoundProblem(
                context.stage,
                f"Stage {context.stage_id} is part of a circle of datasets: {drawn(circle)}.",
                "Let one of the stages in the circle read or write another dataset.",
            )


def _unsettled(stages: Iterable[StageContext]) -> list[StageContext]:
    """The stages that are in a cycle or downstream of one, and a few others.

    Most stages already come after their upstream stages, so one pass settles nearly all.
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
    stages: Iterable[StageContext], settled: set[str], waiting: dict[str, int]
) -> list[StageContext]:
    left = []
    for context in stages:
        for dataset in context.inputs:
            if (
                dataset.writers
                and dataset.dataset_id not in settled
                and not _looks_into_itself(context, dataset.dataset_id)
            ):
                left.append(context)
                break
        else:
            target = context.target
            if target is None:
                continue
            name, others = target.dataset_id, len(target.writers) - 1
            if others > 0:
                # A dataset is settled when the last of its writers is.
                waiting[name] = waiting.get(name, others + 1) - 1
                if waiting[name] > 0:
                    continue
            settled.add(name)
    return left


def _looks_into_itself(context: StageContext, dataset_id: str) -> bool:
    return context.stage.target_id == dataset_id != context.stage.source_id
