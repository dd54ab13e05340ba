"""`run`: carry out what is asked for, here and now."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.output import Door, json_option, pass_door, print_json, whoami, yes_option

_MARKS = {"succeeded": "✓", "skipped": "·", "failed": "✗", "blocked": "▪", "stopped": "■"}


@click.command()
@click.argument("selection", nargs=-1)
@click.option("--full-refresh", is_flag=True, help="Read everything again and replace the rows.")
@click.option("--limit", type=int, help="Read only so many rows and publish nothing: try it out.")
@click.option(
    "--no-wait", is_flag=True, help="Do not wait: for a place another run writes, or for a retry."
)
@click.option("--at-once", type=int, default=4, show_default=True, help="Stages at once.")
@click.option("--quiet", "-q", is_flag=True, help="Say only how it ended.")
@yes_option
@json_option
@pass_door
def run(
    door: Door,
    selection: tuple[str, ...],
    full_refresh: bool,
    limit: int | None,
    no_wait: bool,
    at_once: int,
    quiet: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Run what is selected, in order, and publish each stage once its checks hold.

    SELECTION is as in `goldsmith plan`; none means everything. Exits 1 where a stage failed.
    Requests that an earlier process left unfinished are carried out too.
    """
    if full_refresh and not yes:
        from goldsmith.scheduling.loop import refuse_gone_files

        refuse_gone_files(door.runtime, selection)
    options = {
        "full_refresh": full_refresh,
        "limit": limit,
    }
    carry_out(
        door, selection, options, waits=not no_wait, at_once=at_once, quiet=quiet, as_json=as_json
    )


def carry_out(
    door: Door,
    selection: Sequence[str],
    options: dict[str, Any],
    *,
    waits: bool = True,
    at_once: int = 4,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Ask for a run and do it here, with everything else that is due; exits 1 if it failed."""
    from goldsmith.engine.run import Orders
    from goldsmith.engine.work import Asked
    from goldsmith.journal import requests
    from goldsmith.planning.selection import select
    from goldsmith.scheduling import loop
    from goldsmith.scheduling.workshop import workshop

    runtime = door.runtime
    select(runtime.surveyor.survey(), selection)  # a name nobody knows is no request
    start_log(runtime)
    asked = loop.ask(runtime, selection, options, whoami())
    orders = Orders(
        request_id=None,
        asked=Asked(),
        asked_by=whoami(),
        at_once=at_once,
        waits=waits,
        tell=Teller(quiet=quiet or as_json).tell,
    )
    with workshop(runtime) as tools:
        turned = loop.see_through(runtime, tools, orders, asked.request_id, waits=waits)
    over = requests.get(runtime.journal, asked.request_id)
    if as_json:
        print_json(as_plain(runtime, turned))
    else:
        _say(turned)
        if over.status == "waiting":
            click.echo(f"It waits: {over.because}  ({over.request_id})")
    if over.status != "done":
        raise click.exceptions.Exit(1)


def log_file(runtime: Any) -> Path:
    """Where the lines of runs go: the file of the settings, else one of the project's own."""
    said: Path | None = runtime.settings.logs.file
    return said or Path(runtime.settings.project) / ".goldsmith" / "logs" / "runs.jsonl"


def start_log(runtime: Any) -> None:
    from goldsmith import logs

    level = runtime.settings.logs.level.value
    logs.start(level=level, as_json=True, file=log_file(runtime), hide=runtime.secrets.redact)


class Teller:
    """Says what happens while it happens; stages end in several threads."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._lock = threading.Lock()

    def tell(self, what: str, stage: Any, stage_run: Any) -> None:
        if self._quiet:
            return
        with self._lock:
            if what == "started":
                click.echo(f"▶ {stage.stage_id} → {stage.near.stage.target_id}")
            else:
                click.echo(_ended(stage, stage_run))
            sys.stdout.flush()


def _ended(stage: Any, stage_run: Any) -> str:
    mark = _MARKS.get(stage_run.status, "?")
    seconds = (stage_run.ended_at - stage_run.started_at).total_seconds()
    if stage_run.status == "succeeded":
        kept = stage_run.rows_quarantined
        aside = f", {kept:,} kept aside" if kept else ""
        return (
            f"{mark} {stage.stage_id} → {stage_run.target_id}: {stage_run.rows_written:,} rows "
            f"published of {stage_run.rows_read:,} read{aside}, {seconds:.1f} s"
        )
    if stage_run.status == "failed":
        return f"{mark} {stage.stage_id}: {stage_run.error_message} [{stage_run.error_code}]"
    return f"{mark} {stage.stage_id}: {stage_run.status}, {stage_run.because}"


def _say(turned: Any) -> None:
    for turn in turned:
        for run_ in turn.runs:
            why = f": {run_.error_message or run_.because}" if run_.status != "succeeded" else ""
            click.echo(f"{run_.pipeline_id} {run_.status}{why}  ({run_.run_id})")


def as_plain(runtime: Any, turned: Any) -> list[dict[str, Any]]:
    """Runs with their stages, as JSON says them."""
    from goldsmith.journal import runs

    return [
        {
            **run_.as_plain(),
            "stages": [
                stage_run.as_plain()
                for stage_run in runs.stage_runs_of(runtime.journal, run_.run_id)
            ],
        }
        for turn in turned
        for run_ in turn.runs
    ]
