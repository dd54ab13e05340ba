"""`lineage`: what feeds a dataset, what it feeds, and what is lost without it."""

from __future__ import annotations

from pathlib import Path

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

depth_option = click.option("--depth", type=how_many, help="The largest number of steps away.")
layer_option = click.option("--layer", "layers", multiple=True, help="Only datasets of this layer.")
FORMATS = ("json", "mermaid", "dot", "graphml", "cypher", "gremlin", "html")


@click.group()
def lineage() -> None:
    """Lineage of datasets: up, down, columns, impact, hotspots, differences, export."""


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
@click.option(
    "--down", "is_down", is_flag=True, help="Show the columns they feed, not their sources."
)
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
    from goldsmith.worker.lineage_view import column_steps

    steps = column_steps(cli.runtime, dataset_id, column, is_down=is_down, depth=depth)

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
    from goldsmith.worker.lineage_view import around, current_graph

    graph = current_graph(cli.runtime)
    rows = around(cli.runtime, graph, dataset_id, is_up=is_up, depth=depth, layers=layers)

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
    """Show which datasets are lost without a dataset, and which another path still makes."""
    from goldsmith.worker.lineage_view import impact_of

    found = impact_of(cli.runtime, dataset_id, also)

    def text() -> None:
        for name in found.lost:
            echo(f"lost       {name}")
        for name in found.rerouted:
            echo(f"another way  {name}")
        lost, other = count(len(found.lost), "dataset"), len(found.rerouted)
        echo(f"Without {dataset_id}: {lost} lost, {other} with another way.")

    show(as_json, found.as_plain(), text)


@lineage.command("hotspots")
@click.option("--most", type=how_many, default=20, show_default=True, help="How many to list.")
@json_option
@pass_cli
def show_hotspots(cli: CliContext, most: int, as_json: bool) -> None:
    """Rank datasets by the number and value of their dependants.

    The value of a dataset is 10, 3 or 1: the criticality of the pipeline that writes it.
    """
    from goldsmith.worker.lineage_view import ranked_hotspots

    found = ranked_hotspots(cli.runtime, most)

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
    """Show where the datasets that stages really read and wrote differ from the declared ones.

    Exits 1 if something differs.
    """
    from datetime import UTC, datetime

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
@click.option(
    "--depth", type=how_many, help="With a dataset: the largest number of steps away from it."
)
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
    """Export the lineage of one dataset or of all, for another tool."""
    from goldsmith.worker.lineage_view import exported

    text, number = exported(cli.runtime, "json" if as_json else format_, dataset_id, depth)
    if output is None:
        write_text(text)
    else:
        save_text(output, text)
        echo(f"Wrote {count(number, 'dataset')} to {output}.")
