"""`demo`: create a project with example data and run it from raw files to gold tables."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.output import CliContext, echo, json_option, print_json, table
from goldsmith.cli.rows import row_counts

_BAR = 40


@click.command()
@click.argument("folder", default="demo", type=click.Path(path_type=Path, file_okay=False))
@json_option
def demo(folder: Path, as_json: bool) -> None:
    """Create a project with raw data and a catalog, and run it to gold.

    FOLDER is created if it is missing; a second run uses the project that is there.
    """
    from datetime import UTC, datetime

    from goldsmith.cli.progress import board
    from goldsmith.cli.run import as_plain, start_log
    from goldsmith.demo import project

    made = project.make(folder, datetime.now(UTC).date())
    runtime = CliContext(project=folder).runtime
    revision = project.apply(runtime)
    if not as_json:
        if made:
            echo(f"Made a project in {folder} with {made} raw files.")
        echo(f"The catalog is at revision {revision}. Running both pipelines.\n", keep="\n")
    start_log(runtime)
    with board(runtime, quiet=as_json) as progress:
        turned = project.run(runtime, progress.tell)
    if as_json:
        print_json(as_plain(runtime, turned))
    else:
        _show(runtime, turned)
        echo(_next(folder), keep="\n")
    if not all(turn.succeeded for turn in turned):
        raise click.exceptions.Exit(1)


def _show(runtime: Any, turned: Any) -> None:
    from goldsmith.demo import project
    from goldsmith.journal import runs

    echo("")
    stages = [
        stage_run
        for turn in turned
        for run in turn.runs
        for stage_run in runs.stage_runs_of(runtime.journal, run.run_id)
    ]
    table(
        ["stage", "target", "how", "produced", "quarantined", "left out", "published"],
        [
            (f"{run.pipeline_id}-{run.stage_order}", run.target_id, run.status, *_numbers(run))
            for run in stages
        ],
    )
    days = project.gold(runtime)
    if days:
        echo("\nanalytics.daily_user_events, as the warehouse has it:", keep="\n")
        most = max(day[1] for day in days)
        for day, events, users in days:
            bar = "█" * round(_BAR * events / most)
            echo(f"  {day}  {events:>6,} events  {users:>4,} users  {bar}")


def _numbers(stage_run: Any) -> tuple[str, ...]:
    counts = row_counts(stage_run)
    if counts is None:
        return ("", "", "", "")
    left_out = counts.left_out + counts.dropped
    numbers = (counts.produced, counts.quarantined, left_out, counts.published)
    return tuple(f"{number:,}" for number in numbers)


def _next(folder: Path) -> str:
    """What to try next, with a command that works in the folder."""
    command = sys.argv[0]
    if shutil.which("goldsmith") or not os.path.isfile(command):
        return _NEXT.format(folder=folder)
    there = os.path.relpath(command, folder)
    lines = _NEXT.format(folder=folder).replace("\n  goldsmith ", f"\n  {there} ")
    return lines.replace("`goldsmith ", f"`{there} ")


_NEXT = """
To try next, in {folder}:
  goldsmith plan                              nothing new, and why
  goldsmith plan -v user_events_etl           every default, check and line of SQL
  goldsmith datasets show silver_user_events  schema, snapshots, who wrote them
  goldsmith catalog show stages               the rows that decide all this
  sqlite3 -cmd '.timeout 10000' .goldsmith/catalog.db "UPDATE pipelines SET enabled = false
      WHERE pipeline_id = 'orders_etl'"       then `goldsmith run` and `goldsmith why orders_etl`
  goldsmith catalog history                   who changed what"""
