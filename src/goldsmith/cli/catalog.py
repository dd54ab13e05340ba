"""`catalog`: the declared rows and their history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.apply import print_difference, print_findings, read_bundle
from goldsmith.cli.changed import changed_lines
from goldsmith.cli.output import (
    CliContext,
    a_revision,
    confirm,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    save_text,
    show,
    style,
    table,
    whoami,
    write_text,
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
@pass_cli
def show_rows(cli: CliContext, what: str | None, key: str | None, as_json: bool) -> None:
    """Show the tables, the rows of one table, or one row with its last changes."""
    from goldsmith.catalog.schema import BY_TABLE
    from goldsmith.registry import UnknownName

    rows = cli.runtime.catalog.snapshot()
    if what is None:
        counts = {name: len(rows.tables[name]) for name in BY_TABLE}
        value = {"revision": rows.revision, "tables": counts}
        purposes = {name: kind.table.purpose for name, kind in BY_TABLE.items()}

        def overview() -> None:
            table(["table", "rows", "purpose"], [(n, c, purposes[n]) for n, c in counts.items()])
            echo(f"Revision {rows.revision}.")

        show(as_json, value, overview)
        return
    if what not in BY_TABLE:
        raise UnknownName(noun="table", name=what, known=tuple(BY_TABLE))
    if key is None:
        found = [row.as_plain() for row in rows.tables[what].values()]
        show(as_json, found, lambda: _print_rows(BY_TABLE[what].table, found))
        return
    _show_row(cli, what, key, as_json)


def _print_rows(spec: Any, rows: list[dict[str, Any]]) -> None:
    """Print the columns with values, at most eight, cut to fit a screen."""
    names = [c.name for c in spec.columns if c.is_key or any(row[c.name] for row in rows)][:8]
    table(names, [[_short(row[name]) for name in names] for row in rows])
    echo(count(len(rows), "row") + ".")


def _short(value: Any) -> str:
    text = "" if value in (None, [], {}) else " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:37]}…"


def _show_row(cli: CliContext, what: str, key: str, as_json: bool) -> None:
    from goldsmith.catalog import changes
    from goldsmith.catalog.rows import key_text

    rows = cli.runtime.catalog.snapshot()
    row = next((r for k, r in rows.tables[what].items() if key_text(k) == key), None)
    if row is None:
        known = [key_text(k) for k in rows.tables[what]]
        from goldsmith.registry import UnknownName

        raise UnknownName(noun=f"row of {what}", name=key, known=tuple(known))
    history = changes.history(
        cli.runtime.catalog, table=what, key=[str(part) for part in row.key], most=5
    )
    value = {"row": row.as_plain(), "history": [change.as_plain() for change in history]}

    def text() -> None:
        for name, value in row.as_plain().items():
            shown = value if value is not None else style("not set", dim=True)
            echo(f"{name}: {shown}", keep="\n")
        echo("")
        _print_history(history)

    show(as_json, value, text)


@catalog.command()
@json_option
@pass_cli
def check(cli: CliContext, as_json: bool) -> None:
    """Report every problem of the rows. Exits 1 if there are errors."""
    catalog_index = cli.runtime.catalog_indexer.catalog_index()
    errors = len(catalog_index.errors)
    warnings = len(catalog_index.findings) - errors

    def text() -> None:
        print_findings(catalog_index.findings)
        echo(f"{count(errors, 'error')}, {count(warnings, 'warning')}.")

    show(as_json, [finding.as_plain() for finding in catalog_index.findings], text)
    if errors:
        raise click.exceptions.Exit(1)


@catalog.command()
@click.option(
    "--pipeline",
    "pipelines",
    multiple=True,
    help="Only this pipeline and the rows it depends on; may be repeated.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="A file.")
@json_option
@pass_cli
def export(cli: CliContext, pipelines: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    """Write the catalog as YAML (or JSON); applying it again changes nothing.

    With --pipeline everything the pipelines depend on is included: datasets, rule sets, retry
    policies, and the pipelines that write their inputs.
    """
    import yaml

    from goldsmith.catalog import bundle
    from goldsmith.planning.exporting import with_needed

    rows = cli.runtime.catalog.snapshot()
    if pipelines:
        rows = with_needed(cli.runtime.catalog_indexer.catalog_index(), pipelines)
    text = bundle.export(rows)
    if as_json:
        text = json.dumps(yaml.safe_load(text) or {}, ensure_ascii=False, indent=2) + "\n"
    if output is None:
        write_text(text)
    else:
        save_text(output, text)
        echo(f"Wrote {output}, revision {rows.revision}.", err=True)


@catalog.command()
@click.option("--table", "table_name", help="Only changes of one table.")
@click.option("--key", help="Only changes of one row; parts of a key joined by a slash.")
@click.option("--since", type=a_revision, help="Only changes after a revision.")
@click.option(
    "--most", type=how_many, default=50, show_default=True, help="How many, newest first."
)
@json_option
@pass_cli
def history(
    cli: CliContext,
    table_name: str | None,
    key: str | None,
    since: int | None,
    most: int,
    as_json: bool,
) -> None:
    """Show who changed which row, when and why, newest first."""
    from goldsmith.catalog import changes

    found = changes.history(
        cli.runtime.catalog,
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
            echo(
                style(f"revision {change.revision}", bold=True)
                + f"  {change.at:%Y-%m-%d %H:%M:%S} UTC  {change.actor}{why}"
            )
            last = change.revision
        echo(f"  {change.operation} {change.table} {key_text(change.key)}")
        if change.operation == "update":
            for name, (old, new) in change.differences.items():
                for line in changed_lines(name, old, new):
                    echo(f"      {line}")


@catalog.command()
@click.argument("revision", type=a_revision, required=False)
@click.option("--since", type=a_revision, help="Everything after this revision.")
@click.option("--reason", help="Why, for the history.")
@yes_option
@json_option
@pass_cli
def undo(
    cli: CliContext,
    revision: int | None,
    since: int | None,
    reason: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Undo one revision, or everything since a revision; the undo is a new revision.

    Fails if a row was changed again since, and shows both versions.
    """
    from goldsmith.planning import apply_files

    if (revision is None) == (since is None):
        raise BadRequest(
            sentence="Say which revision to undo, or --since one.",
            advice="`goldsmith catalog history` lists them.",
        )

    def taken_back(*, dry_run: bool) -> Any:
        return apply_files.undo(
            cli.runtime.catalog,
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
        echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    done = taken_back(dry_run=False)
    newest = cli.runtime.catalog.revision()
    value = {"revision": newest, "rows": [row.as_plain() for row in done.rows]}
    show(as_json, value, lambda: echo(f"Taken back as revision {newest}."))


@catalog.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@json_option
@pass_cli
def drift(cli: CliContext, files: tuple[str, ...], as_json: bool) -> None:
    """Show how the live catalog differs from files. Exits 1 if it does."""
    from goldsmith.catalog.difference import drift as drift_of

    found = drift_of(read_bundle(files), cli.runtime.catalog.snapshot())

    def text() -> None:
        print_difference(found)
        if found:
            counts = found.counts
            echo(
                f"Beside the files the catalog has {counts['added']} rows more, "
                f"{counts['removed']} fewer and {counts['changed']} other ones."
            )
        else:
            echo("No drift: the catalog says what the files say.")

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
        write_text(text + "\n")
    else:
        save_text(output, text + "\n")
        echo(f"Wrote {output}.", err=True)


@catalog.command()
@yes_option
@json_option
@pass_cli
def migrate(cli: CliContext, yes: bool, as_json: bool) -> None:
    """Migrate an older catalog to this version, after a backup."""
    from goldsmith.catalog import database
    from goldsmith.catalog import migrate as migrations
    from goldsmith.catalog.version import VERSION
    from goldsmith.runtime import with_password

    settings = cli.runtime.settings.catalog
    if settings.file is not None:
        settings.file.parent.mkdir(parents=True, exist_ok=True)
    engine = database.connect(with_password(settings.url, settings.password, cli.runtime.secrets))
    with database.reading(engine) as connection:
        found = migrations.version(connection)
    migrations.refuse_newer(found)
    if found == VERSION:
        message = f"The catalog has version {VERSION} already."
        show(as_json, {"version": VERSION, "migrated": False}, lambda: echo(message))
        return
    if not confirm(f"Migrate the catalog from {found or 'nothing'} to {VERSION}?", yes=yes):
        raise click.exceptions.Exit(1)
    backup = migrations.migrate(engine)
    value = {"version": VERSION, "migrated": True, "backup": backup}
    message = f"Migrated to version {VERSION}." + (f" The backup is {backup}." if backup else "")
    show(as_json, value, lambda: echo(message))
