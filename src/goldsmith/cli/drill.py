"""`drill`: rehearse an outage, or cut a source off for real and watch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import (
    CliContext,
    confirm,
    count,
    echo,
    json_option,
    pass_cli,
    show,
    table,
    whoami,
    yes_option,
)

if TYPE_CHECKING:
    from goldsmith.journal.tables import Request
    from goldsmith.planning.drill import Rehearsal
    from goldsmith.worker.drill import DrillReport, SeenLoad


@click.command("drill")
@click.option("--down", "downs", multiple=True, required=True, help="A dataset that is down.")
@click.option(
    "--live",
    is_flag=True,
    help="Cut the datasets off in this environment (--env), run, end the cut, run again.",
)
@click.option(
    "--for",
    "seconds",
    type=click.IntRange(1, 86_400),
    default=600,
    show_default=True,
    help="With --live: the cut ends after this many seconds, even if this process dies.",
)
@click.option(
    "--no-return", is_flag=True, help="With --live: do not wait until the source is used again."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --live: the report's file. Default: one in .goldsmith/drills of the project.",
)
@yes_option
@json_option
@pass_cli
def drill(
    cli: CliContext,
    downs: tuple[str, ...],
    live: bool,
    seconds: int,
    no_return: bool,
    output: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Rehearse an outage: show which datasets are still served while others are down.

    Shows how each dataset is served and how stale it is. Nothing runs without --live. Exits 1 if a
    dataset would not be served, or with --live if it was not served as rehearsed.
    """
    from goldsmith.worker.drill import rehearse_now

    rehearsal = rehearse_now(cli.runtime, downs)
    if not live:
        show(as_json, {**rehearsal.as_plain(), "live": False}, lambda: _say(rehearsal))
        raise click.exceptions.Exit(1 if rehearsal.not_served else 0)
    environment = cli.runtime.settings.environment
    if not as_json:
        _say(rehearsal)
    names = ", ".join(rehearsal.down)
    question = f"Cut {names} off for every run of the environment '{environment}'?"
    if not confirm(question, yes=yes):
        echo("Nothing was cut off.")
        raise click.exceptions.Exit(1)
    report = _drill_live(cli, rehearsal, seconds, watch_return=not no_return, quiet=as_json)
    folder = cli.runtime.settings.project / ".goldsmith" / "drills"
    file = output or folder / f"{report.drill_id}.json"
    report.write(file)

    def text() -> None:
        _say_report(report)
        echo(f"Wrote the report to {file}.")

    show(as_json, {**report.as_plain(), "report": str(file)}, text)
    raise click.exceptions.Exit(1 if report.differences else 0)


def _drill_live(
    cli: CliContext, rehearsal: Rehearsal, seconds: int, *, watch_return: bool, quiet: bool
) -> DrillReport:
    from datetime import timedelta

    from goldsmith.cli.run import perform
    from goldsmith.worker.drill import drill_live

    def run(selection: Sequence[str]) -> Request:
        _turned, mine = perform(cli, selection, {}, waits=False, quiet=quiet)
        return mine.request

    return drill_live(
        cli.runtime,
        rehearsal,
        run,
        whoami(),
        lasts=timedelta(seconds=seconds),
        watch_return=watch_return,
    )


def _say(rehearsal: Rehearsal) -> None:
    names = ", ".join(rehearsal.down)
    if rehearsal.lines:
        lines = [
            (
                line.dataset_id,
                str(line.outcome),
                line.path_sequence or line.because,
                None if line.cost is None else f"{line.cost:g}",
                _age(line.stale_sec),
            )
            for line in rehearsal.lines
        ]
        table(["dataset", "outcome", "how", "cost", "data from"], lines)
    for dataset_id, spare in rehearsal.spares_lost.items():
        echo(f"{dataset_id} is served as always, without {spare} to fall back on.")
    lost = len(rehearsal.not_served)
    served = count(len(rehearsal.lines) - lost, "dataset")
    echo(f"With {names} down: {served} served, {lost} not.")


def _say_report(report: DrillReport) -> None:
    _say_loads("While it was cut off:", report.loads)
    if report.waited is not None:
        echo(f"The run waited: {report.waited}")
    if report.loads_after:
        _say_loads("After it was let back:", report.loads_after)
    for difference in report.differences:
        echo(f"Not as rehearsed: {difference}")
    if not report.differences:
        echo("Everything was as rehearsed.")


def _say_loads(title: str, loads: Sequence[SeenLoad]) -> None:
    echo(title)
    for load in loads:
        way = f" by {load.route}" if load.route else ""
        when = "" if load.after_sec is None else f", {load.after_sec:g} s"
        echo(f"  {load.dataset_id}: {load.status}{way}{when}")


def _age(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit} ago"
    return f"{seconds:.0f} s ago"
