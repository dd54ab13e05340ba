"""`datasets restore`: restore a dataset to an earlier state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import (
    CliContext,
    confirm,
    count,
    echo,
    json_option,
    pass_cli,
    show,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.engine.maintenance.maintenance import Restoration


@click.command("restore")
@click.argument("dataset_id")
@click.option("--to", "to", required=True, help="A snapshot, a stage run, or a time (UTC).")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@yes_option
@json_option
@pass_cli
def restore(
    cli: CliContext, dataset_id: str, to: str, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Restore a dataset to an earlier state, and with it the ledger of what was loaded.

    The next run loads again what was removed. A lake table is rolled back to a snapshot; a
    warehouse table is rebuilt from what its stage had read by then. Datasets that are built from
    it are listed first: their next run reads all of it again.
    """
    from goldsmith.engine.maintenance import maintenance
    from goldsmith.planning import dataset_info
    from goldsmith.planning.increments import Increments
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    catalog_index = runtime.catalog_indexer.catalog_index()
    dataset = dataset_info.find(catalog_index.rows, dataset_id)
    increments = Increments(runtime.catalog, runtime.storage)
    meant = maintenance.plan_restore(
        catalog_index, dataset, to, runtime.journal, increments, runtime.storage
    )
    if not as_json:
        _say(meant, "goes" if yes and not dry_run else "would go")
    done = False
    if meant.taken_back and not dry_run and confirm("Go back?", yes=yes):
        if meant.is_lake:
            with worker_resources(runtime) as resources:
                maintenance.restore_table(resources, meant, whoami())
        else:
            _rebuild(cli, meant)
        done = True

    def text() -> None:
        if done:
            echo(f"{dataset_id} is what it was: {meant.after.snapshot}.")
        else:
            echo("Nothing was changed.")

    show(as_json, {**meant.as_plain(), "done": done}, text)


def _say(meant: Restoration, goes: str) -> None:
    at = f" of {meant.after.at:%Y-%m-%d %H:%M:%S} UTC" if meant.after.at else ""
    echo(f"{meant.dataset.dataset_id} {goes} back to {meant.after.snapshot}{at}.")
    for state in meant.taken_back:
        rows = "" if state.rows is None else f", {count(state.rows, 'row')}"
        echo(f"  taken back: {state.stage_run_id or state.snapshot}{rows}")
    if not meant.taken_back:
        echo("  It is in that state already.")
    for name in meant.downstream:
        echo(f"  made of it, and read again by the next run: {name}")


def _rebuild(cli: CliContext, meant: Restoration) -> None:
    """Rebuild a warehouse table: run its stage on what it had read by then."""
    from goldsmith.cli.run import perform
    from goldsmith.planning.past_state import CannotRestore

    selection = [f"stage:{meant.context.stage_id}"]
    _all, mine = perform(cli, selection, {"as_of": meant.after.snapshot}, quiet=True)
    failed = next((run for run in mine.runs if run.status != "succeeded"), None)
    if failed is not None:
        reason = str(failed.error_message or failed.because)
        raise CannotRestore(dataset=meant.dataset.dataset_id, reason=reason)
