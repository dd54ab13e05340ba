"""`catalog`: the declared rows and their history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.apply import print_difference, print_findings, read_bundle
from goldsmith.cli.output import (
    Door,
    confirm,
    count,
    json_option,
    pass_door,
    show,
    table,
    whoami,
    yes_option,
)
from goldsmith.errors import BadRequest


@click.group()
def catalog() -> None:
    """The declared rows: show, check, export, history, undo, drift, schema, migrate."""


@catalog.command("show")
@click.argument("what", required=False, metavar="[TABLE]")
@click.argument("key", required=False, metavar="[KEY]")
@json_option
@pass_door
def show_rows(door: Door, what: str | None, key: str | None, as_json: bool) -> None:
    """Show the tables, the rows of one, or one row with its last changes."""
    from goldsmith.catalog.schema import BY_TABLE
    from goldsmith.registry import UnknownName

    rows = door.runtime.catalog.snapshot()
    if what is None:
        counts = {name: len(rows.tables[name]) for name in BY_TABLE}
        value = {"revision": rows.revision, "tables": counts}
        purposes = {name: kind.table.purpose for name, kind in BY_TABLE.items()}

        def overview() -> None:
            table(["table", "rows", "purpose"], [(n, c, purposes[n]) for n, c in counts.items()])
            click.echo(f"Revision {rows.revision}.")

        show(as_json, value, overview)
        return
    if what not in BY_TABLE:
        raise UnknownName(noun="table", name=what, known=tuple(BY_TABLE))
    if key is None:
        found = [row.as_plain() for row in rows.tables[what].values()]
        show(as_json, found, lambda: _print_rows(BY_TABLE[what].table, found))
        return
    _show_row(door, what, key, as_json)


def _print_rows(spec: Any, rows: list[dict[str, Any]]) -> None:
    """The columns that say anything, no wider than a screen can hold."""
    names = [c.name for c in spec.columns if c.is_key or any(row[c.name] for row in rows)][:8]
    table(names, [[_short(row[name]) for name in names] for row in rows])
    click.echo(count(len(rows), "row") + ".")


def _short(value: Any) -> str:
    text = "" if value in (None, [], {}) else " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:37]}…"


def _show_row(door: Door, what: str, key: str, as_json: bool) -> None:
    from goldsmith.catalog import changes
    from goldsmith.catalog.rows import key_text

    rows = door.runtime.catalog.snapshot()
    row = next((r for k, r in rows.tables[what].items() if key_text(k) == key), None)
    if row is None:
        known = [key_text(k) for k in rows.tables[what]]
        from goldsmith.registry import UnknownName

        raise UnknownName(noun=f"row of {what}", name=key, known=tuple(known))
    history = changes.history(
        door.runtime.catalog, table=what, key=[str(part) for part in row.key], most=5
    )
    value = {"row": row.as_plain(), "history": [change.as_plain() for change in history]}

    def text() -> None:
        for name, held in row.as_plain().items():
            click.echo(f"{name}: {held if held is not None else click.style('not set', dim=True)}")
        click.echo("")
        _print_history(history)

    show(as_json, value, text)


@catalog.command()
@json_option
@pass_door
def check(door: Door, as_json: bool) -> None:
    """Say everything that is wrong with the rows. Exits 1 if there are errors."""
    survey = door.runtime.surveyor.survey()
    errors = len(survey.errors)
    warnings = len(survey.findings) - errors

    def text() -> None:
        print_findings(survey.findings)
        click.echo(f"{count(errors, 'error')}, {count(warnings, 'warning')}.")

    show(as_json, [finding.as_plain() for finding in survey.findings], text)
    if errors:
        raise click.exceptions.Exit(1)


@catalog.command()
@click.option("--pipeline", "pipelines", multiple=True, help="Only rows of these pipelines.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="A file.")
@json_option
@pass_door
def export(door: Door, pipelines: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Write the catalog as YAML (or JSON), which applied again changes nothing."""
    import yaml

    from goldsmith.catalog import bundle

    rows = door.runtime.catalog.snapshot()
    text = bundle.export(rows, pipelines=frozenset(pipelines) if pipelines else None)
    if as_json:
        text = json.dumps(yaml.safe_load(text) or {}, ensure_ascii=False, indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(f"Wrote {output}, revision {rows.revision}.", err=True)


@catalog.command()
@click.option("--table", "table_name", help="Only changes of one table.")
@click.option("--key", help="Only changes of one row; parts of a key joined by a slash.")
@click.option("--since", type=int, help="Only changes after a revision.")
@click.option("--most", type=int, default=50, show_default=True, help="How many, newest first.")
@json_option
@pass_door
def history(
    door: Door,
    table_name: str | None,
    key: str | None,
    since: int | None,
    most: int,
    as_json: bool,
) -> None:
    """Show who changed which row, when and why, newest first."""
    from goldsmith.catalog import changes

    found = changes.history(
        door.runtime.catalog,
        table=table_name,
        key=None if key is None else key.split("/"),
        since=since,
        most=most,
    )
    show(as_json, [change.as_plain() for change in found], lambda: _print_history(found))


def _print_history(found: Any) -> None:
    from goldsmith.catalog.rows import key_text

    last = None
    for change in found:
        if change.revision != last:
            why = f": {change.reason}" if change.reason else ""
            click.echo(
                click.style(f"revision {change.revision}", bold=True)
                + f"  {change.at:%Y-%m-%d %H:%M:%S} UTC  {change.actor}{why}"
            )
            last = change.revision
        click.echo(f"  {change.operation} {change.table} {key_text(change.key)}")
        if change.operation == "update":
            for name, (old, new) in change.differences.items():
                click.echo(f"      {name}: {_short(old) or 'not set'} → {_short(new) or 'not set'}")


@catalog.command()
@click.argument("revision", type=int, required=False)
@click.option("--since", type=int, help="Everything after this revision.")
@click.option("--reason", help="Why, for the history.")
@yes_option
@json_option
@pass_door
def undo(
    door: Door,
    revision: int | None,
    since: int | None,
    reason: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Take back one past change, or everything since a revision; itself a change.

    A row that was changed again since is refused, and both are shown.
    """
    from goldsmith.planning import applying

    if (revision is None) == (since is None):
        raise BadRequest(
            sentence="Say which revision to undo, or --since one.",
            advice="`goldsmith catalog history` lists them.",
        )

    def taken_back(*, dry_run: bool) -> Any:
        return applying.undo(
            door.runtime.catalog,
            actor=whoami(),
            revision=revision,
            since=since,
            reason=reason,
            dry_run=dry_run,
        )

    shown = taken_back(dry_run=True)
    if not as_json:
        print_difference(shown)
    if not confirm("Take this back?", yes=yes):
        click.echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    done = taken_back(dry_run=False)
    newest = door.runtime.catalog.revision()
    value = {"revision": newest, "rows": [row.as_plain() for row in done.rows]}
    show(as_json, value, lambda: click.echo(f"Taken back as revision {newest}."))


@catalog.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@json_option
@pass_door
def drift(door: Door, files: tuple[str, ...], as_json: bool) -> None:
    """Say how the live catalog differs from files. Exits 1 if it does."""
    from goldsmith.catalog.difference import drift as drift_of

    found = drift_of(read_bundle(files), door.runtime.catalog.snapshot())

    def text() -> None:
        print_difference(found)
        if found:
            counts = found.counts
            click.echo(
                f"Beside the files the catalog has {counts['added']} rows more, "
                f"{counts['removed']} fewer and {counts['changed']} other ones."
            )
        else:
            click.echo("No drift: the catalog says what the files say.")

    show(as_json, {"counts": found.counts, "rows": [r.as_plain() for r in found.rows]}, text)
    if found:
        raise click.exceptions.Exit(1)


@catalog.command()
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="A file.")
@json_option
def schema(output: Path | None, as_json: bool) -> None:
    """Print the JSON Schema of catalog files, for editors."""
    from goldsmith.catalog.json_schema import json_schema

    del as_json  # it is JSON either way
    text = json.dumps(json_schema(), indent=2, ensure_ascii=False)
    if output is None:
        click.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
        click.echo(f"Wrote {output}.", err=True)


@catalog.command()
@yes_option
@json_option
@pass_door
def migrate(door: Door, yes: bool, as_json: bool) -> None:
    """Bring an older catalog to this version, after a backup."""
    from goldsmith.catalog import database
    from goldsmith.catalog import migrate as migrations
    from goldsmith.catalog.version import VERSION
    from goldsmith.runtime import with_password

    settings = door.runtime.settings.catalog
    if settings.file is not None:
        settings.file.parent.mkdir(parents=True, exist_ok=True)
    engine = database.connect(with_password(settings.url, settings.password, door.runtime.secrets))
    with database.reading(engine) as connection:
        found = migrations.version(connection)
    migrations.refuse_newer(found)
    if found == VERSION:
        said = f"The catalog has version {VERSION} already."
        show(as_json, {"version": VERSION, "migrated": False}, lambda: click.echo(said))
        return
    if not confirm(f"Migrate the catalog from {found or 'nothing'} to {VERSION}?", yes=yes):
        raise click.exceptions.Exit(1)
    backup = migrations.migrate(engine)
    value = {"version": VERSION, "migrated": True, "backup": backup}
    said = f"Migrated to version {VERSION}." + (f" The backup is {backup}." if backup else "")
    show(as_json, value, lambda: click.echo(said))
