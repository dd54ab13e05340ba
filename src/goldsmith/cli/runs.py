"""`runs`: what was carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.forget import forget
from goldsmith.cli.output import Door, json_option, pass_door, show, table
from goldsmith.cli.times import between, local

if TYPE_CHECKING:
    from goldsmith.journal.tables import AuditEvent, Run, StageRun

_STATUSES = (
    *("waiting", "running", "succeeded", "skipped"),
    *("failed", "stopped", "blocked", "interrupted"),
)


@click.group()
def runs() -> None:
    """What was carried out: runs, their stages, their events."""


runs.add_command(forget)


@runs.command("list")
@click.option("--pipeline", "pipeline_id", help="Only runs of this pipeline.")
@click.option("--status", type=click.Choice(_STATUSES), help="Only runs that stand like this.")
@click.option("--most", default=20, show_default=True, type=click.IntRange(min=1), help="How many.")
@json_option
@pass_door
def list_(
    door: Door, pipeline_id: str | None, status: str | None, most: int, as_json: bool
) -> None:
    """List runs, newest first."""
    from goldsmith.journal.runs import recent_runs

    found = recent_runs(door.runtime.journal, pipeline_id=pipeline_id, status=status, most=most)
    show(as_json, [run.as_plain() for run in found], lambda: _print_list(found))


@runs.command("show")
@click.argument("run_id", metavar="RUN")
@json_option
@pass_door
def show_(door: Door, run_id: str, as_json: bool) -> None:
    """Show a run with its stage runs and its events."""
    from goldsmith.journal.runs import run, stage_runs_of

    journal = door.runtime.journal
    found = run(journal, run_id)
    stages = stage_runs_of(journal, run_id)
    events = journal.read(run_id=run_id)
    value = {
        **found.as_plain(),
        "stage_runs": [stage.as_plain() for stage in stages],
        "events": [event.as_plain() for event in events],
    }
    show(as_json, value, lambda: _print_run(found, stages, events))


@runs.command("retry")
@click.argument("run_id", metavar="RUN")
@click.option("--from", "stage", type=int, help="Begin at this stage_order.")
@click.option("--quiet", "-q", is_flag=True, help="Say only how it ended.")
@json_option
@pass_door
def retry(door: Door, run_id: str, stage: int | None, quiet: bool, as_json: bool) -> None:
    """Run a run's pipeline again, from the rows as they are now. What was published stays."""
    from goldsmith.cli.run import carry_out
    from goldsmith.journal.runs import run

    found = run(door.runtime.journal, run_id)
    stages = door.runtime.catalog.snapshot().stages_of.get(str(found.pipeline_id), ())
    selection = [
        f"stage:{one.pipeline_id}-{one.stage_order}"
        for one in stages
        if stage is None or one.stage_order >= stage
    ]
    if not selection:  # whoever asks for what is not there is told what is
        selection = [
            str(found.pipeline_id) if stage is None else f"stage:{found.pipeline_id}-{stage}"
        ]
    carry_out(door, selection, {}, quiet=quiet, as_json=as_json)


@runs.command("logs")
@click.argument("run_id", metavar="RUN")
@json_option
@pass_door
def show_logs(door: Door, run_id: str, as_json: bool) -> None:
    """Show the log lines of a run, stack traces included."""
    from goldsmith import logs
    from goldsmith.cli.run import log_file
    from goldsmith.journal.runs import run

    found = run(door.runtime.journal, run_id)
    told = [
        line
        for line in logs.read(log_file(door.runtime))
        if line["facts"].get("run_id") == found.run_id
    ]

    def text() -> None:
        for line in told:
            click.echo(f"{line['at']} {line['level']} {line['who']}: {line['says']}")
            if line.get("trace"):
                click.echo(line["trace"])
        if not told:
            click.echo("Nothing was logged.")

    show(as_json, told, text)


def _print_list(found: list[Run]) -> None:
    if not found:
        click.echo("No such runs.")
        return
    table(
        ("run", "pipeline", "status", "started", "took", "because"),
        [
            (
                run.run_id,
                run.pipeline_id,
                run.status,
                local(run.started_at),
                between(run.started_at, run.ended_at),
                run.error_code or run.because,
            )
            for run in found
        ],
    )


def _print_run(found: Run, stages: list[StageRun], events: list[AuditEvent]) -> None:
    click.echo(f"{click.style(found.run_id, bold=True)}  {found.pipeline_id}  {found.status}")
    took = between(found.started_at, found.ended_at)
    asked = f", asked for by {found.asked_by}" if found.asked_by else ""
    click.echo(f"  {local(found.started_at)}{f', took {took}' if took else ''}{asked}")
    if found.error_code:
        click.echo(f"  {found.error_code}: {found.error_message}")
    elif found.because:
        click.echo(f"  {found.because}")
    if stages:
        click.echo()
        table(
            ("stage", "name", "status", "step", "read", "written", "aside", "took", "because"),
            [_stage_line(stage) for stage in stages],
            indent=2,
        )
    if events:
        click.echo()
        table(("at", "event", "stage", "says"), [_event_line(e) for e in events], indent=2)


def _stage_line(stage: StageRun) -> tuple[object, ...]:
    return (
        stage.stage_order,
        stage.stage_name,
        stage.status,
        stage.step,
        stage.rows_read,
        stage.rows_written,
        stage.rows_quarantined,
        between(stage.started_at, stage.ended_at),
        f"{stage.error_code}: {stage.error_message}" if stage.error_code else stage.because,
    )


def _event_line(event: AuditEvent) -> tuple[object, ...]:
    says = event.error_code or event.resolution or event.facts.get("because")
    return local(event.at), event.kind, event.stage_order, says or event.facts.get("step")
