"""`backfill`: run a pipeline again over a span of time, one request for each window."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from goldsmith.cli.output import CliContext, count, echo, json_option, pass_cli, show, whoami
from goldsmith.cli.times import span

_EVERY = re.compile(r"(\d{1,4})([hd])\Z")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1)}
_MOST = 10_000


class WindowLength(click.ParamType[timedelta]):
    """The length of a window: 6h, 1d."""

    name = "SPAN"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _EVERY.match(value)
        if match is None or not int(match[1]):
            self.fail(f"'{value}' is no span such as 6h or 1d.", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


@click.command()
@click.argument("pipeline", required=False)
@click.option("--from", "since", help="The start of the span (UTC).")
@click.option("--to", "until", help="The end of the span (UTC), not part of it. Default: now.")
@click.option(
    "--every", type=WindowLength(), default="1d", show_default=True, help="One window's length."
)
@click.option("--reverse", is_flag=True, help="The newest window first.")
@click.option("--dry-run", is_flag=True, help="Only show the windows and what they would read.")
@click.option("--show", "shown", metavar="BACKFILL", help="Show how far a backfill is.")
@click.option("--cancel", "cancelled", metavar="BACKFILL", help="Cancel the windows that wait.")
@json_option
@pass_cli
def backfill(
    cli: CliContext,
    pipeline: str | None,
    since: str | None,
    until: str | None,
    every: timedelta,
    reverse: bool,
    dry_run: bool,
    shown: str | None,
    cancelled: str | None,
    as_json: bool,
) -> None:
    """Add one request for each window of a time span; workers run other work first.

    Each window is read again and replaces what was written from it, as `run --from --to` does.
    `goldsmith stop` stops a backfill; after `goldsmith release` it continues with the next window.
    """
    if shown is not None or cancelled is not None:
        _progress(cli, str(shown or cancelled), cancel=cancelled is not None, as_json=as_json)
        return
    if pipeline is None or since is None:
        raise click.UsageError("Name a pipeline and --from, or a backfill with --show or --cancel.")
    from goldsmith.cli.run import _window
    from goldsmith.planning.window import Window

    whole = Window.of(since, until, datetime.now(UTC))
    number = -(-(whole.end - whole.start) // every)
    if number > _MOST:
        raise click.UsageError(f"{number:,} windows are too many: at most {_MOST:,}.")
    windows = _windows(whole, every)
    selection = (f"pipeline:{pipeline}",)
    if dry_run:
        if not as_json:
            length = span(every.total_seconds())
            echo(f"{count(len(windows), 'window')} of {length}, {whole}:")
        _window(cli, selection, since, until, show_only=True, as_json=as_json)
        return
    # Refuses stages that cannot be backfilled, before anything is put.
    _window(cli, selection, since, until, show_only=False, as_json=as_json)
    name, ids = _put(cli, pipeline, selection, windows[::-1] if reverse else windows)
    answer = {"backfill_id": name, "requests": ids}
    show(
        as_json,
        answer,
        lambda: echo(
            f"{name}: {count(len(ids), 'window')} in the queue, for workers of `goldsmith serve` "
            f"or the next `goldsmith run`; `goldsmith backfill --show {name}` says more."
        ),
    )


def _windows(whole: Any, every: timedelta) -> list[Any]:
    from goldsmith.planning.window import Window

    found, start = [], whole.start
    while start < whole.end:
        end = start + every if whole.end - start > every else whole.end
        found.append(Window(start=start, end=end))
        start = end
    return found


def _put(
    cli: CliContext, pipeline: str, selection: tuple[str, ...], windows: list[Any]
) -> tuple[str, list[str]]:
    """Put all requests in one transaction: a process that dies leaves all or none."""
    from goldsmith.journal import requests
    from goldsmith.journal.ids import new_id
    from goldsmith.journal.tables import Request

    journal, name = cli.runtime.journal, new_id("backfill")
    now = datetime.now(UTC)
    ids = []
    with journal.writing() as connection:
        for number, window in enumerate(windows):
            request = Request(
                request_id=new_id("request"),
                selection=selection,
                pipelines=(pipeline,),
                options={"from": window.start.isoformat(), "to": window.end.isoformat()},
                asked_by=whoami(),
                # The order of the queue is the order of the windows.
                asked_at=now + timedelta(microseconds=number),
                backfill_id=name,
            )
            requests.put(journal, request, connection=connection)
            ids.append(request.request_id)
    return name, ids


def _progress(cli: CliContext, name: str, *, cancel: bool, as_json: bool) -> None:
    from goldsmith.errors import GoldsmithError
    from goldsmith.journal import requests
    from goldsmith.journal.tables import RequestStatus
    from goldsmith.worker.backfills import backfill as find

    journal = cli.runtime.journal
    found = find(journal, name)
    if cancel:
        for request in requests.of_backfill(journal, name):
            if request.status in (RequestStatus.WAITING, RequestStatus.STOPPED):
                try:
                    requests.cancel(
                        journal, request.request_id, because="the backfill was cancelled"
                    )
                except GoldsmithError:
                    continue  # a worker took it meanwhile
        found = find(journal, name)
    text = ", ".join(f"{number:,} {status}" for status, number in found.counts.items())
    show(
        as_json,
        found.as_plain(),
        lambda: echo(f"{name}: {count(found.windows, 'window')}: {text}."),
    )
