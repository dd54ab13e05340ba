"""`demo`: a project with data in it, planned and shown."""

from __future__ import annotations

from pathlib import Path

import click

from goldsmith.cli.output import Door, json_option, print_json


@click.command()
@click.argument("folder", default="demo", type=click.Path(path_type=Path, file_okay=False))
@json_option
def demo(folder: Path, as_json: bool) -> None:
    """Make a project with raw data and a catalog in it, and show what would run.

    FOLDER is made where it is not there; run again, it goes on with what is there.
    """
    from datetime import UTC, datetime

    from goldsmith.demo import project
    from goldsmith.journal import runs
    from goldsmith.planning import explain, planner
    from goldsmith.planning.increments import Increments

    made = project.make(folder, datetime.now(UTC).date())
    runtime = Door(project=folder).runtime
    revision = project.apply(runtime)
    survey = runtime.surveyor.survey()
    plan = planner.plan(
        survey,
        (),
        now=datetime.now(UTC),
        environment=runtime.settings.environment,
        look=Increments(runtime.catalog, runtime.places),
        expected=runs.expected(runtime.journal),
    )
    if as_json:
        print_json(explain.as_plain(plan, runtime.settings.address))
        return
    if made:
        click.echo(f"Made a project in {folder} with {made} raw files.")
    click.echo(f"The catalog is at revision {revision}.\n")
    for line in explain.as_lines(plan, verbose=False, most=60):
        click.echo(line)
    click.echo(
        f"\nTo try next, in {folder}:\n"
        "  goldsmith plan -v user_events_etl           every default, check and line of SQL\n"
        "  goldsmith catalog show stages               the rows that decide all this\n"
        "  goldsmith catalog export > all.yaml         the catalog as one file\n"
        '  sqlite3 .goldsmith/catalog.db "UPDATE pipelines SET enabled = false\n'
        "      WHERE pipeline_id = 'orders_etl'\"       then look at the plan and the history\n"
        "  goldsmith catalog history"
    )
