"""`throttles list`, `throttles show`: the limits, and how fast their datasets are used now."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, show, table
from goldsmith.cli.times import local
from goldsmith.errors import BadRequest, nearest

if TYPE_CHECKING:
    from goldsmith.engine.pace.states import ThrottleState


@click.group()
def throttles() -> None:
    """Throttles: how fast sources and targets may be used, and are used now."""


@throttles.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """Show every throttle: its threshold, the rate in effect, and the use in the last minute."""
    found = [_plain(state) for state in _states(cli)]

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
    """Show one throttle: its tokens, who holds some of them, and who waits for it."""
    states = {state.throttle.throttle_id: state for state in _states(cli)}
    if throttle_id not in states:
        guess = nearest(throttle_id, tuple(states))
        raise BadRequest(
            sentence=f"There is no throttle '{throttle_id}'.",
            advice=f"Did you mean '{guess}'?" if guess else "`goldsmith throttles list` has them.",
        )
    row = _plain(states[throttle_id])

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


def _states(cli: CliContext) -> list[ThrottleState]:
    from goldsmith.engine.pace.buckets import read_throttles
    from goldsmith.engine.pace.states import states

    journal = cli.runtime.journal
    rows = sorted(read_throttles(journal), key=lambda throttle: throttle.throttle_id)
    return states(journal, rows)


def _plain(state: ThrottleState) -> dict[str, Any]:
    from goldsmith.catalog.throttle_metrics import metric_of

    throttle, metric = state.throttle, metric_of(state.throttle.metric)
    problem = None
    if metric is None:
        problem = f"'{throttle.metric}' is no metric"
    elif not (throttle.threshold or 0) > 0:
        problem = "its threshold is not above zero"
    return {
        **throttle.as_plain(),
        "unit": metric.unit if metric else None,
        "counts": str(metric.counts) if metric else None,
        "in_effect": (throttle.threshold or 0.0) * state.effective,
        "effective": state.effective,
        "rate": state.rate,
        "tokens": state.tokens,
        "refused_at": state.refused_at.isoformat() if state.refused_at else None,
        "refused_because": state.refused_because,
        "holders": [holder.as_plain() for holder in state.holders],
        "waiting": [wait.as_plain() for wait in state.waiting],
        "problem": problem,
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _time(at: str | None) -> str:
    return local(datetime.fromisoformat(at)) if at else ""
