"""`quarantine`: rows that were kept aside; look at them, mend and replay them, or let them go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import Door, count, json_option, pass_door, show, table, yes_option

if TYPE_CHECKING:
    from goldsmith.runtime import Runtime


@click.group()
def quarantine() -> None:
    """Rows that broke a check or could not be parsed: list, show, replay, discard."""


@quarantine.command("list")
@json_option
@pass_door
def list_(door: Door, as_json: bool) -> None:
    """List the datasets that rows are kept aside for, and how many."""
    from goldsmith.engine import aside

    runtime = door.runtime
    names = sorted(runtime.catalog.snapshot().dataset_ids)
    found = aside.holdings(runtime.places, runtime.journal, names)

    def text() -> None:
        if not found:
            click.echo("No row is kept aside.")
            return
        table(
            ("dataset", "rows", "unpublished", "checks", "runs"),
            [
                (
                    one.dataset,
                    f"{one.rows:,}",
                    f"{one.unpublished:,}",
                    ", ".join(f"{name} {number:,}" for name, number in one.checks.items()),
                    f"{len(one.runs):,}",
                )
                for one in found
            ],
        )

    show(as_json, [one.as_plain() for one in found], text)


@quarantine.command("show")
@click.argument("dataset")
@click.option("--run", "run_id", help="Only rows that this run kept aside.")
@click.option("--unpublished", is_flag=True, help="Rows of runs that were not published.")
@click.option("--most", default=10, show_default=True, type=click.IntRange(min=1), help="How many.")
@json_option
@pass_door
def show_(
    door: Door, dataset: str, run_id: str | None, unpublished: bool, most: int, as_json: bool
) -> None:
    """Show rows kept aside for a dataset, with what they broke and why."""
    from goldsmith.engine import aside
    from goldsmith.engine.samples import personal

    runtime = door.runtime
    found = aside.rows_of(
        runtime.places,
        runtime.journal,
        dataset,
        run_id=run_id,
        most=most,
        unpublished=unpublished,
        hide=personal(_target(runtime, dataset)),
    )

    def text() -> None:
        for row in found:
            click.echo(f"{click.style(row['id'], bold=True)}  {', '.join(row['reasons'] or ())}")
            click.echo(f"  run {row['run_id']}, {row['source_file'] or 'no file'}")
            click.echo(f"  {row['row'] if row['row'] is not None else row['text']}")
        click.echo(count(len(found), "row") + ".")

    show(as_json, found, text)


@quarantine.command("replay")
@click.argument("dataset")
@click.option("--sql", help="A SELECT over `quarantined` that mends the rows and keeps _id.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Mended rows (JSON lines, CSV or Parquet) with their _id.",
)
@click.option("--run", "run_id", help="Only rows that this run kept aside.")
@click.option("--stage", help="The stage, where several write the dataset.")
@click.option("--quiet", "-q", is_flag=True, help="Say only how it ended.")
@json_option
@pass_door
def replay(
    door: Door,
    dataset: str,
    sql: str | None,
    file: Path | None,
    run_id: str | None,
    stage: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Send rows through their stage again, mended by SQL or as a file has them; each once.

    Without --sql and --file they go as they are, which helps where the rule was wrong.
    """
    from goldsmith.cli.run import carry_out

    if sql is not None and file is not None:
        raise click.UsageError("Mend the rows with --sql or with --file, not with both.")
    said = {
        "sql": sql,
        "file": None if file is None else str(file.resolve()),
        "run_id": run_id,
    }
    chosen = stage or _stage(door.runtime, dataset)
    carry_out(door, [f"stage:{chosen}"], {"replay": said}, quiet=quiet, as_json=as_json)


@quarantine.command("discard")
@click.argument("dataset")
@click.option("--id", "ids", multiple=True, help="Only this row; may be said again.")
@click.option("--run", "run_id", help="Only rows that this run kept aside.")
@click.option("--unpublished", is_flag=True, help="Rows of runs that were not published.")
@yes_option
@json_option
@pass_door
def discard(
    door: Door,
    dataset: str,
    ids: tuple[str, ...],
    run_id: str | None,
    unpublished: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Let rows go for good; the table's older snapshots have them until they expire."""
    from goldsmith.cli.output import confirm
    from goldsmith.engine import aside

    runtime = door.runtime
    if not confirm(f"Discard rows kept aside for {dataset}?", yes=yes):
        raise click.Abort
    gone = aside.discard(
        runtime.places,
        runtime.journal,
        dataset,
        run_id=run_id,
        ids=ids,
        unpublished=unpublished,
    )
    answer: dict[str, Any] = {"dataset": dataset, "discarded": gone}
    show(as_json, answer, lambda: click.echo(f"{count(gone, 'row')} discarded."))


def _target(runtime: Runtime, dataset: str) -> Any:
    from goldsmith.planning.neighbourhood import dataset_of

    return dataset_of(dataset, runtime.catalog.snapshot()).target


def _stage(runtime: Runtime, dataset: str) -> str:
    """The one stage that writes the dataset."""
    from goldsmith.planning import holdings
    from goldsmith.planning.words import stage_id

    found = holdings.find(runtime.catalog.snapshot(), dataset)
    writers = [stage_id(stage) for stage in found.writers]
    if len(writers) != 1:
        listed = ", ".join(writers) or "none"
        raise click.UsageError(f"Say which stage with --stage: {listed} write {dataset}.")
    return writers[0]
