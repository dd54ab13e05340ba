"""`collect`: metadata, lineage and query logs of a warehouse into a manifest."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.flags import Until
from goldsmith.cli.output import CliContext, count, echo, how_many, json_option, pass_cli, show
from goldsmith.errors import BadRequest

_FLOWS = ("metadata", "lineage", "query-logs")
_SPAN = re.compile(r"^(\d{1,5})([mhd])$")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Span(click.ParamType[timedelta]):
    """A duration such as 24h."""

    name = "SPAN"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        if isinstance(value, timedelta):
            return value
        if (match := _SPAN.match(value)) is None:
            self.fail(f"'{value}' is no duration such as 30m, 24h, 7d.", param, ctx)
        return timedelta(**{_UNITS[match[2]]: int(match[1])})


def settings_of(pairs: tuple[str, ...]) -> dict[str, str]:
    """`--set NAME=VALUE` as a mapping."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise BadRequest(sentence=f"'{name}' is no setting.", advice="Write --set NAME=VALUE.")
        found[name] = value
    return found


def resource_of(given: str | None) -> str:
    """The resource a command is about; raises BadRequest if none was given."""
    found = given or os.environ.get("MCD_RESOURCE_UUID")
    if not found:
        raise BadRequest(
            sentence="No resource is named.",
            advice="Set MCD_RESOURCE_UUID, or give --resource UUID.",
        )
    return found


@click.command()
@click.argument("warehouse", required=False)
@click.argument("flow", type=click.Choice(_FLOWS), required=False)
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the connection; secrets as env:NAME, file:PATH or aws-secret:ARN.",
)
@click.option("--resource", help="The resource's UUID. Default: $MCD_RESOURCE_UUID.")
@click.option(
    "--resource-type", help="The resource's type. Default: the usual one of the warehouse."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The manifest. Default: metadata_output.json, lineage_output.json, …",
)
@click.option(
    "--include", multiple=True, help="Only these tables: DATABASE.SCHEMA.TABLE with * and ?."
)
@click.option("--exclude", multiple=True, help="Not these; overrides --include.")
@click.option(
    "--only-freshness-and-volume",
    is_flag=True,
    help="Leave out the columns; quick, for hourly pushes.",
)
@click.option(
    "--look-back",
    type=Span(),
    default="24h",
    show_default=True,
    help="Read queries from this long ago on.",
)
@click.option("--until", type=Until(), help="The end of the look-back. Default: now.")
@click.option(
    "--limit",
    type=how_many,
    default=50_000,
    show_default=True,
    help="The largest number of queries.",
)
@json_option
@pass_cli
def collect(
    cli: CliContext,
    warehouse: str | None,
    flow: str | None,
    pairs: tuple[str, ...],
    resource: str | None,
    resource_type: str | None,
    output: Path | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    only_freshness_and_volume: bool,
    look_back: timedelta,
    until: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """Collect a FLOW of a WAREHOUSE into a manifest that `goldsmith push push` sends.

    Without a WAREHOUSE the known ones and their settings are listed. What may not be read is
    listed as a gap of the manifest, and the rest is collected.
    """
    from goldsmith.assets.items import Flow
    from goldsmith.collectors.collect import CollectRequest
    from goldsmith.collectors.collect import collect as collect_flow
    from goldsmith.collectors.patterns import TablePatterns

    if warehouse is None or flow is None:
        _list_warehouses(as_json)
        return
    named = Flow(flow.replace("-", "_"))
    file = output or Path(f"{named.value}_output.json")
    done = collect_flow(
        CollectRequest(
            warehouse=warehouse,
            flow=named,
            resource_uuid=resource_of(resource),
            resource_type=resource_type,
            settings=settings_of(pairs),
            patterns=TablePatterns(include, exclude),
            only_volume=only_freshness_and_volume,
            look_back=look_back,
            until=until,
            limit=limit,
        ),
        file,
        cli.runtime.secrets,
        now=datetime.now(UTC),
        tell=lambda text: echo(text, err=True),
    )
    plain = {"file": str(file), "items": done.items, "gaps": [dict(gap) for gap in done.gaps]}

    def text() -> None:
        echo(f"Collected {count(done.items, 'item')} of {named.value} into {file}.")
        if done.gaps:
            echo(f"{count(len(done.gaps), 'gap')}: what could not be read is listed there.")

    show(as_json, plain, text)


def _list_warehouses(as_json: bool) -> None:
    from goldsmith.collectors.collector import WAREHOUSES

    found = dict(WAREHOUSES.all())
    plain = {
        name: {
            "extra": collector.extra or None,
            "resource_type": collector.resource_type,
            "log_type": collector.log_type,
            "lacks": collector.lacks,
            "settings": {
                setting.name: {
                    "doc": setting.doc,
                    "required": setting.required,
                    "secret": setting.secret,
                    "default": setting.default,
                }
                for setting in collector.settings
            },
        }
        for name, collector in found.items()
    }

    def text() -> None:
        for name, collector in found.items():
            settings = " ".join(
                setting.name if setting.required else f"[{setting.name}]"
                for setting in collector.settings
            )
            echo(f"{name}: {settings}")
            echo(f"  {collector.lacks}")

    show(as_json, plain, text)
