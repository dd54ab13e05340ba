"""`datasets`: list, show, sample, maintain, move and restore datasets."""

from __future__ import annotations

from typing import Any

import click

from goldsmith.cli.freshness import freshness
from goldsmith.cli.maintain import maintain
from goldsmith.cli.move import move
from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    table,
)
from goldsmith.cli.profiles import profile_dataset
from goldsmith.cli.restore import restore

_NOTHING_NOW = "Nothing is there now, though stages published it: `goldsmith plan` says what to do."


@click.group()
def datasets() -> None:
    """Datasets: list, show, sample, profile, maintain, move, restore, freshness."""


datasets.add_command(maintain)
datasets.add_command(move)
datasets.add_command(restore)


@datasets.command("list")
@json_option
@pass_cli
def list_datasets(cli: CliContext, as_json: bool) -> None:
    """List every dataset with its location and the stages that write and read it."""
    from goldsmith.planning.dataset_info import overview

    catalog_index = cli.runtime.catalog_indexer.catalog_index()
    found = [overview(catalog_index, name) for name in sorted(catalog_index.rows.dataset_ids)]

    def text() -> None:
        columns = ["dataset_id", "kind", "location", "written_by", "read_by"]
        table(columns, [[_joined(row[name]) for name in columns] for row in found])
        echo(count(len(found), "dataset") + ".")

    show(as_json, found, text)


def _joined(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value or "")


@datasets.command("show")
@click.argument("dataset_id")
@json_option
@pass_cli
def show_dataset(cli: CliContext, dataset_id: str, as_json: bool) -> None:
    """Show a dataset's schema, size, snapshots and last runs."""
    from goldsmith.journal import runs
    from goldsmith.planning import dataset_info

    runtime = cli.runtime
    dataset = dataset_info.find(runtime.catalog.snapshot(), dataset_id)
    held = dataset_info.dataset_info(dataset, runtime.storage)
    last = [
        run.as_plain()
        for stage in dataset.writers
        if (run := runs.last_success(runtime.journal, stage.pipeline_id, stage.stage_order))
    ]

    def text() -> None:
        echo(f"{held.dataset_id} ({held.kind}) at {held.location}")
        if held.empty:
            echo(_NOTHING_NOW if last else "Nothing was ever written there.")
        for name, value in (("rows", held.rows), ("files", held.files), ("bytes", held.bytes)):
            if value is not None:
                echo(f"{name}: {value:,}")
        if held.columns:
            table(["column", "type"], list(held.columns.items()))
        if held.snapshots:
            names = ["snapshot", "at", "operation", "added_rows", "total_rows", "stage_run_id"]
            table(names, [[snapshot[name] for name in names] for snapshot in held.snapshots[:10]])
        for run in last:
            route = run["facts"].get("route")
            by = f" by the route {route}" if route else ""
            echo(f"last published by {run['stage_run_id']} at {run['ended_at']}{by}")

    show(as_json, {**held.as_plain(), "last_runs": last}, text)


@datasets.command("sample")
@click.argument("dataset_id")
@click.option("--most", type=how_many, default=10, show_default=True, help="How many rows to show.")
@json_option
@pass_cli
def sample_dataset(cli: CliContext, dataset_id: str, most: int, as_json: bool) -> None:
    """Show some rows: published rows of a table, or raw files as a stage reads them.

    Columns with personal data are masked. Raw files and warehouse tables are read by Spark, which
    takes a few seconds to start.
    """
    from goldsmith.engine.personal_data import masked, personal_of
    from goldsmith.planning import dataset_info
    from goldsmith.planning.explain import dataset_kind

    runtime = cli.runtime
    dataset = dataset_info.find(runtime.catalog.snapshot(), dataset_id)
    if dataset_kind(dataset) == "table":
        rows = dataset_info.sample(dataset, runtime.storage, most)
    else:
        rows = _read_by_spark(cli, dataset_id, most)
    hide = personal_of(dataset, runtime.catalog.snapshot())
    rows = [masked(row, hide) for row in rows]

    def text() -> None:
        if rows:
            table(list(rows[0]), [list(row.values()) for row in rows])
        echo(count(len(rows), "row") + ".")

    show(as_json, rows, text)


def _read_by_spark(cli: CliContext, dataset_id: str, most: int) -> list[dict[str, Any]]:
    from goldsmith.engine.audit.dataset_audit import sample_dataset
    from goldsmith.worker.resources import worker_resources

    with worker_resources(cli.runtime) as resources:
        return sample_dataset(resources, cli.runtime.catalog.snapshot(), dataset_id, most=most)


@datasets.command("health")
@json_option
@pass_cli
def show_health(cli: CliContext, as_json: bool) -> None:
    """Show the probed health of each dataset that has an alternative."""
    from goldsmith.journal import health

    found = [row.as_plain() for row in health.all_health(cli.runtime.journal)]

    def text() -> None:
        columns = ["dataset_id", "status", "since", "checked_at", "because"]
        table(columns, [[row[name] for name in columns] for row in found])
        echo(count(len(found), "probed dataset") + ".")

    show(as_json, found, text)


datasets.add_command(freshness)
datasets.add_command(profile_dataset)
