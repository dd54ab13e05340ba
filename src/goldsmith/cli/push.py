"""`push`: send manifests of metadata, lineage and query logs; list what was pushed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

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
from goldsmith.cli.push_build import (
    build_lineage_collector,
    build_metadata_collector,
    build_query_log_collector,
)
from goldsmith.cli.push_check import (
    doctor,
    validate_lineage,
    validate_metadata,
    validate_query_logs,
)
from goldsmith.cli.push_lineage import (
    create_lineage_edge,
    create_lineage_node,
    delete_lineage_node,
    delete_push_tables,
)
from goldsmith.cli.times import local
from goldsmith.errors import BadRequest


@click.group()
def push() -> None:
    """Push collected metadata, lineage and query logs to Monte Carlo or a server like it."""


for _command in (
    *(build_metadata_collector, build_lineage_collector, build_query_log_collector),
    *(validate_metadata, validate_lineage, validate_query_logs, doctor),
    *(create_lineage_node, create_lineage_edge, delete_lineage_node, delete_push_tables),
):
    push.add_command(_command)


@push.command("push")
@click.argument("manifest", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--endpoint", help="The receiver. Default: $MCD_API_ENDPOINT, else Monte Carlo.")
@click.option(
    "--with",
    "client",
    type=click.Choice(("http", "pycarlo")),
    default="http",
    show_default=True,
    help="Plain HTTP, or Monte Carlo's client; both send the same bodies.",
)
@click.option("--override-reason", help="Push again within the hour, for this reason.")
@click.option(
    "--batch-size",
    type=click.IntRange(1, 1000),
    default=50,
    show_default=True,
    help="Items in a request; a body over 1 MB compressed is split further.",
)
@click.option(
    "--threads", type=click.IntRange(1, 16), default=4, show_default=True, help="Parallel requests."
)
@json_option
@pass_cli
def push_(
    cli: CliContext,
    manifest: Path,
    endpoint: str | None,
    client: str,
    override_reason: str | None,
    batch_size: int,
    threads: int,
    as_json: bool,
) -> None:
    """Push the items of MANIFEST and write the invocation ids into it.

    The key is read from MCD_INGEST_ID and MCD_INGEST_TOKEN; MCD_RESOURCE_UUID, if set, must be
    the manifest's resource. A push that was killed continues with the batches that are missing.
    """
    from goldsmith.assets.manifest import read
    from goldsmith.emitters.push import push as send
    from goldsmith.emitters.receiver import INGEST_ENDPOINT, HttpReceiver, PycarloReceiver

    runtime = cli.runtime
    collected = read(manifest)
    expected = os.environ.get("MCD_RESOURCE_UUID")
    if expected and expected != collected.resource_uuid:
        raise BadRequest(
            sentence=f"{manifest} is of the resource {collected.resource_uuid}, and "
            f"MCD_RESOURCE_UUID is {expected}.",
            advice="Push the manifest of that resource, or change the variable.",
        )
    kind = PycarloReceiver if client == "pycarlo" else HttpReceiver
    receiver = kind(
        key_id=runtime.secrets.resolve("env:MCD_INGEST_ID").reveal(),
        token=runtime.secrets.resolve("env:MCD_INGEST_TOKEN"),
        endpoint=endpoint or os.environ.get("MCD_API_ENDPOINT") or INGEST_ENDPOINT,
    )

    def arrived(invocation_id: str | None, items: int) -> None:
        if not as_json:
            echo(f"{invocation_id or 'accepted without invocation id'}  {count(items, 'item')}")

    done = send(
        collected,
        receiver,
        runtime.journal,
        requested_by=whoami(),
        override_reason=override_reason,
        batch_size=batch_size,
        threads=threads,
        arrived=arrived,
    )
    plain: dict[str, Any] = {
        "push_id": done.push_id,
        "flow": done.flow.value,
        "resource_uuid": done.resource_uuid,
        "items": done.items,
        "invocation_ids": list(done.invocation_ids),
        "resumed_batches": done.resumed,
    }

    def text() -> None:
        before = f"; {count(done.resumed, 'batch', 'batches')} had arrived before"
        echo(
            f"Pushed {count(done.items, 'item')} of {done.flow.value} to {receiver.address}"
            f"{before if done.resumed else ''}. The invocation ids are in {manifest}."
        )

    show(as_json, plain, text)


@push.command("list")
@click.option("--most", type=how_many, default=50, show_default=True, help="How many to list.")
@json_option
@pass_cli
def list_(cli: CliContext, most: int, as_json: bool) -> None:
    """List the pushes, newest first."""
    from goldsmith.journal import pushes

    found = pushes.listed(cli.runtime.journal, most=most)

    def text() -> None:
        if not found:
            echo("Nothing was pushed. `goldsmith push push MANIFEST` pushes a manifest.")
            return
        heads = ("push", "flow", "resource", "items", "started", "ended", "override")
        table(
            heads,
            [
                (
                    *(each.push_id, each.flow, each.resource_uuid, each.item_count),
                    *(local(each.started_at), local(each.ended_at), each.override_reason),
                )
                for each in found
            ],
        )

    show(as_json, [each.as_plain() for each in found], text)
