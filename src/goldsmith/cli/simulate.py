"""`simulate`: the scheduler on virtual time, against other policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    CliContext,
    echo,
    how_many,
    json_option,
    pass_cli,
    read_text,
    save_text,
    show,
    table,
    unreadable,
)
from goldsmith.errors import BadRequest

if TYPE_CHECKING:
    from goldsmith.scheduling.simulation_report import Comparison
    from goldsmith.scheduling.trace import TraceRun

_SPANS = {"h": 3600.0, "d": 86400.0, "m": 60.0}
#: Of the number in a span: a longer one begins before the calendar.
_MOST_DIGITS = 5


@click.command()
@click.option("--seed", type=click.IntRange(min=0), help="Generate a workload from this seed.")
@click.option(
    "--trace",
    "trace_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Read the workload from JSON lines.",
)
@click.option("--rehearse", metavar="7d", help="Replay the runs of this time in the journal.")
@click.option(
    "--slots", default=8, show_default=True, type=how_many, help="Stages that run at once."
)
@click.option(
    "--batch-seconds",
    default=10.0,
    show_default=True,
    type=click.FloatRange(min=0.1, max=86400),
    help="Seconds of a micro-batch, after which a stage can yield.",
)
@click.option(
    "--set", "changes", multiple=True, metavar="PROFILE.SETTING=VALUE", help="Change a setting."
)
@click.option(
    "--catalog",
    "catalog_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Take profile_settings from this catalog file.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write a page with plots.",
)
@json_option
@pass_cli
def simulate(
    cli: CliContext,
    seed: int | None,
    trace_file: Path | None,
    rehearse: str | None,
    slots: int,
    batch_seconds: float,
    changes: tuple[str, ...],
    catalog_file: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Replay a workload under balanced, focus and five other policies, and compare them.

    Nothing runs: time is virtual. docs/scheduling.md defines every measure.
    """
    from goldsmith.scheduling.simulate import Machine
    from goldsmith.scheduling.simulation_report import as_html, compare, shipped_settings

    if sum(given is not None for given in (seed, trace_file, rehearse)) > 1:
        raise BadRequest(
            sentence="--seed, --trace and --rehearse exclude each other.",
            advice="Name one workload: a seed, a file or a span of the journal.",
        )
    rows = _rows_of_file(catalog_file)
    for profile, settings in _changed(changes).items():
        rows.setdefault(profile, {}).update(settings)
    workload = _workload(cli, seed, trace_file, rehearse, slots)
    compared = compare(
        workload, Machine(slots, batch_seconds), shipped_settings(rows), seed=seed or 0
    )
    if html is not None:
        save_text(html, as_html(compared, f"{len(workload)} runs on {slots} slots"))
    show(as_json, compared.as_plain(), lambda: _print(compared, len(workload), slots, html))


def _workload(
    cli: CliContext, seed: int | None, trace_file: Path | None, rehearse: str | None, slots: int
) -> tuple[TraceRun, ...]:
    from goldsmith.scheduling.trace import read_trace
    from goldsmith.scheduling.workload import WorkloadShape, generate

    if trace_file is not None:
        return read_trace(read_text(trace_file).splitlines())
    if rehearse is not None:
        return _from_journal(cli, _span(rehearse))
    return generate(1 if seed is None else seed, WorkloadShape(slots=slots))


def _from_journal(cli: CliContext, seconds: float) -> tuple[TraceRun, ...]:
    """The runs of the last seconds of the journal, with what each stage really took."""
    from datetime import UTC, datetime, timedelta

    from goldsmith.catalog.pipelines import Pipeline, Stage
    from goldsmith.journal.runs import recent_runs, stage_runs_of
    from goldsmith.scheduling.trace import TraceRun, TraceStage

    runtime = cli.runtime
    since = datetime.now(UTC) - timedelta(seconds=seconds)
    rows = runtime.catalog.snapshot()
    criticality = {p.pipeline_id: p.criticality for p in rows.rows(Pipeline)}
    stages = {(s.pipeline_id, s.stage_order): s for s in rows.rows(Stage)}
    found: list[TraceRun] = []
    for run in recent_runs(runtime.journal, pipeline_id=None, status="succeeded", most=100_000):
        if run.started_at is None or run.started_at < since:
            continue
        done: list[TraceStage] = []
        for stage_run in stage_runs_of(runtime.journal, run.run_id):
            if stage_run.started_at is None or stage_run.ended_at is None:
                continue
            row = stages.get((str(stage_run.pipeline_id), stage_run.stage_order or 0))
            done.append(
                TraceStage(
                    seconds=(stage_run.ended_at - stage_run.started_at).total_seconds(),
                    source=(row.source_id if row else None) or "",
                    target=(row.target_id if row else None) or "",
                    records=float(stage_run.rows_written or 0),
                    bytes=float(stage_run.bytes_written or 0),
                )
            )
        if done:
            name = str(run.pipeline_id)
            arrives = (run.started_at - since).total_seconds()
            found.append(TraceRun(name, arrives, tuple(done), criticality.get(name)))
    if not found:
        raise BadRequest(
            sentence="The journal has no finished run in that time.",
            advice="Take a longer span, or --seed N for a generated workload.",
        )
    return tuple(sorted(found, key=lambda run: (run.arrives, run.pipeline)))


def _span(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    fine = unit in _SPANS and number.isdecimal() and len(number) <= _MOST_DIGITS
    if not fine or not int(number):
        raise BadRequest(
            sentence=f"'{text}' is not a span of time.", advice="Write 12h, 7d or 90m."
        )
    return int(number) * _SPANS[unit]


def _changed(changes: tuple[str, ...]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        profile, dot, setting = name.partition(".")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not equals or not dot or profile not in ("balanced", "focus") or not 0 <= number < 1e12:
            raise BadRequest(
                sentence=f"'{change}' is not a change of a setting.",
                advice="Write balanced.NAME=NUMBER or focus.NAME=NUMBER, with a number from 0.",
            )
        found.setdefault(profile, {})[setting] = number
    return found


def _rows_of_file(file: Path | None) -> dict[str, dict[str, float]]:
    """The profile_settings in a YAML catalog file."""
    if file is None:
        return {}
    import yaml

    try:
        value: Any = yaml.safe_load(read_text(file))
    except (yaml.YAMLError, RecursionError) as error:
        raise unreadable(file, error) from None
    rows = value.get("profile_settings") if isinstance(value, dict) else None
    found: dict[str, dict[str, float]] = {}
    for row in rows or ():
        try:
            setting, number = str(row["setting_key"]), float(row["setting_value"])
            found.setdefault(str(row["profile_id"]), {})[setting] = number
        except (KeyError, TypeError, ValueError):
            raise BadRequest(
                sentence=f"A row of profile_settings in '{file}' is not complete: {row!r}.",
                advice="A row has profile_id, setting_key and a number as setting_value.",
            ) from None
    return found


def _print(compared: Comparison, runs: int, slots: int, html: Path | None) -> None:
    echo(f"{runs} runs on {slots} slots; times in seconds.")
    table(
        ("policy", "mean flow", "p95 flow", "peak:mean", "cost", "critical delay", "slowdown"),
        (
            (
                name,
                f"{m.mean_flow:,.1f}",
                f"{m.p95_flow:,.1f}",
                f"{max(m.peak_to_mean.values(), default=1.0):.2f}",
                f"{m.cost:,.0f}",
                f"{m.critical_added_delay:,.1f}",
                f"{m.max_slowdown:,.1f}",
            )
            for name, m in compared.measures.items()
        ),
    )
    if html is not None:
        echo(f"Wrote {html}.")
