"""Answer questions about the lineage: the graph of the current rows, and queries on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.edges import ColumnLineage
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.journal.evidence import current_evidence
from goldsmith.lineage import export
from goldsmith.lineage.columns import ColumnGraph, ColumnStep
from goldsmith.lineage.graph import LineageGraph
from goldsmith.lineage.hotspots import CRITICALITY_VALUE, hotspots
from goldsmith.lineage.html_view import as_html
from goldsmith.lineage.walk import DatasetImpact, downstream, impact, number_of, upstream
from goldsmith.planning import dataset_info
from goldsmith.planning.lineage_graph import lineage_graph
from goldsmith.registry import UnknownName
from goldsmith.runtime import Runtime


def current_graph(runtime: Runtime) -> LineageGraph:
    """The lineage graph of the catalog, with the evidence of every origin."""
    index = runtime.catalog_indexer.catalog_index()
    now = datetime.now(UTC)
    with runtime.journal.reading() as connection:
        found = current_evidence(connection, now)
    return lineage_graph(index, found, now=now)


def around(
    runtime: Runtime,
    graph: LineageGraph,
    dataset_id: str,
    *,
    is_up: bool,
    depth: int | None = None,
    layers: Collection[str] = (),
) -> list[dict[str, Any]]:
    """The datasets that feed a dataset or are fed by it, nearest first, with their layers."""
    layer_of = _layers_of(runtime)
    found = (upstream if is_up else downstream)(graph, dataset_id, depth)
    return [
        {"dataset_id": name, "distance": distance, "layer": layer_of.get(name)}
        for name, distance in found.items()
        if not layers or layer_of.get(name) in layers
    ]


def column_steps(
    runtime: Runtime,
    dataset_id: str,
    column: str | None = None,
    *,
    is_down: bool = False,
    depth: int | None = None,
) -> list[ColumnStep]:
    """The columns that a dataset's columns are made of, or feed, as `column_lineage` declares."""
    rows = runtime.catalog.snapshot()
    dataset_info.find(rows, dataset_id)
    graph = ColumnGraph(ColumnStep(**row.as_plain()) for row in rows.rows(ColumnLineage))
    known = graph.columns_of(dataset_id)
    if column is not None and column not in known:
        noun = f"column with lineage of {dataset_id}"
        raise UnknownName(noun=noun, name=column, known=tuple(known))
    walk = graph.downstream if is_down else graph.upstream
    names = known if column is None else [column]
    return list(dict.fromkeys(step for name in names for step in walk(dataset_id, name, depth)))


def impact_of(runtime: Runtime, dataset_id: str, also: Sequence[str] = ()) -> DatasetImpact:
    """The datasets that are lost without a dataset, and those that another path still makes."""
    graph = current_graph(runtime)
    for name in also:
        number_of(graph, name)
    return impact(graph, dataset_id, also)


def ranked_hotspots(runtime: Runtime, most: int) -> list[dict[str, Any]]:
    """The datasets with the most and most valuable dependants."""
    rows = runtime.catalog_indexer.catalog_index().rows
    values: dict[str, float] = {}
    for stages in rows.stages_of.values():
        for stage in stages:
            pipeline = rows.get(Pipeline, stage.pipeline_id)
            level = "normal" if pipeline is None else str(pipeline.criticality or "normal")
            if stage.target_id is not None:
                value = CRITICALITY_VALUE.get(level, 1.0)
                values[stage.target_id] = max(value, values.get(stage.target_id, 0.0))
    graph = current_graph(runtime)
    return [spot.as_plain() for spot in hotspots(graph, values=values, most=most)]


def exported(
    runtime: Runtime, format_: str, dataset_id: str | None = None, depth: int | None = None
) -> tuple[str, int]:
    """The lineage, of one dataset or of all, as text of a format; and how many datasets it has."""
    graph = current_graph(runtime)
    if dataset_id is not None:
        kept = {dataset_id, *upstream(graph, dataset_id, depth)}
        kept |= downstream(graph, dataset_id, depth).keys()
        graph = export.part_of(graph, kept)
    text = as_html(graph, dataset_id) if format_ == "html" else export.FORMATS[format_](graph)
    return text, len(graph.names)


def _layers_of(runtime: Runtime) -> dict[str, str]:
    """The layer of each dataset that a stage writes; every other dataset is raw."""
    index = runtime.catalog_indexer.catalog_index()
    found = dict.fromkeys(index.rows.dataset_ids, "raw")
    for context in index.stages.values():
        if context.stage.target_id is not None:
            found[context.stage.target_id] = context.resolved.layer
    return found
