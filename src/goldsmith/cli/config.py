"""`goldsmith config`: the settings, their origins, and whether the connections work."""

from __future__ import annotations

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, show, style, table
from goldsmith.credentials import displayed


@click.group()
def config() -> None:
    """The settings of this process."""


@config.command("show")
@click.option("--all", "everything", is_flag=True, help="Also settings without a value.")
@json_option
@pass_cli
def show_settings(cli: CliContext, everything: bool, as_json: bool) -> None:
    """Show every setting, its value and its origin; secrets are hidden."""
    settings = cli.runtime.settings
    values = [
        {
            "name": setting.name,
            "value": displayed(setting.name, setting.shown),
            "origin": setting.origin,
            "doc": setting.doc,
        }
        for setting in settings.values
    ]

    def text() -> None:
        echo(f"Project {settings.project}, environment {settings.environment}")
        listed = [setting for setting in values if everything or setting["value"] is not None]
        rows = [(setting["name"], setting["value"] or "—", setting["origin"]) for setting in listed]
        table(("setting", "value", "where it came from"), rows)
        if left := len(values) - len(listed):
            echo(f"{left} settings have no value; --all lists them.")

    show(as_json, values, text)


@config.command()
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Try every connection, and report problems."""
    from goldsmith.cli.config_checks import check_all

    runtime = ctx.ensure_object(CliContext).runtime
    results = []
    for result in check_all(runtime):
        results.append(result)
        if not as_json:
            mark = style("ok    ", fg="green") if result.ok else style("failed", fg="red")
            echo(f"{mark}  {result.name:20} {result.says}")
            if result.hint:
                echo(f"{'':8}{'':20} {result.hint}")
    failed = [probe for probe in results if not probe.ok]
    if as_json:
        show(True, [probe.as_plain() for probe in results], lambda: None)
    elif failed:
        echo(f"{len(failed)} of {len(results)} failed.")
    else:
        echo(f"All {len(results)} are as they should be.")
    ctx.exit(1 if failed else 0)
