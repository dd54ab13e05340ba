"""`quarantine`: list, show, replay and discard quarantined rows."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    table,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.engine.attempt import WorkerResources
    from goldsmith.engine.quarantine.quarantine_store import Histories
    from goldsmith.runtime import Runtime


@click.group()
def quarantine() -> None:
    """Rows that failed a check or could not be parsed: list, show, replay, discard."""


@quarantine.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """List the datasets with quarantined rows, and how many rows."""
    from goldsmith.engine.quarantine import quarantine_store

    runtime = cli.runtime
    names = sorted(runtime.catalog.snapshot().dataset_ids)
    found = quarantine_store.quarantined_rows(
        runtime.storage, runtime.journal, names, _histories(runtime)
    )

    def text() -> None:
        if not found:
            echo("No row is quarantined.")
            return
        table(
            ("dataset", "rows", "unpublished", "checks", "runs"),
            [
                (
                    quarantined.dataset,
                    f"{quarantined.rows:,}",
                    f"{quarantined.unpublished:,}",
                    ", ".join(f"{name} {number:,}" for name, number in quarantined.checks.items()),
                    f"{len(quarantined.runs):,}",
                )
                for quarantined in found
            ],
        )

    show(as_json, [quarantined.as_plain() for quarantined in found], text)


@quarantine.command("show")
@click.argument("dataset")
@click.option("--run", "run_id", help="Only rows that this run quarantined.")
@click.option("--unpublished", is_flag=True, help="Rows of runs that were not published.")
@click.option("--most", default=10, show_default=True, type=how_many, help="How many.")
@json_option
@pass_cli
def show_(
    cli: CliContext, dataset: str, run_id: str | None, unpublished: bool, most: int, as_json: bool
) -> None:
    """Show quarantined rows of a dataset, with the checks they failed."""
    from goldsmith.engine.personal_data import personal
    from goldsmith.engine.quarantine import quarantine_store

    runtime = cli.runtime
    found = quarantine_store.rows_of(
        runtime.storage,
        runtime.journal,
        dataset,
        run_id=run_id,
        most=most,
        unpublished=unpublished,
        hide=personal(_target(runtime, dataset)),
        histories=_histories(runtime),
    )

    def text() -> None:
        for row in found:
            echo(f"{style(row['id'], bold=True)}  {', '.join(row['reasons'] or ())}")
            echo(f"  run {row['run_id']}, {row['source_file'] or 'no file'}")
            echo(f"  {row['row'] if row['row'] is not None else row['text']}")
        echo(count(len(found), "row") + ".")

    show(as_json, found, text)


@quarantine.command("replay")
@click.argument("dataset")
@click.option("--sql", help="A SELECT over `quarantined` that corrects the rows and keeps _id.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Corrected rows (JSON lines, CSV or Parquet) with their _id.",
)
@click.option("--run", "run_id", help="Only rows that this run quarantined.")
@click.option("--stage", help="The stage, if several write the dataset.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the result.")
@json_option
@pass_cli
def replay(
    cli: CliContext,
    dataset: str,
    sql: str | None,
    file: Path | None,
    run_id: str | None,
    stage: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run quarantined rows through their stage again, corrected by SQL or by a file; each once.

    Without --sql and --file the rows are replayed unchanged, for when the rule was wrong.
    """
    from goldsmith.cli.run import carry_out

    if sql is not None and file is not None:
        raise click.UsageError("Correct the rows with --sql or with --file, not with both.")
    selection = {
        "sql": sql,
        "file": None if file is None else str(file.resolve()),
        "run_id": run_id,
    }
    chosen = stage or _stage(cli.runtime, dataset)
    if reason := _nothing(cli.runtime, dataset, run_id):
        show(as_json, [], lambda: echo(reason))
        return
    carry_out(cli, [f"stage:{chosen}"], {"replay": selection}, quiet=quiet, as_json=as_json)


