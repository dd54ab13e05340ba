"""`run`: run the selected stages in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    CliContext,
    echo,
    how_many,
    json_option,
    pass_cli,
    print_json,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.worker.loop import RequestOutcome


@click.command()
@click.argument("selection", nargs=-1)
@click.option("--full-refresh", is_flag=True, help="Read all input again and replace all rows.")
@click.option("--from", "since", help="Backfill: read the input from this time on again (UTC).")
@click.option("--to", "until", help="Backfill: only input before this time. Default: now.")
@click.option("--dry-run", is_flag=True, help="Only show what a backfill would read and replace.")
@click.option(
    "--limit", type=how_many, help="Trial run: read only this many rows and publish nothing."
)
@click.option(
    "--no-wait",
    is_flag=True,
    help="Do not wait for a target that another run writes, or for a retry.",
)
@click.option(
    "--at-once",
    type=how_many,
    default=4,
    show_default=True,
    help="How many stages may run at once.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only the result.")
@yes_option
@json_option
@pass_cli
def run(
    cli: CliContext,
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
    """Run the selected stages in order; publish each stage once its checks pass.

    SELECTION is as in `goldsmith plan`; none means everything. Exits 1 if a stage failed.
    Requests that an earlier process left unfinished are run too.

    With --from and --to only the input of that window is read again, and replaces what was
    written from it. Files belong to a window by the day in their path, else by their modification
    time; rows of tables by the stage's watermark_column. Stages that cannot be backfilled are
    refused before anything runs.
    """
    if full_refresh and not yes:
        from goldsmith.worker.loop import refuse_gone_files

        refuse_gone_files(cli.runtime, selection)
    options: dict[str, Any] = {"full_refresh": full_refresh, "limit": limit}
    if since is None:
        if until is not None or dry_run:
            raise click.UsageError("--to and --dry-run need --from; `goldsmith plan` shows a run.")
    else:
        if full_refresh:
            raise click.UsageError("A full refresh reads everything: say that, or a window.")
        window = _window(cli, selection, since, until, show_only=dry_run, as_json=as_json)
        if dry_run:
            return
        options |= window
    carry_out(
        cli, selection, options, waits=not no_wait, at_once=at_once, quiet=quiet, as_json=as_json
    )


def _window(
    cli: CliContext,
    selection: Sequence[str],
    since: str,
    until: str | None,
    *,
    show_only: bool,
    as_json: bool,
) -> dict[str, str]:
    """The run options of a backfill; raises if a stage cannot be backfilled."""
    from datetime import UTC, datetime

    from goldsmith.engine.maintenance.backfill_preview import as_lines, left_out, preview
    from goldsmith.planning.increments import Increments
    from goldsmith.planning.window import Window

    window = Window.of(since, until, datetime.now(UTC))
    runtime = cli.runtime
    increments = Increments(runtime.catalog, runtime.storage)
    catalog_index = runtime.catalog_indexer.catalog_index()
    found = preview(catalog_index, selection, window, increments, runtime.storage)
    if show_only:
        lines = as_lines(found, left_out(catalog_index, selection))
        show(as_json, [stage.as_plain() for stage in found], lambda: _lines(lines))
    return {"from": window.start.isoformat(), "to": window.end.isoformat()}


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        echo(line)


def carry_out(
    cli: CliContext,
    selection: Sequence[str],
    options: dict[str, Any],
    *,
    waits: bool = True,
    at_once: int = 4,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Request a run and run all due requests in this process; exits 1 if this one failed."""
    turned, mine = perform(
        cli, selection, options, waits=waits, at_once=at_once, quiet=quiet or as_json
    )
    if as_json:
        print_json(as_plain(cli.runtime, turned))
    else:
        _say(cli.runtime, turned, reported=not quiet)
        if mine.request.status == "waiting":
            echo(f"It waits: {mine.request.because}  ({mine.request.request_id})")
    if not mine.succeeded:
        raise click.exceptions.Exit(1)


def perform(
    cli: CliContext,
    selection: Sequence[str],
    options: dict[str, Any],
    *,
    waits: bool = True,
    at_once: int = 4,
    quiet: bool = False,
) -> tuple[list[RequestOutcome], RequestOutcome]:
    """Request a run and run all due requests here; returns all outcomes, and that of this one."""
    from goldsmith.cli.progress import board
    from goldsmith.engine.run import ExecutionOptions
    from goldsmith.journal import requests
    from goldsmith.planning.run_options import RunOptions
    from goldsmith.planning.selection import select
    from goldsmith.worker import loop
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    # Refuse unknown names before a request is stored.
    select(runtime.catalog_indexer.catalog_index(), selection)
    start_log(runtime)
    request = loop.submit_request(runtime, selection, options, whoami())
    with board(runtime, quiet=quiet) as progress, worker_resources(runtime) as resources:
        execution = ExecutionOptions(
            request_id=None,
            run_options=RunOptions(),
            asked_by=whoami(),
            at_once=at_once,
            waits=waits,
            tell=progress.tell,
            tell_wait=_wait_teller(progress.say),
        )
        turned = loop.run_until_over(runtime, resources, execution, request.request_id, waits=waits)
    over = requests.get(runtime.journal, requests.followed(runtime.journal, request.request_id))
    if over.request_id != request.request_id and not quiet:
        echo(f"{over.request_id} already waited for the same run; both were run once.")
    last = next(t for t in reversed(turned) if t.request.request_id == over.request_id)
    return turned, replace(last, request=over)


def _wait_teller(say: Callable[[str], None]) -> Callable[[str], None]:
    """Says why a request waits, each reason once."""
    shown: set[str] = set()

    def tell(because: str) -> None:
        if because not in shown:
            shown.add(because)
            say(f"Waiting: {because}")

    return tell


def start_log(runtime: Any) -> None:
    from goldsmith import logs

    level = runtime.settings.logs.level.value
    logs.start(level=level, as_json=True, file=runtime.log_file, hide=runtime.secrets.redact)


def _say(runtime: Any, turned: Any, *, reported: bool) -> None:
    from goldsmith.journal import healing

    for turn in turned:
        if not turn.runs:
            echo(f"{turn.request.request_id} {turn.request.status}: {turn.request.because}")
        for run_ in turn.runs:
            echo(f"{run_.pipeline_id} {run_.status}{_reason(run_, reported)}  ({run_.run_id})")
            for line in healing.remedy_sentences(runtime.journal, run_.run_id):
                echo(f"  {line}")


def _reason(run_: Any, reported: bool) -> str:
    """The reason of a run's end; only the code of an error that was shown with its stage."""
    if reported and run_.error_code:
        return f": {run_.error_code}"
    reason = run_.error_message or run_.because
    return f": {reason}" if reason else ""


def as_plain(runtime: Any, turned: Any) -> list[dict[str, Any]]:
    """Runs with their stages, as plain values for JSON."""
    from goldsmith.journal import healing, runs

    return [
        {
            **run_.as_plain(),
            "remedies": healing.remedy_sentences(runtime.journal, run_.run_id),
            "stages": [
                stage_run.as_plain()
                for stage_run in runs.stage_runs_of(runtime.journal, run_.run_id)
            ],
        }
        for turn in turned
        for run_ in turn.runs
    ]
