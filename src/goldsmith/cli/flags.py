"""`stop`, `release` and `flags`: the kill switch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from goldsmith.catalog.columns import EARLIEST, LATEST
from goldsmith.cli.output import (
    CliContext,
    confirm,
    count,
    echo,
    json_option,
    pass_cli,
    print_json,
    show,
    table,
    whoami,
    yes_option,
)
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.worker.stops import StopReach

_SPAN = re.compile(r"(\d+)\s*([mhd])\Z")
_MINUTES = {"m": 1, "h": 60, "d": 1440}


class Until(click.ParamType[datetime]):
    """A time, or a duration from now."""

    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            if match := _SPAN.match(value):
                span = timedelta(minutes=int(match[1]) * _MINUTES[match[2]])
                moment = datetime.now(UTC) + span
            else:
                moment = datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"'{value}' is no time such as 2026-11-16T18:00 or 30m, 2h, 1d.", param, ctx)
        if not EARLIEST <= moment < LATEST:
            self.fail(f"'{value}' is not in the years 1000 to 9998.", param, ctx)
        return moment


@click.command()
@click.argument("entity")
@click.option("--reason", help="Why, for the people on call.")
@click.option("--until", type=Until(), help="When the stop ends by itself: a time, or 30m, 2h, 1d.")
@yes_option
@json_option
@pass_cli
def stop(
    cli: CliContext,
    entity: str,
    reason: str | None,
    until: datetime | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Stop something, running or not; shows first which stages and datasets that affects.

    ENTITY is everything, pipeline:ID, stage:ID-ORDER, source:ID or target:ID. The stop is a row
    of control_flags. Running stages stop within seconds and publish nothing; their requests
    continue after a release.
    """
    from goldsmith.worker import stops

    order = stops.StopOrder(entity=entity, reason=reason, until=until, actor=whoami())
    reached = stops.reach(cli.runtime, order)
    if not as_json:
        _say(entity, reached)
    if not confirm(f"Stop {entity}?", yes=yes):
        echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    value = {**reached.as_plain(), "revision": stops.stop(cli.runtime, order)}
    show(
        as_json,
        value,
        lambda: echo(f"{entity} is stopped. `goldsmith release {entity}` lets it go on."),
    )


@click.command()
@click.argument("entity")
@click.option("--reason", help="Why, for the history.")
@json_option
@pass_cli
def release(cli: CliContext, entity: str, reason: str | None, as_json: bool) -> None:
    """Release a stop; the next `goldsmith run` or worker continues the stopped requests."""
    from goldsmith.planning import blast_radius
    from goldsmith.worker import stops

    scope, name = blast_radius.entity(cli.runtime.catalog_indexer.catalog_index(), entity)
    back = stops.release(cli.runtime, entity, reason=reason, actor=whoami())
    if as_json:
        print_json(
            {"entity": f"{scope}:{name}", "released": back is not None, "requests": back or []}
        )
        return
    if back is None:
        echo(f"{entity} was not stopped by a flag.")
        return
    echo(f"{entity} is released.")
    if back:
        message = count(len(back), "stopped request waits", "stopped requests wait")
        them = "it" if len(back) == 1 else "them"
        echo(f"{message} again; `goldsmith run` carries {them} on.")


@click.group()
def flags() -> None:
    """The flags that stop pipelines, stages or datasets."""


@flags.command("list")
@click.option("--all", "everything", is_flag=True, help="Also flags that stop nothing now.")
@json_option
@pass_cli
def list_(cli: CliContext, everything: bool, as_json: bool) -> None:
    """List what is stopped, by whom, why and until when."""
    from goldsmith.catalog.flags import Flag

    now = datetime.now(UTC)
    rows = cli.runtime.catalog_indexer.catalog_index().rows.rows(Flag)
    found = sorted(
        (flag for flag in rows if everything or flag.stops(now)),
        key=lambda flag: (flag.entity_type, flag.entity_id, flag.flag_name),
    )
    value = [{**flag.as_plain(), "stops": flag.stops(now)} for flag in found]
    show(as_json, value, lambda: _print(found, now))


def _print(found: list[Any], now: datetime) -> None:
    if not found:
        echo("Nothing is stopped by a flag.")
        return
    table(
        ("entity", "flag", "stops", "by", "since", "until", "reason"),
        [
            (
                f"{flag.entity_type}:{flag.entity_id}",
                f"{flag.flag_name}={str(flag.flag_value).lower()}",
                "yes" if flag.stops(now) else "no",
                flag.updated_by,
                local(flag.updated_at),
                local(flag.ends_at),
                flag.reason,
            )
            for flag in found
        ],
    )


def _say(entity: str, reached: StopReach) -> None:
    echo(f"Stopping {entity} reaches:")
    radius, starting = reached.blast_radius, reached.starting
    lines = [
        ("stages stopped", radius.stages),
        ("running now", reached.running),
        *([("taken by a worker, between stages or starting", starting)] if starting else ()),
        ("stages that read from them", radius.downstream),
        ("datasets without new rows", radius.datasets),
        ("owners", radius.owners),
        ("promises", [f"{name} within {m} min" for name, m in radius.slas.items()]),
    ]
    for what, names in lines:
        more = f" … and {len(names) - 10} more" if len(names) > 10 else ""
        echo(f"  {what}: {', '.join(names[:10]) or 'none'}{more}")
