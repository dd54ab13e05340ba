"""`throttles list`, `throttles show`: the limits, and how fast their datasets are used now."""

from __future__ import annotations

from datetime import datetime

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, show, table
from goldsmith.cli.times import local


@click.group()
def throttles() -> None:
    """Throttles: limits on the use of sources and targets, and their use now."""


@throttles.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """Show every throttle: its threshold, its current rate, and its use in the last minute."""
    from goldsmith.engine.pace.states import current_states

    found = [state.as_plain() for state in current_states(cli.runtime.journal)]

    def text() -> None:
        table(
            ("throttle", "limits", "threshold", "in effect", "last minute", "waiting", "refused"),
            [
                (
                    row["throttle_id"],
                    f"{row['entity_type'] or ''} {row['entity_id'] or ''}".strip(),
                    row["problem"] or f"{_number(row['threshold'])} {row['unit']}",
                    "" if row["problem"] else _number(row["in_effect"]),
                    "" if row["problem"] else _number(row["rate"]),
                    str(len(row["waiting"])) if row["waiting"] else "",
                    _time(row["refused_at"]),
                )
                for row in found
            ],
        )

    show(as_json, found, text)


@throttles.command("show")
@click.argument("throttle_id")
@json_option
@pass_cli
def show_throttle(cli: CliContext, throttle_id: str, as_json: bool) -> None:
    """Show one throttle: its tokens, the stages that hold some, and the stages that wait."""
    from goldsmith.engine.pace.states import current_state

    row = current_state(cli.runtime.journal, throttle_id).as_plain()

    def text() -> None:
        limits = f"{row['entity_type']} {row['entity_id']}"
        if row["problem"]:
            echo(f"{row['throttle_id']} on {limits} cannot be used: {row['problem']}.")
            return
        threshold = f"{_number(row['threshold'])} {row['unit']}"
        echo(f"{row['throttle_id']}: {threshold} on {limits}")
        echo(f"  In effect: {_number(row['in_effect'])} {row['unit']}")
        echo(f"  In the last minute: {_number(row['rate'])} {row['unit']}")
        if row["tokens"] is not None:
            debt = ", a debt that is paid first" if row["tokens"] < 0 else ""
            echo(f"  Left now: {row['tokens']:,.0f} {row['counts']}{debt}")
        if row["refused_at"]:
            echo(f"  Lowered {_time(row['refused_at'])}: {row['refused_because']}")
        for holder in row["holders"]:
            echo(f"  {holder['stage_run_id']} holds {holder['tokens']:,.0f}")
        for wait in row["waiting"]:
            echo(f"  {wait['subject']} of {wait['pipeline_id']}: {wait['because']}")

    show(as_json, row, text)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _time(at: str | None) -> str:
    return local(datetime.fromisoformat(at)) if at else ""
