"""`run`: carry out what is asked for, here and now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    Door,
    json_option,
    pass_door,
    print_json,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.scheduling.loop import Turned


@click.command()
@click.argument("selection", nargs=-1)
@click.option("--full-refresh", is_flag=True, help="Read everything again and replace the rows.")
@click.option("--from", "since", help="Backfill: read again what is of this time on (UTC).")
@click.option("--to", "until", help="Backfill: and before this time. Default: now.")
@click.option("--dry-run", is_flag=True, help="Only show what a backfill reads and replaces.")
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
    since: str | None,
    until: str | None,
    dry_run: bool,
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

    With --from and --to only what is of that window is read again, and written in the place of
    what was: files by the day in their path, else by when they were written; rows of tables by
    the stage's watermark_column. What cannot be written again so is refused first.
    """
    if full_refresh and not yes:
        from goldsmith.scheduling.loop import refuse_gone_files

        refuse_gone_files(door.runtime, selection)
    options: dict[str, Any] = {"full_refresh": full_refresh, "limit": limit}
    if since is None:
        if until is not None or dry_run:
            raise click.UsageError("--to and --dry-run need --from; `goldsmith plan` shows a run.")
    else:
        if full_refresh:
            raise click.UsageError("A full refresh reads everything: say that, or a window.")
        window = _window(door, selection, since, until, show_only=dry_run, as_json=as_json)
        if dry_run:
            return
        options |= window
    carry_out(
        door, selection, options, waits=not no_wait, at_once=at_once, quiet=quiet, as_json=as_json
    )


def _window(
    door: Door,
    selection: Sequence[str],
    since: str,
    until: str | None,
    *,
    show_only: bool,
    as_json: bool,
) -> dict[str, str]:
    """The options of a backfill; raises where a stage of it could not be written again."""
    from datetime import UTC, datetime

    from goldsmith.engine.preview import as_lines, preview
    from goldsmith.planning.increments import Increments
    from goldsmith.planning.window import Window

    window = Window.of(since, until, datetime.now(UTC))
    runtime = door.runtime
    increments = Increments(runtime.catalog, runtime.places)
    found = preview(runtime.surveyor.survey(), selection, window, increments, runtime.places)
    if show_only:
        show(as_json, [stage.as_plain() for stage in found], lambda: _lines(as_lines(found)))
    return {"from": window.start.isoformat(), "to": window.end.isoformat()}


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


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
    turned, mine = perform(
        door, selection, options, waits=waits, at_once=at_once, quiet=quiet or as_json
    )
    if as_json:
        print_json(as_plain(door.runtime, turned))
    else:
        _say(turned)
        if mine.request.status == "waiting":
            click.echo(f"It waits: {mine.request.because}  ({mine.request.request_id})")
    if not mine.succeeded:
        raise click.exceptions.Exit(1)


def perform(
    door: Door,
    selection: Sequence[str],
    options: dict[str, Any],
    *,
    waits: bool = True,
    at_once: int = 4,
    quiet: bool = False,
) -> tuple[list[Turned], Turned]:
    """Ask for a run and do it here; what came of everything that was due, and of this."""
    from goldsmith.cli.progress import board
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
    with board(runtime, quiet=quiet) as told, workshop(runtime) as tools:
        orders = Orders(
            request_id=None,
            asked=Asked(),
            asked_by=whoami(),
            at_once=at_once,
            waits=waits,
            tell=told.tell,
        )
        turned = loop.see_through(runtime, tools, orders, asked.request_id, waits=waits)
    over = requests.get(runtime.journal, asked.request_id)
    last = next(t for t in reversed(turned) if t.request.request_id == asked.request_id)
    return turned, replace(last, request=over)


def log_file(runtime: Any) -> Path:
    """Where the lines of runs go: the file of the settings, else one of the project's own."""
    said: Path | None = runtime.settings.logs.file
    return said or Path(runtime.settings.project) / ".goldsmith" / "logs" / "runs.jsonl"


def start_log(runtime: Any) -> None:
    from goldsmith import logs

    level = runtime.settings.logs.level.value
    logs.start(level=level, as_json=True, file=log_file(runtime), hide=runtime.secrets.redact)


def _say(turned: Any) -> None:
    for turn in turned:
        if not turn.runs:
            click.echo(f"{turn.request.request_id} {turn.request.status}: {turn.request.because}")
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
