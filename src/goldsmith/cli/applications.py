"""`applications list`, `register`, `withdraw`: whose raw records the lakehouse stores."""

from __future__ import annotations

import click

from goldsmith.cli.output import (
    CliContext,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    table,
    whoami,
)


@click.group()
def applications() -> None:
    """The applications whose raw records are stored, each in a table of `entity_raw`."""


@applications.command("list")
@json_option
@pass_cli
def list_(cli: CliContext, as_json: bool) -> None:
    """List the applications; those that are ACTIVE may load."""
    from goldsmith.lakehouse.applications import listed

    found = listed(cli.runtime.catalog)

    def text() -> None:
        table(
            ("application", "status", "upsert keys", "retention days", "description"),
            [
                (
                    *(row.name, row.status, ", ".join(row.upsert_keys)),
                    *(row.retention_days, row.description),
                )
                for row in found
            ],
        )

    show(as_json, [row.as_plain() for row in found], text)


@applications.command("register")
@click.argument("name")
@click.option("--description", help="What it reads.")
@click.option(
    "--upsert-key",
    "upsert_by",
    multiple=True,
    help="A column that identifies a record, with typename and connection_qualified_name.",
)
@click.option("--retention-days", type=how_many, help="How long its records are to be kept.")
@json_option
@pass_cli
def register(
    cli: CliContext,
    name: str,
    description: str | None,
    upsert_by: tuple[str, ...],
    retention_days: int | None,
    as_json: bool,
) -> None:
    """Register an application, or make a withdrawn one ACTIVE again.

    The service makes its table within 10 minutes; its first load makes it as well.
    """
    from goldsmith.lakehouse import applications as registry

    row = registry.register(
        cli.runtime.catalog,
        name,
        actor=whoami(),
        description=description,
        upsert_by=upsert_by,
        retention_days=retention_days,
    )
    show(as_json, row.as_plain(), lambda: echo(f"The application {name} is registered."))


@applications.command("withdraw")
@click.argument("name")
@click.option("--reason", help="Why, for the history.")
@json_option
@pass_cli
def withdraw(cli: CliContext, name: str, reason: str | None, as_json: bool) -> None:
    """Withdraw an application: its loads are refused, its table and records stay."""
    from goldsmith.lakehouse import applications as registry

    row = registry.withdraw(cli.runtime.catalog, name, actor=whoami(), reason=reason)
    show(
        as_json,
        row.as_plain(),
        lambda: echo(f"The application {name} is withdrawn; its table and records stay."),
    )
