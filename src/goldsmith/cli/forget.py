"""`runs forget`: delete old events, runs and requests from the journal."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from goldsmith.catalog.columns import plain
from goldsmith.cli.output import (
    CliContext,
    confirm,
    count,
    echo,
    json_option,
    pass_cli,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.journal.retention import Forgotten

_AGO = re.compile(r"(\d{1,6})\s*([hd])\Z")
_HOURS = {"h": 1, "d": 24}


class Before(click.ParamType[datetime]):
    """A time in the past, or how long ago it was."""

    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        now = datetime.now(UTC)
        try:
            if match := _AGO.match(value):
                return now - timedelta(hours=int(match[1]) * _HOURS[match[2]])
            parsed = datetime.fromisoformat(value)
            moment = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"'{value}' is no time such as 2026-08-01 or 12h, 90d.", param, ctx)
        if moment > now:
            self.fail(f"'{value}' is still to come.", param, ctx)
        return moment


@click.command("forget")
@click.option(
    "--before", required=True, type=Before(), help="A time (UTC), or how long ago: 12h, 90d."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@yes_option
@json_option
@pass_cli
def forget(cli: CliContext, before: datetime, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete events from before a time, and runs and requests that ended before it, for good.

    Each stage keeps its newest published run, and runs that quarantined rows stay. The ledgers
    of loaded files stay: no file is read again. A warehouse table cannot be restored to a
    stage run that was deleted.
    """
    from goldsmith.journal.retention import Forgotten, forget_before, to_forget

    journal = cli.runtime.journal
    found = to_forget(journal, before)
    if not as_json:
        echo(f"Before {before:%Y-%m-%d %H:%M:%S} UTC there are {_sentence(found)}.")
    done = False
    is_some = found != Forgotten(events=0, runs=0, stage_runs=0, verdicts=0, requests=0)
    if is_some and not dry_run and confirm("Forget them?", yes=yes):
        found = forget_before(journal, before, actor=whoami())
        done = True

    def text() -> None:
        echo(f"Forgotten: {_sentence(found)}." if done else "Nothing was forgotten.")

    show(as_json, {"before": plain(before), **asdict(found), "done": done}, text)


def _sentence(found: Forgotten) -> str:
    return ", ".join(
        (
            count(found.runs, "run"),
            count(found.stage_runs, "stage run"),
            count(found.verdicts, "verdict"),
            count(found.requests, "request"),
            count(found.events, "event"),
        )
    )
