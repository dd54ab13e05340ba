"""`paths`: every path to obtain a dataset, its cost, its age, and whether it is healthy now."""

from __future__ import annotations

from typing import Any

import click

from goldsmith.cli.output import CliContext, count, echo, how_many, json_option, pass_cli, show


@click.command("paths")
@click.argument("dataset_id")
@click.option("--most", type=how_many, default=10, show_default=True, help="How many to list.")
@click.option("--down", "downs", multiple=True, help="Leave out paths through this dataset.")
@click.option("--no-probe", is_flag=True, help="Do not probe the datasets that the paths begin at.")
@json_option
@pass_cli
def paths(
    cli: CliContext,
    dataset_id: str,
    most: int,
    downs: tuple[str, ...],
    no_probe: bool,
    as_json: bool,
) -> None:
    """Show the paths to a dataset: how many there are, and the cheapest.

    Paths that people wrote in dataset_recovery_paths come first. The datasets at the start of
    the listed paths are probed. A path is healthy if none of its datasets is down.
    """
    from goldsmith.worker.path_view import ways_to

    ways = ways_to(cli.runtime, dataset_id, most=most, downs=downs, probes=not no_probe)
    found = ways.found

    def text() -> None:
        for row in ways.declared:
            position, sequence = row["path_order"], row["path_sequence"]
            echo(f"written by hand, {position}: {sequence}{_health_text(row)}")
        for index, (way, row) in enumerate(zip(found.cheapest, ways.listed, strict=True), start=1):
            latency = "" if way.latency_sec is None else f", {way.latency_sec:g} s"
            blocked = "" if all(step.runs for step in way.steps) else ", nothing runs it"
            sequence = f"{index}: {' → '.join(way.datasets)}"
            echo(f"{sequence}  (cost {way.cost:g}{latency}{blocked}){_health_text(row)}")
        for cycle in found.cycles:
            echo(f"cycle, no way goes round it: {' → '.join(cycle)}")
        cut = f"; the {len(found.cheapest)} cheapest are listed" if found.is_cut else ""
        without = f" without {', '.join(downs)}" if downs else ""
        echo(f"{count(found.count, 'way')} to {dataset_id}{without}{cut}.")

    show(as_json, ways.as_plain(), text)


def _health_text(row: dict[str, Any]) -> str:
    if not row["healthy"]:
        return f"  down: {row['because']}"
    if row["stale_sec"] is None:
        return ""
    return f"  data from {row['stale_sec']:.0f} s ago"
