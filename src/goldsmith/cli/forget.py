"""`runs forget`: let the journal forget what was over long ago."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from goldsmith.catalog.columns import plain
from goldsmith.cli.output import (
    Door,
    confirm,
    count,
    json_option,
    pass_door,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.journal.retention import Forgotten

_AGO = re.compile(r"(\d{1,6})\s*([hd])\Z")
_HOURS = {"h": 1, "d": 24}


class Before(click.ParamType[datetime]):
    """A moment that is over, or how long ago it was."""

    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        now = datetime.now(UTC)
        try:
            if match := _AGO.match(value):
                return now - timedelta(hours=int(match[1]) * _HOURS[match[2]])
            said = datetime.fromisoformat(value)
        except (ValueError, OverflowError):
            self.fail(f"'{value}' is no time such as 2026-08-01 or 12h, 90d.", param, ctx)
        moment = said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)
        if moment > now:
            self.fail(f"'{value}' is still to come.", param, ctx)
        return moment


@click.command("forget")
@click.option(
    "--before", required=True, type=Before(), help="A time (UTC), or how long ago: 12h, 90d."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be forgotten.")
@yes_option
@json_option
@pass_door
def forget(door: Door, before: datetime, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Forget events, and runs and requests that were over, before a time. There is no way back.

    Each stage keeps its newest published run, and runs that kept rows aside stay. What was
    loaded stays known: no file is read again. A warehouse table cannot be restored to a
    stage run that was forgotten.
    """
    from goldsmith.journal.retention import Forgotten, forget_before, to_forget

    journal = door.runtime.journal
    found = to_forget(journal, before)
    if not as_json:
        click.echo(f"Before {before:%Y-%m-%d %H:%M:%S} UTC there are {_in_words(found)}.")
    done = False
    is_some = found != Forgotten(events=0, runs=0, stage_runs=0, verdicts=0, requests=0)
    if is_some and not dry_run and confirm("Forget them?", yes=yes):
        found = forget_before(journal, before, actor=whoami())
        done = True

    def text() -> None:
        click.echo(f"Forgotten: {_in_words(found)}." if done else "Nothing was forgotten.")

    show(as_json, {"before": plain(before), **asdict(found), "done": done}, text)


def _in_words(found: Forgotten) -> str:
    return ", ".join(
        (
            count(found.runs, "run"),
            count(found.stage_runs, "stage run"),
            count(found.verdicts, "verdict"),
            count(found.requests, "request"),
            count(found.events, "event"),
        )
    )
