"""`stop`, `release` and `flags`: the kill switch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    Door,
    confirm,
    count,
    json_option,
    pass_door,
    print_json,
    show,
    table,
    whoami,
    yes_option,
)
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.planning.blast import Radius

_SPAN = re.compile(r"(\d+)\s*([mhd])\Z")
_MINUTES = {"m": 1, "h": 60, "d": 1440}


class Until(click.ParamType[datetime]):
    """A moment, or how long from now."""

    name = "TIME"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        if match := _SPAN.match(value):
            return datetime.now(UTC) + timedelta(minutes=int(match[1]) * _MINUTES[match[2]])
        try:
            said = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"'{value}' is no time such as 2026-11-16T18:00 or 30m, 2h, 1d.", param, ctx)
        return said.astimezone(UTC)


@click.command()
@click.argument("entity")
@click.option("--reason", help="Why, for whoever is paged.")
@click.option("--until", type=Until(), help="Lift it by itself then: a time, or 30m, 2h, 1d.")
@yes_option
@json_option
@pass_door
def stop(
    door: Door, entity: str, reason: str | None, until: datetime | None, yes: bool, as_json: bool
) -> None:
    """Stop something, running or not, by a row; shows what that reaches first.

    ENTITY is everything, pipeline:ID, stage:ID-ORDER, source:ID or target:ID. Whatever runs is
    stopped within seconds with nothing published, and goes on from there after a release.
    """
    from goldsmith.catalog.flags import Flag
    from goldsmith.planning import blast

    runtime = door.runtime
    survey = runtime.surveyor.survey()
    scope, name = blast.entity(survey, entity)
    flag = Flag(
        entity_type=scope,
        entity_id=name,
        flag_name="enabled",
        flag_value=False,
        reason=reason,
        ends_at=until,
        updated_at=datetime.now(UTC),
        updated_by=whoami(),
    )
    reached = blast.radius(survey, [flag], datetime.now(UTC))
    running = _running(door, reached.stages)
    if not as_json:
        _say(entity, reached, running)
    if not confirm(f"Stop {entity}?", yes=yes):
        click.echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    with runtime.catalog.change(actor=whoami(), reason=reason or f"stop {entity}") as change:
        change.put([flag])
    value = {
        "entity": f"{scope}:{name}",
        "until": until,
        "revision": runtime.catalog.revision(),
        "running_stages": running,
        **reached.as_plain(),
    }
    show(as_json, value, lambda: click.echo(f"{entity} is stopped. `goldsmith release {entity}`."))


@click.command()
@click.argument("entity")
@click.option("--reason", help="Why, for the history.")
@json_option
@pass_door
def release(door: Door, entity: str, reason: str | None, as_json: bool) -> None:
    """Take a stop back; what was stopped goes on where it was, at the next run or worker."""
    from goldsmith.catalog.flags import Flag
    from goldsmith.planning import blast
    from goldsmith.scheduling import standing

    runtime = door.runtime
    survey = runtime.surveyor.survey()
    scope, name = blast.entity(survey, entity)
    flag = survey.rows.get(Flag, scope, name, "enabled")
    if flag is None or flag.flag_value:
        value = {"entity": f"{scope}:{name}", "released": False, "requests": []}
        show(as_json, value, lambda: click.echo(f"{entity} was not stopped by a flag."))
        return
    with runtime.catalog.change(actor=whoami(), reason=reason or f"release {entity}") as change:
        free = flag.with_(flag_value=True, reason=reason, starts_at=None, ends_at=None)
        change.put([free.with_(updated_at=datetime.now(UTC), updated_by=whoami())])
    back = [request.request_id for request in standing.put_back_the_released(runtime)]
    if as_json:
        print_json({"entity": f"{scope}:{name}", "released": True, "requests": back})
        return
    click.echo(f"{entity} is released.")
    if back:
        said = count(len(back), "stopped request waits", "stopped requests wait")
        click.echo(f"{said} again; `goldsmith run` carries them on.")


@click.group()
def flags() -> None:
    """The rows that stop things."""


@flags.command("list")
@click.option("--all", "everything", is_flag=True, help="Also flags that stop nothing now.")
@json_option
@pass_door
def list_(door: Door, everything: bool, as_json: bool) -> None:
    """List what is stopped, by whom, why and until when."""
    from goldsmith.catalog.flags import Flag

    now = datetime.now(UTC)
    rows = door.runtime.surveyor.survey().rows.rows(Flag)
    found = sorted(
        (flag for flag in rows if everything or flag.stops(now)),
        key=lambda flag: (flag.entity_type, flag.entity_id, flag.flag_name),
    )
    value = [{**flag.as_plain(), "stops": flag.stops(now)} for flag in found]
    show(as_json, value, lambda: _print(found, now))


def _print(found: list[Any], now: datetime) -> None:
    if not found:
        click.echo("Nothing is stopped by a flag.")
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


def _running(door: Door, stages: tuple[str, ...]) -> list[str]:
    """Which of these stages are running right now."""
    from goldsmith.journal import stage_runs

    wanted = set(stages)
    names = (f"{s.pipeline_id}-{s.stage_order}" for s in stage_runs.running(door.runtime.journal))
    return [name for name in names if name in wanted]


def _say(entity: str, reached: Radius, running: list[str]) -> None:
    click.echo(f"Stopping {entity} reaches:")
    lines = [
        ("stages stopped", reached.stages),
        ("running now", running),
        ("stages that read from them", reached.downstream),
        ("datasets without new rows", reached.datasets),
        ("owners", reached.owners),
        ("promises", [f"{name} within {m} min" for name, m in reached.slas.items()]),
    ]
    for what, names in lines:
        more = f" … and {len(names) - 10} more" if len(names) > 10 else ""
        click.echo(f"  {what}: {', '.join(names[:10]) or 'none'}{more}")
