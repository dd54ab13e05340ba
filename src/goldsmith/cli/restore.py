"""`datasets restore`: back to what a dataset was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import (
    Door,
    confirm,
    count,
    json_option,
    pass_door,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.engine.upkeep import Restoration


@click.command("restore")
@click.argument("dataset_id")
@click.option("--to", "to", required=True, help="A snapshot, a stage run, or a time (UTC).")
@click.option("--dry-run", is_flag=True, help="Only show what it would take back.")
@yes_option
@json_option
@pass_door
def restore(door: Door, dataset_id: str, to: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take a dataset back to an earlier state, and what was read for it with it.

    The next run loads again what was taken back. A lake table goes back to a snapshot; a
    warehouse table is made anew from what its stage had read by then. Datasets made of it are
    listed first: their next run reads all of it again.
    """
    from goldsmith.engine import upkeep
    from goldsmith.planning import holdings
    from goldsmith.planning.increments import Increments
    from goldsmith.scheduling.workshop import workshop

    runtime = door.runtime
    survey = runtime.surveyor.survey()
    dataset = holdings.find(survey.rows, dataset_id)
    increments = Increments(runtime.catalog, runtime.places)
    meant = upkeep.plan_restore(survey, dataset, to, runtime.journal, increments, runtime.places)
    if not as_json:
        _say(meant)
    done = False
    if meant.taken_back and not dry_run and confirm("Go back?", yes=yes):
        if meant.is_lake:
            with workshop(runtime) as tools:
                upkeep.restore_table(tools, meant, whoami())
        else:
            _rebuild(door, meant)
        done = True

    def text() -> None:
        if done:
            click.echo(f"{dataset_id} is what it was: {meant.after.snapshot}.")
        else:
            click.echo("Nothing was changed.")

    show(as_json, {**meant.as_plain(), "done": done}, text)


def _say(meant: Restoration) -> None:
    at = f" of {meant.after.at:%Y-%m-%d %H:%M:%S} UTC" if meant.after.at else ""
    click.echo(f"{meant.dataset.dataset_id} would go back to {meant.after.snapshot}{at}.")
    for state in meant.taken_back:
        rows = "" if state.rows is None else f", {count(state.rows, 'row')}"
        click.echo(f"  taken back: {state.stage_run_id or state.snapshot}{rows}")
    if not meant.taken_back:
        click.echo("  It is in that state already.")
    for name in meant.downstream:
        click.echo(f"  made of it, and read again by the next run: {name}")


def _rebuild(door: Door, meant: Restoration) -> None:
    """A warehouse table: its stage is run over what it had read by then."""
    from goldsmith.cli.run import perform
    from goldsmith.engine.states import CannotRestore

    selection = [f"stage:{meant.near.stage_id}"]
    _all, mine = perform(door, selection, {"as_of": meant.after.snapshot}, quiet=True)
    failed = next((run for run in mine.runs if run.status != "succeeded"), None)
    if failed is not None:
        reason = str(failed.error_message or failed.because)
        raise CannotRestore(dataset=meant.dataset.dataset_id, reason=reason)
