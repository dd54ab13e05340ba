"""`gateway`: keys and requests of the gateway that receives pushes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from goldsmith.cli.flags import Until
from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    table,
    whoami,
)
from goldsmith.cli.times import local


@click.group()
def gateway() -> None:
    """The gateway, which receives pushes in `goldsmith serve`: its keys and received requests."""


@gateway.command("create-key")
@click.argument("description")
@click.option(
    "--scope",
    type=click.Choice(("ingestion", "graphql")),
    required=True,
    help="ingestion: to push; graphql: to query and to delete.",
)
@click.option("--resource", "resources", multiple=True, help="Limit it to resources, by UUID.")
@click.option("--expires", type=Until(), help="When it expires: a time, or 2h, 90d.")
@json_option
@pass_cli
def create_key(
    cli: CliContext,
    description: str,
    scope: str,
    resources: tuple[str, ...],
    expires: datetime | None,
    as_json: bool,
) -> None:
    """Create a key; its id and its secret are shown once."""
    from goldsmith.gateway import keys
    from goldsmith.journal.gateway_tables import KeyScope

    row, secret = keys.create(
        cli.runtime.journal,
        KeyScope(scope),
        description=description,
        created_by=whoami(),
        resources=resources,
        expires_at=expires,
    )
    names = (
        ("MCD_INGEST_ID", "MCD_INGEST_TOKEN") if scope == "ingestion" else ("MCD_ID", "MCD_TOKEN")
    )

    def text() -> None:
        echo(f"export {names[0]}={row.key_id} {names[1]}={secret}")
        echo("The secret is not shown again.", err=True)

    show(as_json, {"id": row.key_id, "secret": secret, "scope": scope}, text)


@gateway.command("keys")
@json_option
@pass_cli
def list_keys(cli: CliContext, as_json: bool) -> None:
    """List the keys, newest first, without their secrets."""
    from goldsmith.gateway import keys

    found = keys.listed(cli.runtime.journal)

    def text() -> None:
        heads = ("key", "scope", "description", "resources", "created", "expires", "revoked")
        table(
            heads,
            [
                (
                    *(key.key_id, key.scope, key.description, ", ".join(key.resources)),
                    *(local(key.created_at), local(key.expires_at), local(key.revoked_at)),
                )
                for key in found
            ],
        )

    show(as_json, [_plain(key.as_plain()) for key in found], text)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "secret_hash"}


@gateway.command("revoke-key")
@click.argument("key_id")
@json_option
@pass_cli
def revoke_key(cli: CliContext, key_id: str, as_json: bool) -> None:
    """Revoke a key; it is refused from now on."""
    from goldsmith.gateway import keys

    revoked = keys.revoke(cli.runtime.journal, key_id)
    show(as_json, _plain(revoked.as_plain()), lambda: echo(f"{key_id} is revoked."))


@gateway.command("deliveries")
@click.option("--most", type=how_many, default=50, show_default=True, help="How many to list.")
@json_option
@pass_cli
def list_deliveries(cli: CliContext, most: int, as_json: bool) -> None:
    """List the received requests, newest first, with their status."""
    from goldsmith.gateway.receive import deliveries

    found = deliveries(cli.runtime.journal, most=most)

    def text() -> None:
        heads = ("invocation", "endpoint", "resource", "items", "status", "received", "problem")
        table(
            heads,
            [
                (
                    *(each.invocation_id, each.path, each.resource_uuid, each.item_count),
                    *(each.status, local(each.received_at), each.problem),
                )
                for each in found
            ],
        )

    plain = [
        {name: value for name, value in each.as_plain().items() if name not in ("body", "slot")}
        for each in found
    ]
    show(as_json, plain, text)


@gateway.command("process")
@json_option
@pass_cli
def process(cli: CliContext, as_json: bool) -> None:
    """Process the waiting requests; `goldsmith serve` does so every second."""
    from goldsmith.gateway.process import process_waiting

    done = 0
    while some := process_waiting(cli.runtime.journal):
        done += some
    show(as_json, {"processed": done}, lambda: echo(f"Processed {count(done, 'request')}."))


@gateway.command("sweep")
@json_option
@pass_cli
def sweep_(cli: CliContext, as_json: bool) -> None:
    """Remove expired column lineage and custom nodes; `goldsmith serve` does so every hour."""
    from goldsmith.gateway.sweep import sweep

    removed = sweep(cli.runtime.journal)
    show(as_json, {"removed": removed}, lambda: echo(f"Removed {count(removed, 'row')}."))
