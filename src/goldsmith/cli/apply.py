"""`diff` and `apply`: the catalog as code."""

from __future__ import annotations

import sys
from typing import Any

import click

from goldsmith.cli.output import (
    Door,
    confirm,
    count,
    json_option,
    pass_door,
    print_json,
    show,
    whoami,
    yes_option,
)

files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE…")
prune_option = click.option(
    "--prune",
    is_flag=True,
    help="Also remove rows the files no longer name, in the tables they speak of. Data stays.",
)
_COLOURS = {"added": "green", "changed": "yellow", "removed": "red"}
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}
#: A diff longer than this is cut; --json has all of it.
_MOST_ROWS = 200


def read_bundle(files: tuple[str, ...]) -> Any:
    from goldsmith.catalog import bundle
    from goldsmith.catalog.documents import files_of

    return bundle.load(files_of(files, sys.stdin))


@click.command()
@files_argument
@prune_option
@json_option
@pass_door
def diff(door: Door, files: tuple[str, ...], prune: bool, as_json: bool) -> None:
    """Show what applying files would change. FILE is a file, a folder, or - for standard input."""
    from goldsmith.planning import applying

    proposal = applying.propose(door.runtime.surveyor, read_bundle(files), prune=prune)
    show(as_json, proposal.as_plain(), lambda: print_proposal(proposal))


@click.command()
@files_argument
@prune_option
@click.option("--reason", help="Why, for the history.")
@click.option("--actor", help="Who, for the history. Default: the user at the keyboard.")
@yes_option
@json_option
@pass_door
def apply(
    door: Door,
    files: tuple[str, ...],
    prune: bool,
    reason: str | None,
    actor: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Make the catalog say what the files say: show the difference, ask, change it at once.

    FILE is a file, a folder, or - for standard input; YAML or JSON. Nothing is removed without
    --prune, and no change of the catalog ever deletes data.
    """
    from goldsmith.planning import applying
    from goldsmith.planning.planner import CatalogHasErrors

    surveyor = door.runtime.surveyor
    read = read_bundle(files)
    proposal = applying.propose(surveyor, read, prune=prune)
    if not as_json:
        print_proposal(proposal)
    if proposal.errors:
        raise CatalogHasErrors(findings=proposal.errors)
    if not proposal.difference:
        if as_json:
            print_json({**proposal.as_plain(), "applied": False})
        return
    # --json never asks: whoever reads it is a program.
    if not confirm("Apply this?", yes=yes):
        click.echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    revision, done = applying.apply(
        surveyor,
        read,
        proposal,
        actor=actor or whoami(),
        reason=reason,
        prune=prune,
        as_shown=not yes,
    )
    if as_json:
        counts = done.counts
        print_json({**proposal.as_plain(), "counts": counts, "revision": revision, "applied": True})
    else:
        click.echo(
            f"Applied as revision {revision}. `goldsmith catalog undo {revision}` takes it back."
        )


def print_proposal(proposal: Any) -> None:
    """A difference, what it touches and what is wrong with it, in words."""
    counts = proposal.difference.counts
    print_difference(proposal.difference)
    print_findings(proposal.brings)
    if not proposal.difference:
        click.echo("Nothing would change: the catalog says what the files say.")
        return
    said = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
    click.echo(f"{said}." + _touching(proposal))


def _touching(proposal: Any) -> str:
    names = ", ".join(proposal.touches[:10]) + (" …" if len(proposal.touches) > 10 else "")
    touching = f" Touches {count(len(proposal.touches), 'pipeline')}: {names}." if names else ""
    running = ", ".join(proposal.running)
    return touching + (f" Running right now: {running}." if running else "")


def print_difference(difference: Any) -> None:
    for row in difference.rows[:_MOST_ROWS]:
        sign = click.style(f"{_SIGNS[row.what]} {row.table} {row.key}", fg=_COLOURS[row.what])
        click.echo(sign)
        for name, (old, new) in row.columns.items():
            click.echo(f"    {name}: {_value(old)} → {_value(new)}")
    more = len(difference.rows) - _MOST_ROWS
    if more > 0:
        click.echo(f"… and {count(more, 'row')} more; --json shows all")


def _value(value: Any) -> str:
    text = " ".join(str(value).split()) if value is not None else "not set"
    return text if len(text) <= 80 else f"{text[:77]}…"


def print_findings(findings: Any) -> None:
    for finding in findings:
        colour = "red" if finding.gravity == "error" else "yellow"
        mark = click.style(finding.gravity.value, fg=colour)
        click.echo(f"{mark}: {finding.sentence} " + click.style(f"[{finding.code}]", dim=True))
        click.echo(f"    {finding.hint}")
