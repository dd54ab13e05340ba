"""`keys`: API keys: create, list, revoke."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.flags import Until
from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, show, table, whoami
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.journal.access_tables import ApiKey

_ROLES = ("viewer", "operator", "editor", "admin")


@click.group()
def keys() -> None:
    """Keys of the API: create, list, revoke."""


@keys.command()
@click.argument("owner")
@click.option("--role", type=click.Choice(_ROLES), required=True, help="What the key may do.")
@click.option("--expires", type=Until(), help="When it expires: a time, or 30m, 2h, 90d.")
@click.option("--only", multiple=True, help="Limit it to pipeline:ID or tag:NAME; may be repeated.")
@json_option
@pass_cli
def create(
    cli: CliContext,
    owner: str,
    role: str,
    expires: datetime | None,
    only: tuple[str, ...],
    as_json: bool,
) -> None:
    """Create a key for OWNER, who is named in the history. The key is shown once.

    A viewer reads; an operator also runs, stops and releases; an editor also changes the
    catalog; an admin also manages keys and reads the settings.
    """
    from goldsmith.journal import api_keys
    from goldsmith.journal.access_tables import Role
    from goldsmith.planning.selection import select

    runtime = cli.runtime
    if only:  # refuse a limit that names nothing
        select(runtime.catalog_indexer.catalog_index(), only)
    row, secret = api_keys.create(
        runtime.journal,
        owner=owner,
        role=Role(role),
        limited_to=only,
        expires_at=expires,
        created_by=whoami(),
    )

    def text() -> None:
        echo(secret)
        echo(f"Created {row.key_id} ({role}). The key above is not shown again.", err=True)

    show(as_json, {**_plain(row), "secret": secret}, text)


@keys.command("list")
@click.option("--all", "ended", is_flag=True, help="Also revoked and expired keys.")
@json_option
@pass_cli
def list_(cli: CliContext, ended: bool, as_json: bool) -> None:
    """List the keys, newest first."""
    from goldsmith.journal import api_keys

    found = api_keys.listed(cli.runtime.journal, ended=ended)

    def text() -> None:
        if not found:
            echo("There is no key. `goldsmith keys create` creates one.")
            return
        heads = ("key", "owner", "role", "limited to", "created", "expires", "last used", "revoked")
        table(heads, [_line(key) for key in found])

    show(as_json, [_plain(key) for key in found], text)


@keys.command()
@click.argument("key_id")
@json_option
@pass_cli
def revoke(cli: CliContext, key_id: str, as_json: bool) -> None:
    """Revoke a key; it is refused from now on."""
    from goldsmith.journal import api_keys

    revoked = api_keys.revoke(cli.runtime.journal, key_id, by=whoami())
    show(as_json, _plain(revoked), lambda: echo(f"{key_id} is revoked."))


def _line(key: ApiKey) -> tuple[Any, ...]:
    return (
        key.key_id,
        key.owner,
        key.role,
        ", ".join(key.limited_to),
        local(key.created_at),
        local(key.expires_at),
        local(key.last_used_at),
        local(key.revoked_at),
    )


def _plain(key: ApiKey) -> dict[str, Any]:
    return {name: value for name, value in key.as_plain().items() if name != "secret_hash"}
