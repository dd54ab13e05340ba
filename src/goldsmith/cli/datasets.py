"""`datasets`: what each holds, without starting Spark; keeping them well, and taking them back."""

from __future__ import annotations

from typing import Any

import click

from goldsmith.cli.freshness import freshness
from goldsmith.cli.maintain import maintain
from goldsmith.cli.output import Door, count, json_option, pass_door, show, table
from goldsmith.cli.profiles import profile_dataset
from goldsmith.cli.restore import restore


@click.group()
def datasets() -> None:
    """Datasets: list them, show one, look at some rows, keep them well, take them back."""


datasets.add_command(maintain)
datasets.add_command(restore)


@datasets.command("list")
@json_option
@pass_door
def list_datasets(door: Door, as_json: bool) -> None:
    """List every dataset with where it lies and who writes and reads it."""
    from goldsmith.planning.explain import dataset_kind
    from goldsmith.planning.neighbourhood import dataset_of
    from goldsmith.planning.words import stage_id

    survey = door.runtime.surveyor.survey()
    found = []
    for name in sorted(survey.rows.dataset_ids):
        dataset = dataset_of(name, survey.rows)
        writers = [stage_id(stage) for stage in dataset.writers]
        around = survey.dependents.get(("dataset", name), ())
        found.append(
            {
                "dataset_id": name,
                "kind": dataset_kind(dataset),
                "location": dataset.location,
                "written_by": writers,
                "read_by": [stage for stage in around if stage not in writers],
            }
        )

    def text() -> None:
        columns = ["dataset_id", "kind", "location", "written_by", "read_by"]
        table(columns, [[_joined(row[name]) for name in columns] for row in found])
        click.echo(count(len(found), "dataset") + ".")

    show(as_json, found, text)


def _joined(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value or "")


@datasets.command("show")
@click.argument("dataset_id")
@json_option
@pass_door
def show_dataset(door: Door, dataset_id: str, as_json: bool) -> None:
    """Show a dataset's schema, size, snapshots and last runs."""
    from goldsmith.journal import runs
    from goldsmith.planning import holdings

    runtime = door.runtime
    dataset = holdings.find(runtime.catalog.snapshot(), dataset_id)
    held = holdings.holding(dataset, runtime.places)
    last = [
        run.as_plain()
        for stage in dataset.writers
        if (run := runs.last_success(runtime.journal, stage.pipeline_id, stage.stage_order))
    ]

    def text() -> None:
        click.echo(f"{held.dataset_id} ({held.kind}) at {held.location}")
        if held.empty:
            click.echo("Nothing was ever written there.")
        for name, value in (("rows", held.rows), ("files", held.files), ("bytes", held.bytes)):
            if value is not None:
                click.echo(f"{name}: {value:,}")
        if held.columns:
            table(["column", "type"], list(held.columns.items()))
        if held.snapshots:
            names = ["snapshot", "at", "operation", "added_rows", "total_rows", "stage_run_id"]
            table(names, [[one[name] for name in names] for one in held.snapshots[:10]])
        for run in last:
            click.echo(f"last published by {run['stage_run_id']} at {run['ended_at']}")

    show(as_json, {**held.as_plain(), "last_runs": last}, text)


@datasets.command("sample")
@click.argument("dataset_id")
@click.option("--most", type=int, default=10, show_default=True, help="How many rows.")
@json_option
@pass_door
def sample_dataset(door: Door, dataset_id: str, most: int, as_json: bool) -> None:
    """Look at some rows of a lake table, as they are published."""
    from goldsmith.planning import holdings

    runtime = door.runtime
    dataset = holdings.find(runtime.catalog.snapshot(), dataset_id)
    rows = holdings.sample(dataset, runtime.places, most)

    def text() -> None:
        if rows:
            table(list(rows[0]), [list(row.values()) for row in rows])
        click.echo(count(len(rows), "row") + ".")

    show(as_json, rows, text)


datasets.add_command(freshness)
datasets.add_command(profile_dataset)
