"""`healing`: which remedies there are, what they did, and what they would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import Door, json_option, pass_door, show, table
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.journal.tables_of_healing import HealingUse


@click.group()
def healing() -> None:
    """Remedies: error → resolution pairs, what they did, what they would do."""


@healing.command("list")
@json_option
@pass_door
def list_(door: Door, as_json: bool) -> None:
    """List the pairs in force, how often each was used, and how often it helped."""
    from goldsmith.healing.budget import success_rate
    from goldsmith.healing.pairs import all_pairs
    from goldsmith.journal import healing as journal

    runtime = door.runtime
    uses: dict[tuple[str, str], list[HealingUse]] = {}
    for use in journal.uses(runtime.journal):
        uses.setdefault((str(use.error_code), str(use.remedy)), []).append(use)
    rows: list[dict[str, Any]] = []
    for pair in all_pairs(runtime.catalog.snapshot()):
        mine = uses.get((pair.error_code, pair.action), [])
        rows.append(
            {
                "error_code": pair.error_code,
                "step_order": pair.step_order,
                "remedy": pair.action,
                "settings": dict(pair.settings),
                "enabled": pair.enabled,
                "max_uses": pair.max_uses,
                "success_floor": pair.success_floor,
                "uses": len(mine),
                "success_rate": success_rate(mine),
            }
        )
    show(as_json, rows, lambda: _print_pairs(rows))


@healing.command()
@click.option("--pipeline", help="Only of this pipeline.")
@click.option("--code", help="Only for this error code.")
@click.option("--most", default=20, show_default=True, help="How many to show.")
@json_option
@pass_door
def history(door: Door, pipeline: str | None, code: str | None, most: int, as_json: bool) -> None:
    """Show the remedies that were used, the newest first, and whether they helped."""
    from goldsmith.journal import healing as journal

    found = journal.uses(door.runtime.journal, pipeline_id=pipeline, error_code=code, most=most)
    show(as_json, [use.as_plain() for use in found], lambda: _print_uses(found))


@healing.command()
@click.argument("error")
@click.option("--stage", help="For this stage (pipeline-order): its row, its retry policy.")
@json_option
@pass_door
def simulate(door: Door, error: str, stage: str | None, as_json: bool) -> None:
    """Show what would be done if a stage kept failing with ERROR, try after try.

    ERROR is a code of `errors list`. Scripts, webhooks and functions are named and not asked.
    """
    from goldsmith.healing.codes import code
    from goldsmith.scheduling.rehearsal import rehearse

    steps = rehearse(door.runtime, code(error).name, stage)
    show(as_json, [step.as_plain() for step in steps], lambda: _print_steps(steps))


def _print_pairs(rows: list[dict[str, Any]]) -> None:
    heads = ["error code", "step", "remedy", "used", "helped", "enabled"]
    table(heads, [_pair_line(row) for row in rows])


def _pair_line(row: dict[str, Any]) -> list[Any]:
    rate = row["success_rate"]
    return [
        row["error_code"],
        row["step_order"],
        row["remedy"],
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
                use.outcome,
                use.because,
            ]
            for use in found
        ],
    )


def _print_steps(steps: list[Any]) -> None:
    for step in steps:
        who = f" ({step.remedy})" if step.remedy else ""
        wait = f" after {step.wait_seconds:g} s" if step.wait_seconds else ""
        click.echo(f"try {step.attempt} fails: {step.do}{wait}{who}: {step.because}")
        for why in step.passed_over:
            click.echo(click.style(f"    {why}", dim=True))
