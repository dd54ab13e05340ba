"""`lineage` and `paths`: what feeds a dataset, what it feeds, and the ways to obtain it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    save_text,
    show,
    table,
    write_text,
)

if TYPE_CHECKING:
    from goldsmith.lineage.graph import LineageGraph
    from goldsmith.lineage.paths import Path as WayTo

depth_option = click.option("--depth", type=how_many, help="At most so many steps away.")
layer_option = click.option("--layer", "layers", multiple=True, help="Only datasets of this layer.")
FORMATS = ("json", "mermaid", "dot", "graphml", "cypher", "gremlin", "html")


@click.group()
def lineage() -> None:
    """Which dataset feeds which: up, down, columns, impact, hotspots, export."""


def _graph(cli: CliContext) -> LineageGraph:
    from goldsmith.journal.evidence import current_evidence
    from goldsmith.planning.lineage_graph import lineage_graph

    index = cli.runtime.catalog_indexer.catalog_index()
    now = datetime.now(UTC)
    with cli.runtime.journal.reading() as connection:
        found = current_evidence(connection, now)
    return lineage_graph(index, found, now=now)


def _layers_of(cli: CliContext) -> dict[str, str]:
    """The layer of each dataset that a stage writes; every other dataset is raw."""
    index = cli.runtime.catalog_indexer.catalog_index()
    found = dict.fromkeys(index.rows.dataset_ids, "raw")
    for context in index.stages.values():
        if context.stage.target_id is not None:
            found[context.stage.target_id] = context.resolved.layer
    return found


@lineage.command("up")
@click.argument("dataset_id")
@depth_option
@layer_option
@json_option
@pass_cli
def up(
    cli: CliContext, dataset_id: str, depth: int | None, layers: tuple[str, ...], as_json: bool
) -> None:
    """Show every dataset that feeds a dataset."""
    _walk(cli, dataset_id, depth, layers, as_json, is_up=True)


@lineage.command("columns")
@click.argument("dataset_id")
@click.argument("column", required=False)
@click.option("--down", "is_down", is_flag=True, help="What the columns feed, not their sources.")
@depth_option
@json_option
@pass_cli
def columns(
    cli: CliContext,
    dataset_id: str,
    column: str | None,
    is_down: bool,
    depth: int | None,
    as_json: bool,
) -> None:
    """Show which columns a dataset's columns are made of, as `column_lineage` declares it."""
    from goldsmith.catalog.edges import ColumnLineage
    from goldsmith.lineage.columns import ColumnGraph, ColumnStep
    from goldsmith.planning import dataset_info
    from goldsmith.registry import UnknownName

    rows = cli.runtime.catalog.snapshot()
    dataset_info.find(rows, dataset_id)
    graph = ColumnGraph(ColumnStep(**row.as_plain()) for row in rows.rows(ColumnLineage))
    known = graph.columns_of(dataset_id)
    if column is not None and column not in known:
        noun = f"column with lineage of {dataset_id}"
        raise UnknownName(noun=noun, name=column, known=tuple(known))
    walk = graph.downstream if is_down else graph.upstream
    found = [
        step for name in ([column] if column else known) for step in walk(dataset_id, name, depth)
    ]
    steps = list(dict.fromkeys(found))

    def text() -> None:
        heads = ("from", "to", "kind", "expression")
        lines = [
            (
                f"{step.from_dataset_id}.{step.from_column}",
                f"{step.to_dataset_id}.{step.to_column}",
                step.kind,
                step.expression,
            )
            for step in steps
        ]
        if lines:
            table(heads, lines)
        echo(count(len(steps), "column edge") + ".")

    show(as_json, [step.as_plain() for step in steps], text)


@lineage.command("down")
@click.argument("dataset_id")
@depth_option
@layer_option
@json_option
@pass_cli
def down(
    cli: CliContext, dataset_id: str, depth: int | None, layers: tuple[str, ...], as_json: bool
) -> None:
    """Show every dataset that a dataset feeds."""
    _walk(cli, dataset_id, depth, layers, as_json, is_up=False)


def _walk(
    cli: CliContext,
    dataset_id: str,
    depth: int | None,
    layers: tuple[str, ...],
    as_json: bool,
    *,
    is_up: bool,
) -> None:
    from goldsmith.lineage.export import as_tree
    from goldsmith.lineage.walk import downstream, upstream

    graph, layer_of = _graph(cli), _layers_of(cli)
    found = (upstream if is_up else downstream)(graph, dataset_id, depth)
    rows = [
        {"dataset_id": name, "distance": distance, "layer": layer_of.get(name)}
        for name, distance in found.items()
        if not layers or layer_of.get(name) in layers
    ]

    def text() -> None:
        if layers:
            table(["dataset_id", "distance", "layer"], [list(row.values()) for row in rows])
        else:
            echo(as_tree(graph, dataset_id, up=is_up, depth=depth).rstrip("\n"), keep="\n")
        verb = "feed" if is_up else "depend on"
        echo(f"{count(len(rows), 'dataset')} {verb} {dataset_id}.")

    show(as_json, rows, text)


@lineage.command("impact")
@click.argument("dataset_id")
@click.option("--down", "also", multiple=True, help="Another dataset that is down as well.")
@json_option
@pass_cli
def show_impact(cli: CliContext, dataset_id: str, also: tuple[str, ...], as_json: bool) -> None:
    """Show what cannot be made without a dataset, and what another way still makes."""
    from goldsmith.lineage.walk import impact, number_of

    graph = _graph(cli)
    for name in also:
        number_of(graph, name)
    found = impact(graph, dataset_id, also)

    def text() -> None:
        for name in found.lost:
            echo(f"lost       {name}")
        for name in found.rerouted:
            echo(f"another way  {name}")
        lost, other = count(len(found.lost), "dataset"), len(found.rerouted)
        echo(f"Without {dataset_id}: {lost} lost, {other} with another way.")

    plain = {"dataset_id": dataset_id, "lost": found.lost, "other_way": found.rerouted}
    show(as_json, plain, text)


