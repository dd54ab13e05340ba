"""`quarantine`: list, show, replay and discard quarantined rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


@click.group()
def quarantine() -> None:
    """Rows that failed a check or could not be parsed: list, show, replay, discard."""


@quarantine.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """List the datasets with quarantined rows, and how many rows."""
    from goldsmith.engine.quarantine import quarantine_store
    from goldsmith.worker.quarantine import histories

    runtime = cli.runtime
    names = sorted(runtime.catalog.snapshot().dataset_ids)
    found = quarantine_store.quarantined_rows(
        runtime.storage, runtime.journal, names, histories(runtime), are_declared=True
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
@click.option("--most", default=10, show_default=True, type=how_many, help="How many rows to show.")
@json_option
@pass_cli
def show_(
    cli: CliContext, dataset: str, run_id: str | None, unpublished: bool, most: int, as_json: bool
) -> None:
    """Show quarantined rows of a dataset, with the checks they failed."""
    from goldsmith.worker.quarantine import quarantined_rows

    found = quarantined_rows(
        cli.runtime, dataset, run_id=run_id, most=most, unpublished=unpublished
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
    from goldsmith.worker.quarantine import nothing_to_replay, only_writer

    if sql is not None and file is not None:
        raise click.UsageError("Correct the rows with --sql or with --file, not with both.")
    selection = {
        "sql": sql,
        "file": None if file is None else str(file.resolve()),
        "run_id": run_id,
    }
    chosen = stage or only_writer(cli.runtime, dataset)
    if reason := nothing_to_replay(cli.runtime, dataset, run_id):
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
    from goldsmith.worker.quarantine import discard_rows

    if not confirm(f"Discard quarantined rows of {dataset}?", yes=yes):
        raise click.Abort
    gone = discard_rows(
        cli.runtime,
        dataset,
        run_id=run_id,
        ids=ids,
        unpublished=unpublished,
        actor=whoami(),
        because=reason,
    )
    answer: dict[str, Any] = {"dataset": dataset, "discarded": gone}
    show(as_json, answer, lambda: echo(f"{count(gone, 'row')} discarded."))
