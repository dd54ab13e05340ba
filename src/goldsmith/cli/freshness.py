"""`datasets freshness`: when each dataset was last updated, the stalest first."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import CliContext, json_option, pass_cli, show, table
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.worker.incidents import Freshness


@click.command()
@click.option("--stale", is_flag=True, help="Only datasets older than their limit.")
@json_option
@pass_cli
def freshness(cli: CliContext, stale: bool, as_json: bool) -> None:
    """Show when each dataset was last updated and how old it is, the stalest first."""
    from goldsmith.worker.incidents import freshness as look

    found = [dataset for dataset in look(cli.runtime) if dataset.is_stale or not stale]
    plain = [{**asdict(dataset), "is_stale": dataset.is_stale} for dataset in found]
    show(as_json, plain, lambda: _print(found))


def _print(found: list[Freshness]) -> None:
    heads = ["dataset", "last update", "hours stale", "limit (hours)", "severity", "pipeline"]
    table(heads, [_line(dataset) for dataset in found])


def _line(dataset: Freshness) -> list[str | None]:
    return [
        dataset.dataset_id,
        local(dataset.last_update) if dataset.last_update else "never",
        "" if dataset.hours_stale is None else f"{dataset.hours_stale:.1f}",
        "" if dataset.may_be_hours is None else f"{dataset.may_be_hours:g}",
        dataset.severity,
        dataset.pipeline_id,
    ]
