"""`datasets profile`: what the columns of a dataset hold, measured in one pass."""

from __future__ import annotations

import click

from goldsmith.checks.profile import ColumnProfile
from goldsmith.cli.output import Door, count, json_option, pass_door, show, table


def profile_of(door: Door, dataset: str) -> list[ColumnProfile]:
    """The profile of a dataset's rows as they are published."""
    from goldsmith.engine.resting import profile_dataset
    from goldsmith.planning import holdings
    from goldsmith.scheduling.workshop import workshop

    runtime = door.runtime
    rows = runtime.catalog.snapshot()
    holdings.find(rows, dataset)
    with workshop(runtime) as tools:
        return profile_dataset(tools, rows, dataset)


@click.command("profile")
@click.argument("dataset_id")
@json_option
@pass_door
def profile_dataset(door: Door, dataset_id: str, as_json: bool) -> None:
    """Measure a dataset's columns in one pass: NULLs, values, bounds, shapes, types."""
    found = profile_of(door, dataset_id)

    def text() -> None:
        table(
            ("column", "type", "nulls", "distinct", "min", "max", "most frequent", "shape"),
            [
                (
                    one.name,
                    one.type if one.inferred is None else f"{one.type} ({one.inferred})",
                    f"{one.nulls:,}",
                    one.distinct,
                    _short(one.min),
                    _short(one.max),
                    ", ".join(f"{_short(value)} {number:,}" for value, number in one.top[:3]),
                    one.patterns[0][0] if one.patterns else None,
                )
                for one in found
            ],
        )
        click.echo(count(found[0].rows if found else 0, "row") + ".")

    show(as_json, [one.as_plain() for one in found], text)


def _short(value: object) -> str:
    said = "" if value is None else str(value)
    return said if len(said) <= 30 else f"{said[:29]}…"
