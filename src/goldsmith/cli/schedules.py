"""`schedules list`, `next`, `pause`, `resume`: when pipelines start by themselves."""

from __future__ import annotations

from datetime import datetime

import click

from goldsmith.cli.output import (
    CliContext,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    table,
    whoami,
)
from goldsmith.cli.times import local


@click.group()
def schedules() -> None:
    """The schedules of pipelines, maintenance and rule sets."""


@schedules.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """Show every schedule: its next start, its last, and whether it is paused."""
    from goldsmith.service.schedule_view import listed_schedules

    found = listed_schedules(cli.runtime)

    def text() -> None:
        table(
            ("schedule of", "schedule", "next start", "last start", ""),
            [
                (
                    row["subject"],
                    row["schedule"],
                    _time(row["next"]),
                    _time(row["last_due"]),
                    row["problem"] or ("paused" if row["paused"] else ""),
                )
                for row in found
            ],
        )

    show(as_json, found, text)


@schedules.command("next")
@click.argument("pipeline")
@click.option("--most", type=how_many, default=10, show_default=True, help="How many starts.")
@json_option
@pass_cli
def next_(cli: CliContext, pipeline: str, most: int, as_json: bool) -> None:
    """Show the next starts of a pipeline, in UTC and in local time."""
    from goldsmith.service.schedule_view import next_starts

    schedule, starts = next_starts(cli.runtime, pipeline, most)

    def text() -> None:
        for start in starts:
            echo(f"{start:%Y-%m-%d %H:%M:%S} UTC  {local(start)}")
        if not starts:
            echo(f"It has no due times: {schedule}.")

    show(as_json, [start.isoformat() for start in starts], text)


@schedules.command("pause")
@click.argument("pipeline")
@click.option("--reason", help="Why, for the history.")
@json_option
@pass_cli
def pause(cli: CliContext, pipeline: str, reason: str | None, as_json: bool) -> None:
    """Pause a pipeline's schedule: due starts are skipped; `run` still works."""
    _set(cli, pipeline, True, reason, as_json)


@schedules.command("resume")
@click.argument("pipeline")
@json_option
@pass_cli
def resume(cli: CliContext, pipeline: str, as_json: bool) -> None:
    """Resume a paused schedule; skipped starts are not caught up."""
    _set(cli, pipeline, False, None, as_json)


def _set(
    cli: CliContext, pipeline: str, is_paused: bool, reason: str | None, as_json: bool
) -> None:
    from goldsmith.service.schedule_view import set_paused

    answer = set_paused(cli.runtime, pipeline, is_paused, actor=whoami(), reason=reason)
    did = "paused" if is_paused else "resumed"
    show(as_json, answer, lambda: echo(f"The schedule of {pipeline} is {did}."))


def _time(text: str | None) -> str:
    return "" if text is None else local(datetime.fromisoformat(text))
