"""Re-route a plan: read another healthy dataset where a stage's default source is down.

Only stages with a declared alternative are probed. The route is planned anew for every run, so a
run that was killed leaves nothing to repair. The default is used again when its breaker says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from goldsmith.catalog.edges import Edge, RecoveryPath
from goldsmith.engine.attempt import WorkerResources
from goldsmith.errors import GoldsmithError
from goldsmith.lineage.breaker import Breaker
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.plan import Plan, PlannedStage, StageDecision
from goldsmith.planning.routes import route_context, why_it_would_double
from goldsmith.planning.stage_context import StageContext
from goldsmith.planning.stopped import why_stopped
from goldsmith.worker.probes import is_down


@dataclass(eq=False, kw_only=True)
class NoHealthyPath(GoldsmithError):
    """The default source of a stage is down, and so is every other way to its target."""

    transient = True
    exit_code = 1

    stage: str
    target: str
    source: str
    because: str
    others: tuple[str, ...]

    def __str__(self) -> str:
        others = "; ".join(self.others)
        return (
            f"Stage {self.stage} waits: {self.source} is down ({self.because}), and no other way "
            f"to {self.target} is healthy: {others}"
        )

    @property
    def hint(self) -> str:
        ways = f"`goldsmith paths {self.target}` lists the ways"
        return f"{ways}; `goldsmith datasets health` shows what the probes found."


def reroute(
    plan: Plan, index: CatalogIndex, resources: WorkerResources, breaker: Breaker | None = None
) -> Plan:
    """The plan, with stages whose default source is down on their cheapest healthy route."""
    chosen = breaker or Breaker()
    stages = tuple(
        _rerouted(stage, index, resources, chosen) if stage.fate is StageDecision.READY else stage
        for stage in plan.stages
    )
    return replace(plan, stages=stages)


def alternatives(index: CatalogIndex, context: StageContext) -> list[Edge]:
    """The declared edges to a stage's target from datasets it does not read.

    Those that a row of `dataset_recovery_paths` names come first, in the order of those rows;
    then the cheapest.
    """
    reads = {dataset.dataset_id for dataset in context.inputs}
    edges = [
        edge
        for edge in index.rows.rows(Edge)
        if edge.to_dataset_id == context.stage.target_id and edge.from_dataset_id not in reads
    ]
    declared = _declared_order(index, str(context.stage.target_id))
    return sorted(
        edges,
        key=lambda edge: (
            declared.get(edge.from_dataset_id, len(declared) + 1),
            1.0 if edge.cost is None else edge.cost,
            edge.from_dataset_id,
        ),
    )


def _declared_order(index: CatalogIndex, target: str) -> dict[str, int]:
    """The last dataset before the target in each declared recovery path, in their order."""
    rows = sorted(
        (row for row in index.rows.rows(RecoveryPath) if row.dataset_id == target),
        key=lambda row: row.path_order,
    )
    found: dict[str, int] = {}
    for row in rows:
        names = [name.strip() for name in (row.path_sequence or "").split(",")]
        if len(names) > 1 and names[-1] == target:
            found.setdefault(names[-2], len(found))
    return found


def _rerouted(
    stage: PlannedStage, index: CatalogIndex, resources: WorkerResources, breaker: Breaker
) -> PlannedStage:
    context = stage.context
    edges = alternatives(index, context)
    if not edges or context.source is None or context.source.writers:
        return stage
    health = is_down(context.source, resources, breaker)
    if health is None:
        return stage
    refused: list[str] = []
    for edge in edges:
        route = route_context(index, edge)
        why = _why_not(context, route, index, resources, breaker)
        if route is not None and why is None:
            because = (
                f"{context.source.dataset_id} is down ({health.because}): "
                f"reads {edge.from_dataset_id} instead"
            )
            return stage._replace(context=route, because=because)
        refused.append(f"{edge.from_dataset_id}: {why}")
    raise NoHealthyPath(
        stage=context.stage_id,
        target=str(context.stage.target_id),
        source=context.source.dataset_id,
        because=str(health.because),
        others=tuple(refused),
    )


def _why_not(
    context: StageContext,
    route: StageContext | None,
    index: CatalogIndex,
    resources: WorkerResources,
    breaker: Breaker,
) -> str | None:
    """Why a route cannot be taken; None if it can."""
    if route is None or route.source is None:
        return "nothing declares how to run this edge"
    if route.stage.key != context.stage.key:
        return f"stage {route.stage_id} writes the target first"
    doubles = why_it_would_double(context.stage, context.resolved.write_mode, context.resolved.read)
    if doubles is not None:
        return doubles
    stopped = why_stopped(route, index.rows, datetime.now(UTC))
    if stopped is not None:
        return stopped
    for dataset in route.inputs:
        health = is_down(dataset, resources, breaker)
        if health is not None:
            return f"{dataset.dataset_id} is down ({health.because})"
    return None
