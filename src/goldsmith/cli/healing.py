"""`healing`: the remedies, what they did, and what they would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    CliContext,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    style,
    table,
)
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.journal.healing_tables import HealingUse

#: What happens to a stage, as text.
_DOES = {
    "rerun": "it is tried again",
    "skip": "the run goes on without the stage",
    "hold": "it is left to a person",
}


@click.group()
def healing() -> None:
    """Remedies: the error → remedy pairs, their past uses, and simulations."""


@healing.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """List all error → remedy pairs, how often each was used, and how often it helped."""
    from goldsmith.healing.pair_rates import pair_rates
    from goldsmith.journal import healing as journal

    rows = pair_rates(cli.runtime.catalog.snapshot(), journal.uses(cli.runtime.journal))
    show(as_json, rows, lambda: _print_pairs(rows))


@healing.command()
@click.option("--pipeline", help="Only for this pipeline.")
@click.option("--code", help="Only for this error code.")
@click.option("--most", type=how_many, default=20, show_default=True, help="How many to show.")
@json_option
@pass_cli
def history(
    cli: CliContext, pipeline: str | None, code: str | None, most: int, as_json: bool
) -> None:
    """Show the remedies that were used, the newest first, and whether they helped."""
    from goldsmith.journal import healing as journal

    found = journal.uses(cli.runtime.journal, pipeline_id=pipeline, error_code=code, most=most)
    show(as_json, [use.as_plain() for use in found], lambda: _print_uses(found))


@healing.command()
@click.argument("error")
@click.option("--stage", help="For this stage (pipeline-order), with its options and retry policy.")
@json_option
@pass_cli
def simulate(cli: CliContext, error: str, stage: str | None, as_json: bool) -> None:
    """Show what would happen if a stage kept failing with ERROR, attempt after attempt.

    ERROR is a code of `errors list`. Scripts, webhooks and functions are shown but not called.
    """
    from goldsmith.healing.codes import code
    from goldsmith.worker.healing_simulation import simulate_healing

    steps = simulate_healing(cli.runtime, code(error).name, stage)
    show(as_json, [step.as_plain() for step in steps], lambda: _print_steps(steps))


def _print_pairs(rows: list[dict[str, Any]]) -> None:
    heads = ["error code", "step", "remedy", "acts", "used", "helped", "enabled"]
    table(heads, [_pair_line(row) for row in rows])


def _pair_line(row: dict[str, Any]) -> list[Any]:
    rate = row["success_rate"]
    return [
        row["error_code"],
        row["step_order"],
        row["remedy"],
        "where allowed" if row["only_where_allowed"] else "",
        row["uses"],
        "" if rate is None else f"{rate:.0%}",
        "yes" if row["enabled"] else "no",
    ]


def _print_uses(found: list[HealingUse]) -> None:
    heads = ["when", "stage", "error code", "remedy", "did", "outcome", "because"]
    table(
        heads,
        [
            [
                local(use.at),
                f"{use.pipeline_id}-{use.stage_order}",
                use.error_code,
                use.remedy,
                use.did,
                # A hold leaves the stage to a person: it has no outcome.
                "" if use.did == "hold" else use.outcome,
                use.because,
            ]
            for use in found
        ],
    )


def _print_steps(steps: list[Any]) -> None:
    for step in steps:
        echo(style(f"Try {step.attempt} fails.", bold=True))
        # In the order of evaluation: remedies that were passed over come before the chosen one.
        for why in step.passed_over:
            echo(style(f"    {why}", dim=True))
        who = f"{step.remedy}: " if step.remedy else ""
        wait = f" after {step.wait_seconds:g} s" if step.wait_seconds else ""
        echo(f"    {who}{_DOES[step.do]}{wait}: {step.because}")
