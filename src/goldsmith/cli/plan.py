"""`plan`: show what would run, and why, without running it."""

from __future__ import annotations

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, show

#: With more stages, inputs are not listed: listing the files of ten thousand pipelines is slow.
_MOST_LOOKED_AT = 60


@click.command()
@click.argument("selection", nargs=-1)
@click.option("--verbose", "-v", is_flag=True, help="Also SQL, checks and every default used.")
@click.option(
    "--look/--no-look",
    default=None,
    help="List new files and snapshots. Default: only if few enough stages are selected.",
)
@json_option
@pass_cli
def plan(
    cli: CliContext, selection: tuple[str, ...], verbose: bool, look: bool | None, as_json: bool
) -> None:
    """Show what would run and why, in order. Nothing runs and Spark is not started.

    SELECTION is a pipeline, a dataset, pipeline.stage, or pipeline:, dataset:, stage:, tag:,
    layer: and a name; +x, x+ and x+2 add upstream and downstream stages. None means everything.
    """
    from datetime import UTC, datetime

    from goldsmith.engine.warehouses.open import open_warehouse
    from goldsmith.journal import runs
    from goldsmith.planning import explain, planner
    from goldsmith.planning.history import HistoryCheck
    from goldsmith.planning.increments import Increments
    from goldsmith.planning.selection import select

    runtime = cli.runtime
    catalog_index = runtime.catalog_indexer.catalog_index()
    chosen = select(catalog_index, selection)
    looks = len(chosen) <= _MOST_LOOKED_AT if look is None else look
    check = HistoryCheck(
        catalog=runtime.catalog,
        increments=Increments(runtime.catalog, runtime.storage),
        storage=runtime.storage,
        warehouse=lambda type_: open_warehouse(runtime.storage, type_, wait_seconds=1.0),
    )
    made = planner.plan(
        catalog_index,
        selection,
        now=datetime.now(UTC),
        environment=runtime.settings.environment,
        observe=check.observe if looks else None,
        expected=runs.expected(
            runtime.journal, [catalog_index.stages[name].stage.key for name in chosen]
        ),
    )

    def text() -> None:
        for line in explain.as_lines(made, verbose=verbose, most=_MOST_LOOKED_AT):
            echo(line)

    if as_json:
        show(True, explain.as_plain(made, runtime.settings.address), text)
    else:
        text()
