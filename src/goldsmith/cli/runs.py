"""`runs`: list, show, retry and forget runs, and their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.forget import forget
from goldsmith.cli.output import (
    CliContext,
    a_revision,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    style,
    table,
)
from goldsmith.cli.rows import row_counts
from goldsmith.cli.times import between, local

if TYPE_CHECKING:
    from goldsmith.journal.tables import AuditEvent, Run, StageRun, Verdict

#: produced = quarantined + dropped + left out + published.
_NUMBERS = ("produced", "quarantined", "dropped", "left out", "published")
_STATUSES = (
    *("waiting", "running", "succeeded", "skipped"),
    *("failed", "stopped", "blocked", "interrupted"),
)


@click.group()
def runs() -> None:
    """Past and running runs: their stages, events and logs."""


runs.add_command(forget)


@runs.command("list")
@click.option("--pipeline", "pipeline_id", help="Only runs of this pipeline.")
@click.option("--status", type=click.Choice(_STATUSES), help="Only runs with this status.")
@click.option("--most", default=20, show_default=True, type=how_many, help="How many to show.")
@json_option
@pass_cli
def list_(
    cli: CliContext, pipeline_id: str | None, status: str | None, most: int, as_json: bool
) -> None:
    """List runs, newest first."""
    from goldsmith.journal.runs import recent_runs

    found = recent_runs(cli.runtime.journal, pipeline_id=pipeline_id, status=status, most=most)
    show(as_json, [run.as_plain() for run in found], lambda: _print_list(found))


@runs.command("show")
@click.argument("run_id", metavar="RUN")
@json_option
@pass_cli
def show_(cli: CliContext, run_id: str, as_json: bool) -> None:
    """Show a run with its stage runs, the verdicts of its checks and its events."""
    from goldsmith.journal import healing, verdicts
    from goldsmith.journal.runs import run, stage_runs_of

    journal = cli.runtime.journal
    remedies = healing.remedy_sentences(journal, run_id)
    found = run(journal, run_id)
    stages = stage_runs_of(journal, run_id)
    events = journal.read(run_id=run_id)
    given = verdicts.of_run(journal, run_id)
    value = {
        **found.as_plain(),
        "remedies": remedies,
        "stage_runs": [stage.as_plain() for stage in stages],
        "verdicts": [verdict.as_plain() for verdict in given],
        "events": [event.as_plain() for event in events],
    }
    show(as_json, value, lambda: _print_run(found, stages, given, events, remedies))


@runs.command("retry")
@click.argument("run_id", metavar="RUN")
@click.option("--from", "stage", type=a_revision, help="Start at this stage_order.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the result.")
@json_option
@pass_cli
def retry(cli: CliContext, run_id: str, stage: int | None, quiet: bool, as_json: bool) -> None:
    """Run a run's pipeline again, with the current catalog. Published stages stay."""
    from goldsmith.cli.run import carry_out
    from goldsmith.journal.runs import run

    found = run(cli.runtime.journal, run_id)
    stages = cli.runtime.catalog.snapshot().stages_of.get(str(found.pipeline_id), ())
    selection = [
        f"stage:{stage_run.pipeline_id}-{stage_run.stage_order}"
        for stage_run in stages
        if stage is None or stage_run.stage_order >= stage
    ]
    if not selection:  # let the selection fail with the known names
        selection = [
            str(found.pipeline_id) if stage is None else f"stage:{found.pipeline_id}-{stage}"
        ]
    carry_out(cli, selection, {}, quiet=quiet, as_json=as_json)


@runs.command("logs")
@click.argument("run_id", metavar="RUN")
@json_option
@pass_cli
def show_logs(cli: CliContext, run_id: str, as_json: bool) -> None:
    """Show the log lines of a run with stack traces, and what Spark logged in that time."""
    from goldsmith import logs
    from goldsmith.engine.session import spark_log
    from goldsmith.journal.runs import run

    found = run(cli.runtime.journal, run_id)
    lines = [
        line
        for line in logs.read(cli.runtime.log_file)
        if line["facts"].get("run_id") == found.run_id
    ]

    if found.started_at is not None:
        file = spark_log.path(cli.runtime.storage)
        lines += spark_log.read(file, found.started_at, found.ended_at)

    def text() -> None:
        for line in lines:
            echo(f"{line['at']} {line['level']} {line['who']}: {line['says']}")
            if line.get("trace"):
                echo(line["trace"], keep="\n\t")
        if not lines:
            echo("Nothing was logged.")

    show(as_json, lines, text)


def _print_list(found: list[Run]) -> None:
    if not found:
        echo("No such runs.")
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


def _print_run(
    found: Run,
    stages: list[StageRun],
    given: list[Verdict],
    events: list[AuditEvent],
    remedies: list[str],
) -> None:
    echo(f"{style(found.run_id, bold=True)}  {found.pipeline_id}  {found.status}")
    took = between(found.started_at, found.ended_at)
    requester = f", asked for by {found.asked_by}" if found.asked_by else ""
    echo(f"  {local(found.started_at)}{f', took {took}' if took else ''}{requester}")
    if found.error_code:
        echo(f"  {found.error_code}: {found.error_message}")
    elif found.because:
        echo(f"  {found.because}")
    for line in remedies:
        echo(f"  {line}")
    if stages:
        echo()
        table(
            ("stage", "name", "status", "step", *_NUMBERS, "took", "because"),
            [_stage_line(stage, found) for stage in stages],
            indent=2,
        )
    if given:
        echo()
        heads = ("stage", "check", "verdict", "severity", "on_fail", "broken", "says")
        table(heads, [_verdict_line(verdict) for verdict in given], indent=2)
    if events:
        echo()
        table(("at", "event", "stage", "says"), [_event_line(e) for e in events], indent=2)


def _stage_line(stage: StageRun, run: Run) -> tuple[object, ...]:
    because = f"{stage.error_code}: {stage.error_message}" if stage.error_code else stage.because
    if stage.error_code and stage.error_message == run.error_message:
        because = stage.error_code  # the message is at the top
    return (
        stage.stage_order,
        stage.stage_name,
        stage.status,
        stage.step,
        *_numbers(stage),
        between(stage.started_at, stage.ended_at),
        because,
    )


def _numbers(stage: StageRun) -> tuple[int | None, ...]:
    counts = row_counts(stage)
    if counts is None:
        return stage.rows_read, stage.rows_quarantined, stage.rows_dropped, None, stage.rows_written
    return counts.produced, counts.quarantined, counts.dropped, counts.left_out, counts.published


def _verdict_line(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.stage_order,
        _check(verdict),
        "holds" if verdict.passed else "failed",
        verdict.severity,
        verdict.on_fail,
        verdict.broken,
        verdict.message,
    )


def _check(verdict: Verdict) -> str:
    """The check with its columns."""
    column = verdict.settings.get("column")
    columns = [column] if column else verdict.settings.get("columns") or ()
    listed = [columns] if isinstance(columns, str) else columns
    of = f" of {', '.join(map(str, listed))}" if listed else ""
    return f"{verdict.check_name}{of}"


def _event_line(event: AuditEvent) -> tuple[object, ...]:
    says = event.error_code or event.resolution or event.facts.get("because")
    if event.facts.get("remedy"):
        says = f"{event.facts['remedy']} for {event.error_code}"
    return local(event.at), event.kind, event.stage_order, says or event.facts.get("step")
