"""The lineage graph of the catalog: its stages, its declared edges and other evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from goldsmith.catalog.edges import Edge
from goldsmith.journal.lineage_tables import EdgeEvidence
from goldsmith.lineage.graph import (
    DEFAULT_COST,
    LineageGraph,
    LineageStep,
    merge_evidence,
)
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.routes import route_context
from goldsmith.planning.stage_context import StageContext


def lineage_graph(
    index: CatalogIndex, evidence: Iterable[EdgeEvidence] = (), *, now: datetime
) -> LineageGraph:
    """The graph of one catalog revision."""
    steps = merge_evidence(catalog_steps(index), evidence, now)
    return LineageGraph.of(steps, sorted(index.rows.dataset_ids), index.rows.revision)


def catalog_steps(index: CatalogIndex) -> Iterator[LineageStep]:
    """A step for each enabled stage, then one for each edge that no stage covers."""
    covered: set[tuple[str, str]] = set()
    for context in index.stages.values():
        if context.stage.target_id is None or not context.stage.enabled:
            continue
        step = stage_step(index, context)
        covered.update((read, step.output) for read in step.inputs)
        yield step
    for edge in index.rows.rows(Edge):
        if (edge.from_dataset_id, edge.to_dataset_id) not in covered:
            yield edge_step(index, edge)


def stage_step(index: CatalogIndex, context: StageContext) -> LineageStep:
    """A stage as a step; rows of `dataset_lineage` between its datasets give cost and latency."""
    edges, target = index.rows.table(Edge), str(context.stage.target_id)
    inputs = tuple(dataset.dataset_id for dataset in context.inputs)
    between = [edge for read in inputs if (edge := edges.get((read, target))) is not None]
    costs = [edge.cost for edge in between if edge.cost is not None]
    latencies = [edge.latency_sec for edge in between if edge.latency_sec is not None]
    return LineageStep(
        inputs=inputs,
        output=target,
        name=context.stage.stage_name or context.stage_id,
        cost=sum(costs) if costs else DEFAULT_COST,
        latency_sec=max(latencies, default=None),
        stage_id=context.stage_id,
    )


def edge_step(index: CatalogIndex, edge: Edge) -> LineageStep:
    """An edge beside the stages: the target's stage, with this input in place of its source."""
    context = route_context(index, edge)
    inputs = [edge.from_dataset_id]
    if context is not None:
        inputs += [dataset.dataset_id for dataset in context.inputs]
    return LineageStep(
        inputs=tuple(dict.fromkeys(inputs)),
        output=edge.to_dataset_id,
        name=edge.transform_name,
        cost=DEFAULT_COST if edge.cost is None else edge.cost,
        latency_sec=edge.latency_sec,
        runs=context is not None,
        stage_id=None if context is None else context.stage_id,
    )
