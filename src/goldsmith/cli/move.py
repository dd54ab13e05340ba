"""`datasets move`: move a table to its target's new id, layer or location."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import (
    CliContext,
    confirm,
    echo,
    json_option,
    pass_cli,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.engine.maintenance.move_dataset import Move


@click.command("move")
@click.argument("old")
@click.argument("new")
@click.option("--dry-run", is_flag=True, help="Only show what would be renamed.")
@yes_option
@json_option
@pass_cli
def move(cli: CliContext, old: str, new: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Rename a target's table after its id, layer or location changed in the catalog.

    OLD is the id its rows were loaded under, NEW its id now; they are the same if only the layer
    or the location changed. The table and its quarantine are renamed, and the ledger is kept: no
    input is read again. Change the rows of the catalog first. To finish a move that was killed,
    run the command again.
    """
    from goldsmith.engine.maintenance import move_dataset
    from goldsmith.planning.ledgers import Ledgers
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    catalog_index = runtime.catalog_indexer.catalog_index()
    done = False
    with worker_resources(runtime) as resources:
        planned = move_dataset.plan_move(
            catalog_index, Ledgers(runtime.catalog), resources, old, new
        )
        if not as_json:
            _say(planned, "is" if yes and not dry_run else "would be")
        if not dry_run and confirm("Move it?", yes=yes):
            move_dataset.move(resources, planned, whoami())
            done = True

    def text() -> None:
        echo(f"{new} has the rows of {old}." if done else "Nothing was changed.")

    show(as_json, {**planned.as_plain(), "done": done}, text)


def _say(planned: Move, is_: str) -> None:
    before, to = planned.table
    echo(f"{before} {is_} renamed to {to}." if before != to else f"{to} keeps its name.")
    if planned.is_renamed and before != to:
        echo("  It is renamed already: an earlier move was killed, and is finished.")
    if planned.quarantine is not None:
        echo(f"  its quarantine: {planned.quarantine[0]} to {planned.quarantine[1]}")
    for ledger in planned.ledgers:
        echo(f"  what stage {ledger.pipeline_id}-{ledger.stage_order} has read stays read")
