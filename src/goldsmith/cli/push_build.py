"""`push build-…-collector`: write scripts that collect and push without Goldsmith."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.collect import Span, settings_of
from goldsmith.cli.output import CliContext, echo, how_many, json_option, pass_cli, show
from goldsmith.collectors.collector import WAREHOUSES


def _options(function: Callable[..., None]) -> Callable[..., None]:
    options = (
        click.argument("warehouse", type=click.Choice(WAREHOUSES.shipped())),
        click.option(
            "--set",
            "pairs",
            multiple=True,
            metavar="NAME=VALUE",
            help="A setting of the connection; secrets as env:NAME or file:PATH.",
        ),
        click.option("--include", multiple=True, help="Only these tables: DATABASE.SCHEMA.TABLE."),
        click.option("--exclude", multiple=True, help="Not these; overrides --include."),
        click.option(
            "--output",
            "-o",
            type=click.Path(path_type=Path, file_okay=False),
            default=".",
            help="The folder for the scripts. Default: the current one.",
        ),
        click.option("--overwrite", is_flag=True, help="Replace existing scripts."),
        json_option,
        pass_cli,
    )
    for option in reversed(options):
        function = option(function)
    return function


def _history_options(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option(
        "--limit",
        type=how_many,
        default=50_000,
        show_default=True,
        help="The largest number of queries.",
    )(function)
    return click.option(
        "--look-back",
        type=Span(),
        default="24h",
        show_default=True,
        help="Read queries from this long ago on.",
    )(function)


@click.command("build-metadata-collector")
@click.option("--only-freshness-and-volume", is_flag=True, help="Collect no columns by default.")
@_options
def build_metadata_collector(
    cli: CliContext, only_freshness_and_volume: bool, as_json: bool, **answers: Any
) -> None:
    """Write scripts that collect and push the tables of WAREHOUSE."""
    del cli
    _write("metadata", as_json, only_volume=only_freshness_and_volume, **answers)


@click.command("build-lineage-collector")
@_history_options
@_options
def build_lineage_collector(cli: CliContext, as_json: bool, **answers: Any) -> None:
    """Write scripts that collect and push the lineage of WAREHOUSE."""
    del cli
    _write("lineage", as_json, **answers)


@click.command("build-query-log-collector")
@_history_options
@_options
def build_query_log_collector(cli: CliContext, as_json: bool, **answers: Any) -> None:
    """Write scripts that collect and push the query logs of WAREHOUSE."""
    del cli
    _write("query_logs", as_json, **answers)


def _write(
    flow: str,
    as_json: bool,
    *,
    warehouse: str,
    pairs: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    output: Path,
    overwrite: bool,
    only_volume: bool = False,
    look_back: timedelta = timedelta(hours=24),
    limit: int = 50_000,
) -> None:
    from goldsmith.assets.items import Flow
    from goldsmith.collectors.patterns import TablePatterns
    from goldsmith.collectors.scripts import ScriptRequest, write_scripts

    noun = {"metadata": "metadata", "lineage": "lineage", "query_logs": "query-log"}[flow]
    request = ScriptRequest(
        warehouse=warehouse,
        flow=Flow(flow),
        settings=settings_of(pairs),
        patterns=TablePatterns(include, exclude),
        only_volume=only_volume,
        look_back=look_back,
        limit=limit,
        command=f"build-{noun}-collector {warehouse}",
    )
    files = write_scripts(request, output, overwrite=overwrite)

    def text() -> None:
        for file in files:
            echo(str(file))
        echo(
            f"Set MCD_RESOURCE_UUID, MCD_INGEST_ID and MCD_INGEST_TOKEN, and run {files[-1].name}."
        )

    show(as_json, {"files": [str(file) for file in files]}, text)
