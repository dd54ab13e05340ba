"""`demo`: a project with data in it, carried out from raw files to gold tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from goldsmith.cli.output import Door, json_option, print_json, table

_BAR = 40


@click.command()
@click.argument("folder", default="demo", type=click.Path(path_type=Path, file_okay=False))
@json_option
def demo(folder: Path, as_json: bool) -> None:
    """Make a project with raw data and a catalog in it, and run it to gold.

    FOLDER is made where it is not there; run again, it goes on with what is there.
    """
    from datetime import UTC, datetime

    from goldsmith.cli.progress import board
    from goldsmith.cli.run import as_plain, start_log
    from goldsmith.demo import project

    made = project.make(folder, datetime.now(UTC).date())
    runtime = Door(project=folder).runtime
    revision = project.apply(runtime)
    if not as_json:
        if made:
            click.echo(f"Made a project in {folder} with {made} raw files.")
        click.echo(f"The catalog is at revision {revision}. Running both pipelines.\n")
    start_log(runtime)
    with board(runtime, quiet=as_json) as told:
        turned = project.run(runtime, told.tell)
    if as_json:
        print_json(as_plain(runtime, turned))
    else:
        _show(runtime, turned)
        click.echo(_NEXT.format(folder=folder))
    if not all(turn.succeeded for turn in turned):
        raise click.exceptions.Exit(1)


def _show(runtime: Any, turned: Any) -> None:
    from goldsmith.demo import project
    from goldsmith.journal import runs

    click.echo("")
    stages = [
        stage_run
        for turn in turned
        for run in turn.runs
        for stage_run in runs.stage_runs_of(runtime.journal, run.run_id)
    ]
    names = ["rows_read", "rows_quarantined", "rows_written"]
    table(
        ["stage", "target", "how", "read", "kept aside", "published"],
        [
            (
                f"{run.pipeline_id}-{run.stage_order}",
                run.target_id,
                run.status,
                *(
                    f"{value:,}" if (value := getattr(run, name)) is not None else ""
                    for name in names
                ),
            )
            for run in stages
        ],
    )
    days = project.gold(runtime)
    if days:
        click.echo("\nanalytics.daily_user_events, as the warehouse has it:")
        most = max(day[1] for day in days)
        for day, events, users in days:
            bar = "█" * round(_BAR * events / most)
            click.echo(f"  {day}  {events:>6,} events  {users:>4,} users  {bar}")


_NEXT = """
To try next, in {folder}:
  goldsmith plan                              nothing new, and why
  goldsmith plan -v user_events_etl           every default, check and line of SQL
  goldsmith datasets show silver_user_events  schema, snapshots, who wrote them
  goldsmith catalog show stages               the rows that decide all this
  sqlite3 .goldsmith/catalog.db "UPDATE pipelines SET enabled = false
      WHERE pipeline_id = 'orders_etl'"       then `goldsmith run` and `goldsmith why orders_etl`
  goldsmith catalog history                   who changed what"""
