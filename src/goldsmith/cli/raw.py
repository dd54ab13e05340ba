"""`raw`: loads of raw records, and what they stored."""

from __future__ import annotations

import click

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
from goldsmith.cli.times import local


@click.group()
def raw() -> None:
    """The raw lakehouse: what sources sent, one table for each application."""


@raw.command("loads")
@click.option("--most", type=how_many, default=50, show_default=True, help="How many to list.")
@json_option
@pass_cli
def list_loads(cli: CliContext, most: int, as_json: bool) -> None:
    """List the loads, newest first, and what became of them."""
    from goldsmith.lakehouse.loads import listed

    found = listed(cli.runtime.journal, most=most)

    def text() -> None:
        table(
            ("load", "tenant", "application", "mode", "status", "files", "rows", "submitted", ""),
            [
                (
                    *(load.load_id, load.tenant_id, load.table_name, load.mode, load.status),
                    *(load.matched_files, load.rows_loaded, local(load.submitted_at)),
                    load.problem,
                )
                for load in found
            ],
        )

    show(as_json, [load.as_plain() for load in found], text)


@raw.command("cancel")
@click.argument("load_id")
@json_option
@pass_cli
def cancel(cli: CliContext, load_id: str, as_json: bool) -> None:
    """Cancel a load that no service has begun."""
    from goldsmith.lakehouse.loads import cancel as cancel_load

    load = cancel_load(cli.runtime.journal, load_id)
    show(as_json, load.as_plain(), lambda: echo(f"The load {load_id} is canceled."))


@raw.command("process")
@json_option
@pass_cli
def process(cli: CliContext, as_json: bool) -> None:
    """Make missing tables and carry out waiting loads; `goldsmith serve` does so by itself."""
    from goldsmith.lakehouse.carry_out import process_waiting
    from goldsmith.lakehouse.raw_tables import ensure_tables

    runtime = cli.runtime
    made = ensure_tables(runtime.catalog, runtime.storage)
    begun = process_waiting(runtime.catalog, runtime.journal, runtime.storage)

    def text() -> None:
        echo(f"Made {count(len(made), 'table')}; carried out {count(begun, 'load')}.")

    show(as_json, {"tables": made, "loads": begun}, text)
