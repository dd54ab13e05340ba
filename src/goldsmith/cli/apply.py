"""`diff` and `apply`: the catalog as code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import click

from goldsmith.cli.changed import changed_lines
from goldsmith.cli.output import (
    CliContext,
    confirm,
    count,
    echo,
    json_option,
    pass_cli,
    print_json,
    show,
    style,
    whoami,
    yes_option,
)
from goldsmith.errors import GoldsmithError


@dataclass(eq=False, kw_only=True)
class NothingDeclared(GoldsmithError):
    """The given files declare no table of the catalog."""

    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"Nothing is declared in {', '.join(self.files)}: no table of the catalog is named."

    @property
    def hint(self) -> str:
        return "A catalog file is a mapping of tables: `pipelines:`, `stages:` and others."


files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE…")
prune_option = click.option(
    "--prune",
    is_flag=True,
    help="Also remove rows missing in the files, of the tables they contain. Data stays.",
)
_COLOURS = {"added": "green", "changed": "yellow", "removed": "red"}
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}
#: A diff longer than this is cut; --json has all of it.
_MOST_ROWS = 200


def read_bundle(files: tuple[str, ...]) -> Any:
    from goldsmith.catalog import bundle
    from goldsmith.catalog.yaml_documents import files_of

    found = bundle.load(files_of(files, sys.stdin))
    if not found.rows:
        raise NothingDeclared(files=files)
    return found


@click.command()
@files_argument
@prune_option
@json_option
@pass_cli
def diff(cli: CliContext, files: tuple[str, ...], prune: bool, as_json: bool) -> None:
    """Show what applying files would change. FILE is a file, a folder, or - for standard input.

    Exits 1 if the catalog would have errors, which `apply` refuses.
    """
    from goldsmith.planning import apply_files

    proposal = apply_files.propose(cli.runtime.catalog_indexer, read_bundle(files), prune=prune)
    show(as_json, proposal.as_plain(), lambda: print_proposal(proposal))
    if proposal.errors:
        raise click.exceptions.Exit(1)


@click.command()
@files_argument
@prune_option
@click.option("--reason", help="Why, for the history.")
@click.option("--actor", help="Who, for the history. Default: the current user.")
@yes_option
@json_option
@pass_cli
def apply(
    cli: CliContext,
    files: tuple[str, ...],
    prune: bool,
    reason: str | None,
    actor: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Change the catalog to match the files: show the difference, ask, change all or nothing.

    FILE is a file, a folder, or - for standard input; YAML or JSON. Nothing is removed without
    --prune, and no change of the catalog ever deletes data.
    """
    from goldsmith.planning import apply_files
    from goldsmith.planning.planner import CatalogHasErrors
    from goldsmith.worker.computed_paths import keep_computed

    catalog_indexer = cli.runtime.catalog_indexer
    read = read_bundle(files)
    proposal = apply_files.propose(catalog_indexer, read, prune=prune)
    if not as_json:
        print_proposal(proposal, with_errors=False)
    if proposal.errors:
        raise CatalogHasErrors(findings=proposal.errors)
    if not proposal.difference:
        if as_json:
            print_json({**proposal.as_plain(), "applied": False})
        return
    if not confirm("Apply this?", yes=yes):
        echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    revision, done = apply_files.apply(
        catalog_indexer,
        read,
        proposal,
        actor=actor or whoami(),
        reason=reason,
        prune=prune,
        as_shown=not yes,
    )
    keep_computed(cli.runtime)
    if as_json:
        counts = done.counts
        print_json({**proposal.as_plain(), "counts": counts, "revision": revision, "applied": True})
    else:
        echo(f"Applied as revision {revision}. `goldsmith catalog undo {revision}` takes it back.")


def print_proposal(proposal: Any, *, with_errors: bool = True) -> None:
    """Print a difference, the pipelines it touches and its findings."""
    counts = proposal.difference.counts
    print_difference(proposal.difference)
    print_findings(f for f in proposal.brings if with_errors or f not in proposal.errors)
    if not proposal.difference:
        echo("Nothing would change: the catalog says what the files say.")
        return
    summary = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
    echo(f"{summary}." + _touching(proposal))


def _touching(proposal: Any) -> str:
    names = ", ".join(proposal.touches[:10]) + (" …" if len(proposal.touches) > 10 else "")
    touching = f" Touches {count(len(proposal.touches), 'pipeline')}: {names}." if names else ""
    running = ", ".join(proposal.running)
    return touching + (f" Running right now: {running}." if running else "")


def print_difference(difference: Any) -> None:
    for row in difference.rows[:_MOST_ROWS]:
        sign = style(f"{_SIGNS[row.what]} {row.table} {row.key}", fg=_COLOURS[row.what])
        echo(sign)
        for name, (old, new) in row.columns.items():
            for line in changed_lines(name, old, new):
                echo(f"    {line}")
    more = len(difference.rows) - _MOST_ROWS
    if more > 0:
        echo(f"… and {count(more, 'row')} more; --json shows all")


def print_findings(findings: Any) -> None:
    # A problem between several rows is found at each of them, and printed once.
    for finding in {(f.code, f.sentence): f for f in findings}.values():
        colour = "red" if finding.gravity == "error" else "yellow"
        mark = style(finding.gravity.value, fg=colour)
        echo(f"{mark}: {finding.sentence} " + style(f"[{finding.code}]", dim=True))
        echo(f"    {finding.hint}")
