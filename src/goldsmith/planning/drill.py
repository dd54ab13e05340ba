"""Rehearse an outage: what would be served while datasets are down, how, how stale, and what not.

The plan is re-routed by the code that runs use; nothing is probed and nothing runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.edges import Edge
from goldsmith.planning import planner
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.dataset_info import find
from goldsmith.planning.plan import Plan, PlannedStage, StageDecision
from goldsmith.planning.rerouting import ReroutedPlan, Unserved, reroute_plan
from goldsmith.planning.stage_context import Dataset

DOWN = "down in this drill"
#: When data of a dataset arrived last; None: not known.
LastData = Callable[[str], datetime | None]


class DrillOutcome(StrEnum):
    """The outcome for a dataset while others are down."""

    #: Its stage reads another dataset in place of its source.
    OTHER_WAY = "other way"
    #: Its stage runs as always: its inputs are served.
    SERVED = "served"
    #: It keeps what it holds, and gets older.
    NOT_SERVED = "not served"


@dataclass(frozen=True, kw_only=True, slots=True)
class DrillLine:
    """The outcome for one dataset."""

    dataset_id: str
    stage_id: str
    outcome: DrillOutcome
    #: The path it is served by, or why it is not.
    because: str
    path_sequence: str | None = None
    cost: float | None = None
    latency_sec: float | None = None
    #: When data last arrived: of the path's origins, or of the dataset that is not served.
    last_data: datetime | None = None
    stale_sec: float | None = None

    def as_plain(self) -> dict[str, Any]:
        moment = None if self.last_data is None else self.last_data.isoformat()
        return {**asdict(self), "last_data": moment}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsal:
    """The outcome for all datasets while some are down."""

    down: tuple[str, ...]
    #: Every dataset made of those that are down, inputs first.
    lines: tuple[DrillLine, ...]
    #: Datasets that are served as always, and lose a spare path: dataset → the spare source.
    spares_lost: Mapping[str, str] = field(default_factory=dict)

    @property
    def not_served(self) -> tuple[str, ...]:
        return tuple(x.dataset_id for x in self.lines if x.outcome is DrillOutcome.NOT_SERVED)

    def as_plain(self) -> dict[str, Any]:
        return {
            "down": list(self.down),
            "datasets": [line.as_plain() for line in self.lines],
            "served": len(self.lines) - len(self.not_served),
            "not_served": list(self.not_served),
            "spares_lost": dict(self.spares_lost),
        }


def affected_stages(index: CatalogIndex, down: Collection[str]) -> list[str]:
    """The enabled stages that read a dataset that is down, directly or through other stages."""
    touched = set(down)
    found: dict[str, None] = {}
    for name in index.order:
        context = index.stages[name]
        if not context.stage.enabled or context.stage.target_id is None:
            continue
        if any(dataset.dataset_id in touched for dataset in context.inputs):
            found[name] = None
            touched.add(context.stage.target_id)
    return list(found)


def rehearse(
    index: CatalogIndex,
    down: Collection[str],
    now: datetime,
    *,
    environment: str,
    known_down: Mapping[str, str] | None = None,
    last_data: LastData = lambda dataset_id: None,
) -> Rehearsal:
    """Rehearse an outage of these datasets and of those known to be down."""
    for dataset_id in down:
        find(index.rows, dataset_id)
    reasons = {**(known_down or {}), **dict.fromkeys(down, DOWN)}
    names = affected_stages(index, down)
    lines: list[DrillLine] = []
    if names:
        selection = [f"stage:{name}" for name in names]
        plan = planner.plan(index, selection, now=now, environment=environment)

        def is_down(dataset: Dataset) -> str | None:
            return reasons.get(dataset.dataset_id)

        found = reroute_plan(plan, index, is_down, now, cut=down, every=True)
        lines = _lines(plan, found, names, now, last_data)
    return Rehearsal(
        down=tuple(down), lines=tuple(lines), spares_lost=_spares(index, set(down), set(names))
    )


def _lines(
    plan: Plan, found: ReroutedPlan, names: Collection[str], now: datetime, last_data: LastData
) -> list[DrillLine]:
    unserved = {missing.stage_id: missing for missing in found.unserved}
    planned = {stage.stage_id: stage for stage in plan.stages}
    return [
        _line(stage, planned[stage.stage_id], found, unserved, now, last_data)
        for stage in found.plan.stages
        if stage.stage_id in set(names)
    ]


def _line(
    stage: PlannedStage,
    before: PlannedStage,
    found: ReroutedPlan,
    unserved: Mapping[str, Unserved],
    now: datetime,
    last_data: LastData,
) -> DrillLine:
    target = str(stage.context.stage.target_id)
    detour, missing = found.detours.get(stage.stage_id), unserved.get(stage.stage_id)
    if detour is not None:
        origins = [detour.datasets[0], *(d.dataset_id for d in detour.context.inputs[1:])]
        newest = [last_data(name) for name in origins]
        last = None if None in newest else min(at for at in newest if at is not None)
        return DrillLine(
            dataset_id=target,
            stage_id=stage.stage_id,
            outcome=DrillOutcome.OTHER_WAY,
            because=f"reads {detour.reads} in place of {before.context.stage.source_id}",
            path_sequence=",".join(detour.datasets),
            cost=detour.cost,
            latency_sec=detour.latency_sec,
            last_data=last,
            stale_sec=_age(last, now),
        )
    if missing is None and before.fate is StageDecision.READY:
        reads = ", ".join(dataset.dataset_id for dataset in stage.context.inputs)
        return DrillLine(
            dataset_id=target,
            stage_id=stage.stage_id,
            outcome=DrillOutcome.SERVED,
            because=f"{reads} is served",
        )
    because = before.because
    if missing is not None:
        others = "; ".join(missing.others) or "nothing else leads to it"
        because = f"{missing.source} is down ({missing.because}): {others}"
    last = last_data(target)
    return DrillLine(
        dataset_id=target,
        stage_id=stage.stage_id,
        outcome=DrillOutcome.NOT_SERVED,
        because=because,
        last_data=last,
        stale_sec=_age(last, now),
    )


def _age(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else round((now - at).total_seconds(), 1)


def _spares(index: CatalogIndex, down: set[str], names: set[str]) -> dict[str, str]:
    """The datasets that are made as always, and lose another path to be made."""
    targets = {str(index.stages[name].stage.target_id) for name in names}
    return {
        edge.to_dataset_id: edge.from_dataset_id
        for edge in index.rows.rows(Edge)
        if edge.from_dataset_id in down and edge.to_dataset_id not in targets
    }
