"""`raw`: loads of raw records, and what they stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

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
from goldsmith.cli.times import local, span


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


@raw.command("runs")
@click.argument("application")
@json_option
@pass_cli
def list_runs(cli: CliContext, application: str, as_json: bool) -> None:
    """List the extraction runs in the table of an application, with their records by typename."""
    from goldsmith.lakehouse.runs import moment_of, runs_of

    found = runs_of(cli.runtime.storage, application)

    def text() -> None:
        table(
            ("run", "workflow", "tenant", "connection", "extracted", "records", "by typename"),
            [
                (
                    *(run.run_id, run.workflow_id, run.tenant_id, run.connection),
                    *(local(moment_of(run.last_millis)), f"{sum(run.counts.values()):,}"),
                    _counts(run.counts),
                )
                for run in found
            ],
        )

    show(as_json, [run.as_plain() for run in found], text)


@raw.command("coverage")
@json_option
@pass_cli
def show_coverage(cli: CliContext, as_json: bool) -> None:
    """Show what the tables of all applications hold: runs, records, oldest, newest, gaps."""
    from goldsmith.lakehouse.runs import coverage

    found = coverage(cli.runtime.catalog, cli.runtime.storage)

    def text() -> None:
        table(
            ("application", "status", "runs", "records", "oldest", "newest", "longest gap", ""),
            [
                (
                    *(row["application"], row["status"], row["runs"], f"{row['records']:,}"),
                    *(_time(row.get("oldest")), _time(row.get("newest"))),
                    ""
                    if row.get("longest_gap_seconds") is None
                    else span(row["longest_gap_seconds"]),
                    _counts(row["typenames"]) if row["table"] else "no table yet",
                )
                for row in found
            ],
        )

    show(as_json, found, text)


@raw.command("diff")
@click.argument("application")
@click.argument("old_run")
@click.argument("new_run")
@click.option(
    "--key",
    "keys",
    multiple=True,
    help="A member of the raw records that tells those with the same entity name apart.",
)
@json_option
@pass_cli
def show_difference(
    cli: CliContext,
    application: str,
    old_run: str,
    new_run: str,
    keys: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare two extraction runs: records added, removed, and changed, by path inside them.

    Runs are workflow_run_ids. A record is the same in both runs by its tenant, connection,
    typename, entity_name and --key.
    """
    from goldsmith.lakehouse.run_difference import difference

    found = difference(cli.runtime.storage, application, old_run, new_run, keys=keys)
    by_kind = {
        kind: [change for change in found if change.kind == kind]
        for kind in ("added", "removed", "changed")
    }

    def text() -> None:
        for kind, sign in (("removed", "-"), ("added", "+"), ("changed", "~")):
            for change in by_kind[kind]:
                echo(f"{sign} {' '.join(str(part) for part in change.identity[2:])}")
                for each in change.paths:
                    before, after = (
                        json.dumps(v, ensure_ascii=False) for v in (each.before, each.after)
                    )
                    echo(f"    {each.path}: {before} → {after}")
        echo(", ".join(f"{len(changes):,} {kind}" for kind, changes in by_kind.items()))

    plain = {kind: [change.as_plain() for change in changes] for kind, changes in by_kind.items()}
    show(as_json, plain, text)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {records:,}" for name, records in sorted(counts.items()))


def _time(text: str | None) -> str:
    return "" if text is None else local(datetime.fromisoformat(text))
