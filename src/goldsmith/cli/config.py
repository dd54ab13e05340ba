"""`goldsmith config`: what the settings are, where each came from, and whether they work."""

from __future__ import annotations

import click

from goldsmith.cli.output import Door, json_option, pass_door, show, table
from goldsmith.credentials import HIDDEN, is_reference, looks_like_secret_name
from goldsmith.settings.settings import Setting


@click.group()
def config() -> None:
    """The settings of this process."""


@config.command("show")
@click.option("--all", "everything", is_flag=True, help="Also settings that have no value.")
@json_option
@pass_door
def show_settings(door: Door, everything: bool, as_json: bool) -> None:
    """Every setting, its value and where it came from; secrets stay hidden."""
    settings = door.runtime.settings
    values = [
        {"name": one.name, "value": _shown(one), "origin": one.origin, "doc": one.doc}
        for one in settings.values
    ]

    def text() -> None:
        click.echo(f"Project {settings.project}, environment {settings.environment}")
        listed = [one for one in values if everything or one["value"] is not None]
        rows = [(one["name"], one["value"] or "—", one["origin"]) for one in listed]
        table(("setting", "value", "where it came from"), rows)
        if left := len(values) - len(listed):
            click.echo(f"{left} settings have no value; --all lists them.")

    show(as_json, values, text)


def _shown(setting: Setting) -> str | None:
    """A value that may be read by anybody: a reference to a secret may, a secret may not."""
    shown = setting.shown
    if shown is None or is_reference(shown):
        return shown
    return HIDDEN if looks_like_secret_name(setting.name.rstrip('"')) else shown


@config.command()
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Try every connection, and say what is wrong."""
    from goldsmith.cli.config_checks import check_all

    runtime = ctx.ensure_object(Door).runtime
    results = []
    for result in check_all(runtime):
        results.append(result)
        if not as_json:
            word = (
                click.style("ok    ", fg="green") if result.ok else click.style("failed", fg="red")
            )
            click.echo(f"{word}  {result.name:20} {result.says}")
            if result.hint:
                click.echo(f"{'':8}{'':20} {result.hint}")
    failed = [one for one in results if not one.ok]
    if as_json:
        show(True, [one.as_plain() for one in results], lambda: None)
    elif failed:
        click.echo(f"{len(failed)} of {len(results)} failed.")
    else:
        click.echo(f"All {len(results)} are as they should be.")
    ctx.exit(1 if failed else 0)
