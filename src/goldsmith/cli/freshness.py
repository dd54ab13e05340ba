"""`datasets freshness`: when each dataset was last brought up to date, the stalest first."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import Door, json_option, pass_door, show, table
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.scheduling.incidents import Freshness


@click.command()
@click.option("--stale", is_flag=True, help="Only those older than they may be.")
@json_option
@pass_door
def freshness(door: Door, stale: bool, as_json: bool) -> None:
    """Show when each dataset was last brought up to date and how old it is, worst first."""
    from goldsmith.scheduling.incidents import freshness as look

    found = [one for one in look(door.runtime) if one.is_stale or not stale]
    plain = [{**asdict(one), "is_stale": one.is_stale} for one in found]
    show(as_json, plain, lambda: _print(found))


def _print(found: list[Freshness]) -> None:
    heads = ["dataset", "last update", "hours stale", "may be", "severity", "pipeline"]
    table(heads, [_line(one) for one in found])


def _line(one: Freshness) -> list[str | None]:
    return [
        one.dataset_id,
        local(one.last_update) if one.last_update else "never",
        "" if one.hours_stale is None else f"{one.hours_stale:.1f}",
        "" if one.may_be_hours is None else f"{one.may_be_hours:g}",
        one.severity,
        one.pipeline_id,
    ]
