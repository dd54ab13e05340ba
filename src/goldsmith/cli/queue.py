"""`queue`: what waits, in the order it will start, with scores, reasons and expected starts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from goldsmith.cli.output import CliContext, count, echo, how_many, json_option, pass_cli, show
from goldsmith.cli.output import table as print_table
from goldsmith.cli.times import local


@click.command()
@click.option("--most", type=how_many, default=50, show_default=True, help="How many to show.")
@json_option
@pass_cli
def queue(cli: CliContext, most: int, as_json: bool) -> None:
    """Show the waiting requests: position, score, reason and expected start."""
    from goldsmith.worker.queue_view import queue_entries

    found = queue_entries(cli.runtime)
    plain: list[dict[str, Any]] = [entry.as_plain() for entry in found]

    def text() -> None:
        print_table(
            ("", "request", "pipeline", "profile", "score", "expected start", "gate", "because"),
            [
                (
                    str(entry.position),
                    entry.request_id,
                    entry.pipeline,
                    entry.profile,
                    f"{entry.score:.4g}",
                    "" if entry.expected_start is None else local(_time(entry.expected_start)),
                    entry.gate,
                    entry.because,
                )
                for entry in found[:most]
            ],
        )
        echo(f"{count(len(found), 'request')} waiting.")

    show(as_json, plain, text)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
