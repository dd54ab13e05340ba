"""`status`: what runs, waits, failed and is stopped, on one screen."""

from __future__ import annotations

import click

from goldsmith.cli.output import Door, count, json_option, pass_door, show
from goldsmith.cli.times import ago, local
from goldsmith.journal.glance import Entry, Glance, glance

_TITLES = {
    "running": ("Running", "green"),
    "waiting": ("Waiting", "yellow"),
    "failed": ("Failed last", "red"),
    "stopped": ("Stopped", "magenta"),
}


@click.command()
@click.option("--most", default=8, show_default=True, help="How many of each to show.")
@json_option
@pass_door
def status(door: Door, most: int, as_json: bool) -> None:
    """Show what runs, waits with its reason, failed last, and is stopped by whom and why."""
    now = glance(door.runtime.catalog_url, most=most)
    show(as_json, now.as_plain(), lambda: _print(now))


def _print(now: Glance) -> None:
    for name, part in now.parts.items():
        if not part.count:
            continue
        title, colour = _TITLES[name]
        click.echo(click.style(f"{title} ({part.count:,})", fg=colour, bold=True))
        for entry in part.newest:
            click.echo(f"  {_line(name, entry, now)}")
        if part.count > len(part.newest):
            click.echo(f"  … and {part.count - len(part.newest):,} more (--most)")
    if not any(part.count for part in now.parts.values()):
        click.echo("Nothing runs, nothing waits, nothing failed, nothing is stopped.")
    click.echo(_summary(now))


def _line(part: str, entry: Entry, now: Glance) -> str:
    words = [click.style(entry.subject, bold=True), ago(entry.since, now.now)]
    if entry.who:
        words.append("by plain SQL" if entry.who == "direct" else f"by {entry.who}")
    if part == "stopped":
        words.append(f"until {local(entry.until)}" if entry.until else "until released")
    elif entry.until:
        words.append(f"not before {local(entry.until)}")
    if part != "stopped" and entry.id:
        words.append(click.style(entry.id, dim=True))
    line = "  ".join(word for word in words if word)
    if entry.abandoned:
        return f"{line}\n      its process is gone: the next `goldsmith run` cleans up after it"
    return f"{line}\n      {entry.because}" if entry.because else line


def _summary(now: Glance) -> str:
    counted = now.pipelines
    parts = [
        f"{counted.total - counted.stopped:,} enabled",
        f"{counted.stopped:,} stopped",
        f"{counted.running:,} running",
        f"{counted.never_ran:,} never ran",
    ]
    of_all = count(counted.total, "pipeline")
    return f"{of_all}: {', '.join(parts)}. Catalog revision {now.revision:,}."
