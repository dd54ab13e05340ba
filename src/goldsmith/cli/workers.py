"""`workers`: the services and workers, and whether they are alive."""

from __future__ import annotations

from datetime import datetime

import click

from goldsmith.cli.output import CliContext, count, echo, json_option, pass_cli, show, table
from goldsmith.cli.times import local


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also those that ended in the last day.")
@json_option
@pass_cli
def workers(cli: CliContext, everything: bool, as_json: bool) -> None:
    """Show the services and workers: where they run, their slots, what they run now."""
    from goldsmith.journal.workers import with_their_requests

    found = with_their_requests(cli.runtime.journal, everything=everything)

    def text() -> None:
        table(
            ("kind", "host", "pid", "status", "slots", "running", "since", "environment"),
            [
                (
                    row["kind"],
                    str(row["host"]).partition("/")[0],
                    str(row["pid"]),
                    row["status"] if row["alive"] or row["status"] == "ended" else "dead",
                    str(row["slots"]) if row["kind"] == "worker" else "",
                    str(len(row["running"])),
                    local(datetime.fromisoformat(row["started_at"])) if row["started_at"] else "",
                    row["environment"],
                )
                for row in found
            ],
        )
        alive = sum(row["alive"] and row["kind"] == "worker" for row in found)
        echo(f"{count(alive, 'worker')} alive.")

    show(as_json, found, text)
