"""`status`: what runs, waits, failed and is stopped, on one screen."""

from __future__ import annotations

from collections.abc import Iterator

import click

from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    style,
)
from goldsmith.cli.times import ago, local
from goldsmith.journal.status_screen import Entry, StatusScreen, status_screen

_TITLES = {
    "running": ("Running", "green"),
    "waiting": ("Waiting", "yellow"),
    "failed": ("Failed last", "red"),
    "stopped": ("Stopped", "magenta"),
    "warned": ("Warnings: checks that did not hold, sources that hold nothing", "yellow"),
}


@click.command()
@click.option(
    "--most", type=how_many, default=8, show_default=True, help="How many of each to show."
)
@json_option
@pass_cli
def status(cli: CliContext, most: int, as_json: bool) -> None:
    """Show what runs, waits and why, failed last, and is stopped by whom and why."""
    now = status_screen(cli.runtime.catalog_url, most=most)
    show(as_json, now.as_plain(), lambda: _print(now))


def _print(now: StatusScreen) -> None:
    for name, part in now.parts.items():
        if not part.count:
            continue
        title, colour = _TITLES[name]
        echo(style(f"{title} ({part.count:,})", fg=colour, bold=True))
        for entry in part.newest:
            for line in _lines(name, entry, now):
                echo(line)
        if part.count > len(part.newest):
            echo(f"  … and {part.count - len(part.newest):,} more (--most)")
    if not any(part.count for part in now.parts.values()):
        echo("Nothing runs, nothing waits, nothing failed, nothing is stopped.")
    echo(_summary(now))


def _lines(part: str, entry: Entry, now: StatusScreen) -> Iterator[str]:
    texts = [style(entry.subject, bold=True), ago(entry.since, now.now)]
    if entry.who:
        texts.append("by plain SQL" if entry.who == "direct" else f"by {entry.who}")
    if part == "stopped":
        texts.append(f"until {local(entry.until)}" if entry.until else "until released")
    elif entry.until:
        texts.append(f"not before {local(entry.until)}")
    if part != "stopped" and entry.id:
        texts.append(style(entry.id, dim=True))
    yield "  " + "  ".join(text for text in texts if text)
    if entry.abandoned:
        yield "      its process is gone: the next `goldsmith run` cleans up after it"
    elif entry.because:
        yield f"      {entry.because}"


def _summary(now: StatusScreen) -> str:
    counted = now.pipelines
    parts = [
        f"{counted.total - counted.stopped:,} enabled",
        f"{counted.stopped:,} stopped",
        f"{counted.running:,} running",
        f"{counted.never_ran:,} never ran",
    ]
    of_all = count(counted.total, "pipeline")
    return f"{of_all}: {', '.join(parts)}. Catalog revision {now.revision:,}."