@quarantine.command("discard")
@click.argument("dataset")
@click.option("--id", "ids", multiple=True, help="Only this row; may be repeated.")
@click.option("--run", "run_id", help="Only rows that this run quarantined.")
@click.option("--unpublished", is_flag=True, help="Rows of runs that were not published.")
@click.option("--reason", help="Why, for the audit log.")
@yes_option
@json_option
@pass_cli
def discard(
    cli: CliContext,
    dataset: str,
    ids: tuple[str, ...],
    run_id: str | None,
    unpublished: bool,
    reason: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove quarantined rows for good; the audit log records who, why, and how many.

    Older snapshots of the quarantine contain the rows until they expire.
    """
    from goldsmith.cli.output import confirm
    from goldsmith.engine.quarantine import quarantine_store
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    if not confirm(f"Discard quarantined rows of {dataset}?", yes=yes):
        raise click.Abort
    with worker_resources(runtime) as resources, _settled(runtime, resources, dataset):
        gone = quarantine_store.discard(
            runtime.storage,
            runtime.journal,
            dataset,
            run_id=run_id,
            ids=ids,
            unpublished=unpublished,
            actor=whoami(),
            because=reason,
        )
    answer: dict[str, Any] = {"dataset": dataset, "discarded": gone}
    show(as_json, answer, lambda: echo(f"{count(gone, 'row')} discarded."))


def _histories(runtime: Runtime) -> Histories:
    """Gives the snapshots of lake tables, to judge rows of stage runs whose process died."""
    from goldsmith.planning.lake import history
    from goldsmith.planning.resolved_stage import is_lake
    from goldsmith.planning.stage_context import dataset_of

    rows = runtime.catalog.snapshot()

    def of(dataset: str) -> Any:
        found = dataset_of(dataset, rows)
        return partial(history, found, runtime.storage) if is_lake(found.target) else None

    return of


def _settled(
    runtime: Runtime, resources: WorkerResources, dataset: str
) -> AbstractContextManager[None]:
    """Hold the dataset's lease, so that no replay runs, and settle dead stage runs."""
    from goldsmith.engine.maintenance import maintenance

    catalog_index = runtime.catalog_indexer.catalog_index()
    mine = [
        context for context in catalog_index.stages.values() if context.stage.target_id == dataset
    ]
    return maintenance.settled(resources, mine[0]) if mine else nullcontext()


def _nothing(runtime: Runtime, dataset: str, run_id: str | None) -> str | None:
    """Why there is nothing to replay, if that is certain; then no run is requested."""
    from goldsmith.engine.quarantine import quarantine_store
    from goldsmith.engine.read.replay import NothingToReplay
    from goldsmith.journal import stage_runs

    if any(row.target_id == dataset for row in stage_runs.running(runtime.journal)):
        return None
    quarantined = quarantine_store.quarantined_rows(
        runtime.storage, runtime.journal, [dataset], _histories(runtime)
    )
    runs = {run for row in quarantined if row.rows for run in row.runs}
    if runs and (run_id is None or run_id in runs):
        return None
    return str(NothingToReplay(dataset=dataset, others=sum(row.rows for row in quarantined)))


def _target(runtime: Runtime, dataset: str) -> Any:
    from goldsmith.planning.stage_context import dataset_of

    return dataset_of(dataset, runtime.catalog.snapshot()).target


def _stage(runtime: Runtime, dataset: str) -> str:
    """The only stage that writes the dataset; a usage error if there are several or none."""
    from goldsmith.planning import dataset_info
    from goldsmith.planning.resolved_stage import stage_id

    found = dataset_info.find(runtime.catalog.snapshot(), dataset)
    writers = [stage_id(stage) for stage in found.writers]
    if len(writers) != 1:
        listed = ", ".join(writers) or "none"
        raise click.UsageError(f"Say which stage with --stage: {listed} write {dataset}.")
    return writers[0]
