"""`plan`: what would run, and why, without running it."""

from __future__ import annotations

import click

from goldsmith.cli.output import Door, json_option, pass_door, show

#: Inputs are looked at only for what is shown: listing files of ten thousand pipelines is slow.
_MOST_LOOKED_AT = 60


@click.command()
@click.argument("selection", nargs=-1)
@click.option("--verbose", "-v", is_flag=True, help="Also SQL, checks and every default used.")
@click.option(
    "--look/--no-look",
    default=None,
    help="List new files and snapshots. Default: where few enough stages are shown.",
)
@json_option
@pass_door
def plan(
    door: Door, selection: tuple[str, ...], verbose: bool, look: bool | None, as_json: bool
) -> None:
    """Show what would run and why, in order. Nothing runs and Spark is not started.

    SELECTION is a pipeline, a dataset, pipeline.stage, or pipeline:, dataset:, stage:, tag:,
    layer: and a name; +x, x+ and x+2 add what is up- and downstream. None means everything.
    """
    from datetime import UTC, datetime

    from goldsmith.journal import runs
    from goldsmith.planning import explain, planner
    from goldsmith.planning.increments import Increments
    from goldsmith.planning.selection import select

    runtime = door.runtime
    survey = runtime.surveyor.survey()
    chosen = select(survey, selection)
    looks = len(chosen) <= _MOST_LOOKED_AT if look is None else look
    increments = Increments(runtime.catalog, runtime.places) if looks else None
    made = planner.plan(
        survey,
        selection,
        now=datetime.now(UTC),
        environment=runtime.settings.environment,
        look=increments,
        changed=None if increments is None else increments.definition_changed,
        expected=runs.expected(runtime.journal, [survey.stages[name].stage.key for name in chosen]),
    )

    def text() -> None:
        for line in explain.as_lines(made, verbose=verbose, most=_MOST_LOOKED_AT):
            click.echo(line)

    if as_json:
        show(True, explain.as_plain(made, runtime.settings.address), text)
    else:
        text()
