"""`lineage`: what feeds a dataset, what it feeds, and what is lost without it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

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

depth_option = click.option("--depth", type=how_many, help="At most so many steps away.")
layer_option = click.option("--layer", "layers", multiple=True, help="Only datasets of this layer.")
FORMATS = ("json", "mermaid", "dot", "graphml", "cypher", "gremlin", "html")


@click.group()
def lineage() -> None:
    """Which dataset feeds which: up, down, columns, impact, hotspots, differences, export."""


def graph_of(cli: CliContext) -> LineageGraph:
    """The lineage graph of the catalog, with the evidence of every origin."""
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

    graph, layer_of = graph_of(cli), _layers_of(cli)
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

    graph = graph_of(cli)
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
    found = [spot.as_plain() for spot in hotspots(graph_of(cli), values=values, most=most)]

    def text() -> None:
        columns = ["dataset_id", "dependants", "value", "lost_without"]
        table(columns, [[row[name] for name in columns] for row in found])
        single = sum(bool(row["single_point_of_failure"]) for row in found)
        echo(f"{count(len(found), 'dataset')}; {single} of them single points of failure.")

    show(as_json, found, text)


@lineage.command("differences")
@json_option
@pass_cli
def show_differences(cli: CliContext, as_json: bool) -> None:
    """Show where what stages really read and wrote differs from what is declared.

    Exits 1 if something differs.
    """
    from goldsmith.journal.evidence import current_evidence
    from goldsmith.planning.lineage_differences import edge_differences

    index, now = cli.runtime.catalog_indexer.catalog_index(), datetime.now(UTC)
    with cli.runtime.journal.reading() as connection:
        evidence = current_evidence(connection, now)
    found = list(edge_differences(index, evidence, now))

    def text() -> None:
        for difference in found:
            echo(f"{difference.sentence} [{difference.code}]")
        echo(count(len(found), "difference") + ".")

    show(as_json, [difference.as_plain() for difference in found], text)
    raise click.exceptions.Exit(1 if found else 0)


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

    graph = graph_of(cli)
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
