"""`schedules list`, `next`, `pause`, `resume`: when pipelines start by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

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
from goldsmith.errors import BadRequest, GoldsmithError

_FAR = timedelta(days=4 * 366)


@click.group()
def schedules() -> None:
    """The schedules of pipelines, maintenance and rule sets."""


@schedules.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """Show every schedule: its next start, its last, and whether it is paused."""
    from goldsmith.journal import schedule_fires
    from goldsmith.service.clock import paused, scheduled

    catalog_index = cli.runtime.catalog_indexer.catalog_index()
    last, now = schedule_fires.last(cli.runtime.journal), datetime.now(UTC)
    found: list[dict[str, Any]] = []
    for entry in scheduled(catalog_index):
        flag = paused(catalog_index, entry.subject, now)
        starts, problem = _next(entry.text, now, 1)
        fire = last.get(entry.subject)
        found.append(
            {
                "subject": entry.subject,
                "schedule": entry.text,
                "next": starts[0].isoformat() if starts else None,
                "last_due": fire.due_at.isoformat() if fire and fire.request_id else None,
                "paused": flag is not None,
                "problem": problem,
            }
        )

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
    row = _pipeline(cli, pipeline)
    if not row.schedule:
        raise BadRequest(
            sentence=f"Pipeline '{pipeline}' has no schedule.",
            advice="Set pipelines.schedule; `goldsmith run` starts it now.",
        )
    starts, problem = _next(row.schedule, datetime.now(UTC), most)
    if problem is not None:
        raise BadRequest(sentence=problem, advice="Correct pipelines.schedule.")

    def text() -> None:
        for start in starts:
            echo(f"{start:%Y-%m-%d %H:%M:%S} UTC  {local(start)}")
        if not starts:
            echo(f"It has no due times: {row.schedule}.")

    show(as_json, [start.isoformat() for start in starts], text)


@schedules.command("pause")
@click.argument("pipeline")
@click.option("--reason", help="Why, for whoever asks.")
@json_option
@pass_cli
def pause(cli: CliContext, pipeline: str, reason: str | None, as_json: bool) -> None:
    """Pause a pipeline's schedule: due starts are left out; `run` still works."""
    _set(cli, pipeline, False, reason, as_json)


@schedules.command("resume")
@click.argument("pipeline")
@json_option
@pass_cli
def resume(cli: CliContext, pipeline: str, as_json: bool) -> None:
    """Resume a paused schedule; starts that were left out are not caught up."""
    _set(cli, pipeline, True, None, as_json)


def _set(cli: CliContext, pipeline: str, value: bool, reason: str | None, as_json: bool) -> None:
    from goldsmith.catalog.flags import Flag
    from goldsmith.service.clock import SCHEDULE_FLAG

    _pipeline(cli, pipeline)
    flag = Flag(
        entity_type="pipeline",
        entity_id=pipeline,
        flag_name=SCHEDULE_FLAG,
        flag_value=value,
        updated_at=datetime.now(UTC),
        updated_by=whoami(),
        reason=reason,
    )
    with cli.runtime.catalog.change(actor=whoami(), reason=reason) as change:
        change.put([flag])
    did = "resumed" if value else "paused"
    show(
        as_json,
        {"pipeline_id": pipeline, "paused": not value},
        lambda: echo(f"The schedule of {pipeline} is {did}."),
    )


def _pipeline(cli: CliContext, name: str) -> Any:
    from goldsmith.catalog.pipelines import Pipeline
    from goldsmith.registry import UnknownName

    rows = cli.runtime.catalog.snapshot()
    found = rows.get(Pipeline, name)
    if found is None:
        raise UnknownName(noun="pipeline", name=name, known=tuple(rows.pipeline_ids))
    return found


def _next(text: str, now: datetime, most: int) -> tuple[list[datetime], str | None]:
    from goldsmith.scheduling import schedules as rules

    try:
        schedule = rules.parse_schedule(text)
        return list(islice(rules.due_times(schedule, now, now + _FAR), most)), None
    except GoldsmithError as error:
        return [], str(error)


def _time(text: str | None) -> str:
    return "" if text is None else local(datetime.fromisoformat(text))
