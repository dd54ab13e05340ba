"""`push create-lineage-…`, `delete-lineage-node`, `delete-push-tables`: change a receiver."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from goldsmith.cli.collect import resource_of
from goldsmith.cli.flags import Until
from goldsmith.cli.output import (
    CliContext,
    confirm,
    count,
    echo,
    json_option,
    pass_cli,
    show,
    yes_option,
)
from goldsmith.cli.push_check import endpoint_option, graphql_client
from goldsmith.errors import BadRequest

_FOR_EVER = "9999-12-31"
_AT_ONCE = 1_000
_resource_option = click.option(
    "--resource", help="The resource's UUID. Default: $MCD_RESOURCE_UUID."
)
_expire_option = click.option(
    "--expire", type=Until(), help="When it vanishes: a time, or 12h, 7d. Default: never."
)


def _expiry(expire: datetime | None) -> str:
    return _FOR_EVER if expire is None else expire.astimezone(UTC).isoformat()


@click.command("create-lineage-node")
@click.argument("object_type")
@click.argument("object_id")
@click.option("--name", help="Its name for people.")
@_resource_option
@_expire_option
@endpoint_option
@json_option
@pass_cli
def create_lineage_node(
    cli: CliContext,
    object_type: str,
    object_id: str,
    name: str | None,
    resource: str | None,
    expire: datetime | None,
    endpoint: str | None,
    as_json: bool,
) -> None:
    """Create or change a custom node, permanent unless --expire is given."""
    from goldsmith.emitters import documents

    answer = graphql_client(cli, endpoint).ask(
        documents.CREATE_NODE,
        t=object_type,
        o=object_id,
        r=resource_of(resource),
        n=name,
        e=_expiry(expire),
    )
    node = answer["createOrUpdateLineageNode"]["node"]
    show(as_json, node, lambda: echo(node["mcon"]))


@click.command("create-lineage-edge")
@click.argument("source")
@click.argument("destination")
@_resource_option
@_expire_option
@endpoint_option
@json_option
@pass_cli
def create_lineage_edge(
    cli: CliContext,
    source: str,
    destination: str,
    resource: str | None,
    expire: datetime | None,
    endpoint: str | None,
    as_json: bool,
) -> None:
    """Create an edge from SOURCE to DESTINATION, permanent unless --expire is given.

    Each is an MCON, or TYPE=ID in the resource, as table=analytics:public.orders.
    """
    from goldsmith.emitters import documents

    answer = graphql_client(cli, endpoint).ask(
        documents.CREATE_EDGE,
        s=_node(source, resource),
        d=_node(destination, resource),
        e=_expiry(expire),
    )
    edge = answer["createOrUpdateLineageEdge"]["edge"]
    show(
        as_json,
        edge,
        lambda: echo(f"{edge['source']['mcon']} → {edge['destination']['mcon']}"),
    )


def _node(text: str, resource: str | None) -> dict[str, str]:
    if text.startswith("MCON++"):
        parts = text.split("++", 4)
        if len(parts) == 5:
            return {"objectType": parts[3], "objectId": parts[4], "resourceId": parts[2]}
    kind, sign, object_id = text.partition("=")
    if not sign or not kind or not object_id:
        raise BadRequest(
            sentence=f"'{text}' names no node.",
            advice="Give an MCON, or TYPE=ID: table=analytics:public.orders.",
        )
    return {"objectType": kind, "objectId": object_id, "resourceId": resource_of(resource)}


@click.command("delete-lineage-node")
@click.argument("mcon")
@endpoint_option
@yes_option
@json_option
@pass_cli
def delete_lineage_node(
    cli: CliContext, mcon: str, endpoint: str | None, yes: bool, as_json: bool
) -> None:
    """Delete a node and every edge that touches it; that cannot be undone."""
    from goldsmith.emitters import documents

    client = graphql_client(cli, endpoint)
    touching = _connected(client, mcon)
    echo(f"{mcon} has {count(touching, 'neighbour')}.", err=True)
    if not confirm("Delete it and its edges?", yes=yes):
        return
    gone = client.ask(documents.DELETE_NODE, m=mcon)["deleteLineageNode"]
    show(as_json, gone, lambda: echo(f"Deleted {count(gone['nodesDeleted'] or 0, 'node')}."))


@click.command("delete-push-tables")
@click.argument("mcons", nargs=-1)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path, dir_okay=False),
    help="All tables of a manifest of metadata.",
)
@endpoint_option
@yes_option
@json_option
@pass_cli
def delete_push_tables(
    cli: CliContext,
    mcons: tuple[str, ...],
    manifest: Path | None,
    endpoint: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete pushed tables with their lineage; shows first what that affects.

    At most 1,000 are deleted a call, and each call deletes all of its tables or none.
    """
    from goldsmith.emitters import documents

    client = graphql_client(cli, endpoint)
    found = [*mcons, *(_mcons_of(client, manifest) if manifest is not None else ())]
    wanted = list(dict.fromkeys(found))
    if not wanted:
        raise BadRequest(sentence="No table is named.", advice="Give MCONs, or --manifest FILE.")
    touched = 0
    for mcon in wanted[:_AT_ONCE]:
        touched += _connected(client, mcon)
    more = "" if len(wanted) <= _AT_ONCE else f" (of the first {_AT_ONCE:,})"
    echo(
        f"{count(len(wanted), 'table')} with {count(touched, 'lineage neighbour')}{more} "
        "will be deleted; edges that touch them vanish.",
        err=True,
    )
    if not confirm("Delete them?", yes=yes):
        return
    deleted = 0
    for start in range(0, len(wanted), _AT_ONCE):
        answer = client.ask(documents.DELETE_TABLES, m=wanted[start : start + _AT_ONCE])
        deleted += int(answer["deletePushIngestedTables"]["deletedCount"] or 0)
    show(as_json, {"deleted": deleted}, lambda: echo(f"Deleted {count(deleted, 'table')}."))


def _connected(client: Any, mcon: str) -> int:
    from goldsmith.emitters import documents

    found = 0
    for direction in ("upstream", "downstream"):
        graph = client.ask(documents.LINEAGE, m=mcon, w=direction).get("getTableLineage") or {}
        found += len(graph.get("connectedNodes") or ())
    return found


def _mcons_of(client: Any, file: Path) -> list[str]:
    from goldsmith.assets.items import Flow
    from goldsmith.assets.manifest import read

    manifest = read(file)
    if manifest.flow is not Flow.METADATA:
        raise BadRequest(
            sentence=f"{file} is a manifest of {manifest.flow.value}.",
            advice="Give a manifest of metadata.",
        )
    return [
        client.mcon(
            manifest.resource_uuid,
            f"{item['metadata']['database']}:{item['metadata']['schema']}.{item['metadata']['name']}",
        )
        for item in manifest.items()
    ]