@lineage.command("hotspots")
@click.option("--most", type=how_many, default=20, show_default=True, help="How many to list.")
@json_option
@pass_cli
def show_hotspots(cli: CliContext, most: int, as_json: bool) -> None:
    """Rank datasets by the number and value of their dependants.

    The value of a dataset is 10, 3 or 1: the criticality of the pipeline that writes it.
    """
    from goldsmith.catalog.pipelines import Pipeline
    from goldsmith.lineage.hotspots import CRITICALITY_VALUE, hotspots

    rows = cli.runtime.catalog_indexer.catalog_index().rows
    values: dict[str, float] = {}
    for stages in rows.stages_of.values():
        for stage in stages:
            pipeline = rows.get(Pipeline, stage.pipeline_id)
            level = "normal" if pipeline is None else str(pipeline.criticality or "normal")
            if stage.target_id is not None:
                value = CRITICALITY_VALUE.get(level, 1.0)
                values[stage.target_id] = max(value, values.get(stage.target_id, 0.0))
    found = [spot.as_plain() for spot in hotspots(_graph(cli), values=values, most=most)]

    def text() -> None:
        columns = ["dataset_id", "dependants", "value", "lost_without"]
        table(columns, [[row[name] for name in columns] for row in found])
        single = sum(bool(row["single_point_of_failure"]) for row in found)
        echo(f"{count(len(found), 'dataset')}; {single} of them single points of failure.")

    show(as_json, found, text)


@lineage.command("export")
@click.argument("dataset_id", required=False)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="json", show_default=True)
@click.option("--depth", type=how_many, help="With a dataset: at most so many steps around it.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write a file."
)
@json_option
@pass_cli
def export(
    cli: CliContext,
    dataset_id: str | None,
    format_: str,
    depth: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Write the lineage, of one dataset or of all, for another tool."""
    from goldsmith.lineage import export as exporting
    from goldsmith.lineage.html_view import as_html
    from goldsmith.lineage.walk import downstream, upstream

    graph = _graph(cli)
    if dataset_id is not None:
        around = {dataset_id, *upstream(graph, dataset_id, depth)}
        around |= downstream(graph, dataset_id, depth).keys()
        graph = exporting.part_of(graph, around)
    format_ = "json" if as_json else format_
    text = as_html(graph, dataset_id) if format_ == "html" else exporting.FORMATS[format_](graph)
    if output is None:
        write_text(text)
    else:
        save_text(output, text)
        echo(f"Wrote {count(len(graph.names), 'dataset')} to {output}.")


@click.command("paths")
@click.argument("dataset_id")
@click.option("--most", type=how_many, default=10, show_default=True, help="How many to list.")
@click.option("--down", "downs", multiple=True, help="Leave out ways through this dataset.")
@json_option
@pass_cli
def paths(
    cli: CliContext, dataset_id: str, most: int, downs: tuple[str, ...], as_json: bool
) -> None:
    """Show the ways to obtain a dataset: how many there are, and the cheapest.

    Ways that people wrote in dataset_recovery_paths come first.
    """
    from goldsmith.catalog.edges import RecoveryPath
    from goldsmith.lineage.paths import find_paths
    from goldsmith.lineage.walk import number_of

    graph = _graph(cli)
    for name in downs:
        number_of(graph, name)
    found = find_paths(graph, dataset_id, most=most, forbidden=downs)
    rows = cli.runtime.catalog_indexer.catalog_index().rows.rows(RecoveryPath)
    written = sorted(
        (row for row in rows if row.dataset_id == dataset_id and row.computed_at is None),
        key=lambda row: row.path_order,
    )
    declared = [
        {"path_order": row.path_order, "path_sequence": row.path_sequence, "cost": row.cost}
        for row in written
        if not _uses(row.path_sequence, downs)
    ]
    plain = {
        "dataset_id": dataset_id,
        "count": found.count,
        "declared": declared,
        "paths": [_plain(way) for way in found.cheapest],
        "is_cut": found.is_cut,
        "cycles": [list(cycle) for cycle in found.cycles],
    }

    def text() -> None:
        for row in declared:
            echo(f"written by hand, {row['path_order']}: {row['path_sequence']}")
        for index, way in enumerate(found.cheapest, start=1):
            latency = "" if way.latency_sec is None else f", {way.latency_sec:g} s"
            blocked = "" if all(step.runs for step in way.steps) else ", nothing runs it"
            echo(f"{index}: {' → '.join(way.datasets)}  (cost {way.cost:g}{latency}{blocked})")
        for cycle in found.cycles:
            echo(f"cycle, no way goes round it: {' → '.join(cycle)}")
        cut = f"; the {len(found.cheapest)} cheapest are listed" if found.is_cut else ""
        without = f" without {', '.join(downs)}" if downs else ""
        echo(f"{count(found.count, 'way')} to {dataset_id}{without}{cut}.")

    show(as_json, plain, text)


def _uses(sequence: str | None, downs: Collection[str]) -> bool:
    return any(step.strip() in downs for step in (sequence or "").split(","))


def _plain(way: WayTo) -> dict[str, Any]:
    return {
        "path_sequence": way.sequence,
        "cost": way.cost,
        "latency_sec": way.latency_sec,
        "starts": list(way.starts),
        "steps": [step.name for step in way.steps],
        "runs": all(step.runs for step in way.steps),
    }
