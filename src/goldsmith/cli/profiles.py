"""`datasets profile`: statistics of a dataset's columns, measured in one pass."""

from __future__ import annotations

import click

from goldsmith.checks.profile import ColumnProfile
from goldsmith.cli.output import CliContext, count, echo, json_option, pass_cli, show, table


def profile_of(cli: CliContext, dataset: str) -> list[ColumnProfile]:
    """The profile of a dataset's published rows."""
    from goldsmith.engine.audit.dataset_audit import profile_dataset
    from goldsmith.planning import dataset_info
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    rows = runtime.catalog.snapshot()
    dataset_info.find(rows, dataset)
    with worker_resources(runtime) as resources:
        return profile_dataset(resources, rows, dataset)


@click.command("profile")
@click.argument("dataset_id")
@json_option
@pass_cli
def profile_dataset(cli: CliContext, dataset_id: str, as_json: bool) -> None:
    """Profile a dataset's columns in one pass: NULLs, values, bounds, patterns, types."""
    found = profile_of(cli, dataset_id)

    def text() -> None:
        table(
            ("column", "type", "nulls", "distinct", "min", "max", "most frequent", "shape"),
            [
                (
                    column.name,
                    column.type
                    if column.inferred is None
                    else f"{column.type} ({column.inferred})",
                    f"{column.nulls:,}",
                    column.distinct,
                    _short(column.min),
                    _short(column.max),
                    ", ".join(f"{_short(value)} {number:,}" for value, number in column.top[:3]),
                    column.patterns[0][0] if column.patterns else None,
                )
                for column in found
            ],
        )
        echo(count(found[0].rows if found else 0, "row") + ".")

    show(as_json, [column.as_plain() for column in found], text)


def _short(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"
