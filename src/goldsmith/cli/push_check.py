"""`push validate-…` and `push doctor`: whether what was pushed arrived, and why not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import CliContext, echo, how_many, json_option, pass_cli, show, table
from goldsmith.errors import BadRequest

if TYPE_CHECKING:
    from goldsmith.emitters.graphql_client import GraphqlClient
    from goldsmith.emitters.receiver import HttpReceiver

endpoint_option = click.option(
    "--endpoint", help="The receiver. Default: $MCD_API_ENDPOINT, else Monte Carlo."
)
_POLL_SECONDS = 15.0


def graphql_client(cli: CliContext, endpoint: str | None) -> GraphqlClient:
    """A client with the key of MCD_ID and MCD_TOKEN."""
    from goldsmith.emitters.graphql_client import GRAPHQL_ENDPOINT, GraphqlClient

    secrets = cli.runtime.secrets
    return GraphqlClient(
        key_id=secrets.resolve("env:MCD_ID").reveal(),
        token=secrets.resolve("env:MCD_TOKEN"),
        endpoint=endpoint or os.environ.get("MCD_API_ENDPOINT") or GRAPHQL_ENDPOINT,
    )


def http_receiver(cli: CliContext, endpoint: str | None) -> HttpReceiver:
    """A receiver with the key of MCD_INGEST_ID and MCD_INGEST_TOKEN."""
    from goldsmith.emitters.receiver import INGEST_ENDPOINT, HttpReceiver

    secrets = cli.runtime.secrets
    return HttpReceiver(
        key_id=secrets.resolve("env:MCD_INGEST_ID").reveal(),
        token=secrets.resolve("env:MCD_INGEST_TOKEN"),
        endpoint=endpoint or os.environ.get("MCD_API_ENDPOINT") or INGEST_ENDPOINT,
    )


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        pass_cli,
        json_option,
        endpoint_option,
        click.option("--wait", is_flag=True, help="Ask again until everything is shown."),
        click.option(
            "--sample", type=how_many, default=20, show_default=True, help="Items to check."
        ),
        click.argument("manifest", type=click.Path(path_type=Path, dir_okay=False)),
    ):
        function = option(function)
    return function


@click.command("validate-metadata")
@_options
def validate_metadata(cli: CliContext, **given: Any) -> None:
    """Check that the tables of MANIFEST are shown: columns, volume and freshness."""
    _validate(cli, "metadata", **given)


@click.command("validate-lineage")
@_options
def validate_lineage(cli: CliContext, **given: Any) -> None:
    """Check that the edges of MANIFEST are shown, of tables and of columns."""
    _validate(cli, "lineage", **given)


@click.command("validate-query-logs")
@_options
def validate_query_logs(cli: CliContext, **given: Any) -> None:
    """Check that the queries of MANIFEST are shown; that takes 15 to 20 minutes at least."""
    _validate(cli, "query_logs", **given)


def _validate(
    cli: CliContext,
    flow: str,
    *,
    manifest: Path,
    sample: int,
    wait: bool,
    endpoint: str | None,
    as_json: bool,
) -> None:
    from goldsmith.assets.manifest import read
    from goldsmith.emitters.validate import CheckState, try_after, validate

    collected = read(manifest)
    if collected.flow.value != flow:
        raise BadRequest(
            sentence=f"{manifest} is a manifest of {collected.flow.value}.",
            advice=f"goldsmith push validate-{collected.flow.value.replace('_', '-')} {manifest}",
        )
    client = graphql_client(cli, endpoint)
    due = try_after(collected)
    while True:
        checks = validate(collected, client, now=datetime.now(UTC), sample=sample)
        states = {check.state for check in checks}
        if not wait or CheckState.NOT_YET not in states:
            break
        echo("Not everything is shown yet; asking again.", err=True)
        time.sleep(_POLL_SECONDS)
    after = None if due is None else due.astimezone()
    plain = {
        "status": "failed"
        if CheckState.FAILED in states
        else "not_yet"
        if CheckState.NOT_YET in states
        else "ok",
        "try_after": None if due is None else due.isoformat(),
        "checks": [
            {
                "item": check.item,
                "checkpoint": check.checkpoint,
                "state": check.state.value,
                "found": check.found,
            }
            for check in checks
        ],
    }

    def text() -> None:
        table(
            ("item", "checkpoint", "state", "found"),
            [(each.item, each.checkpoint, each.state.value, each.found) for each in checks],
        )
        if plain["status"] == "not_yet" and after is not None:
            echo(f"Not yet: try after {after:%H:%M}, or --wait.")
        elif plain["status"] == "failed":
            first = next(each for each in checks if each.state is CheckState.FAILED)
            echo(
                f"Missing: the {first.checkpoint} of {first.item}. `goldsmith push doctor "
                f"{manifest}` looks for the cause."
            )

    show(as_json, plain, text)
    if plain["status"] != "ok":
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path, dir_okay=False))
@endpoint_option
@json_option
@pass_cli
def doctor(cli: CliContext, manifest: Path, endpoint: str | None, as_json: bool) -> None:
    """Test the five checkpoints of a pushed MANIFEST; name the first that fails."""
    from goldsmith.assets.manifest import read
    from goldsmith.emitters.doctor import examine
    from goldsmith.emitters.validate import CheckState

    has_key = bool(os.environ.get("MCD_ID") and os.environ.get("MCD_TOKEN"))
    found = list(
        examine(
            read(manifest),
            http_receiver(cli, endpoint),
            graphql_client(cli, endpoint) if has_key else None,
            now=datetime.now(UTC),
        )
    )
    plain = [
        {
            "checkpoint": each.number,
            "question": each.question,
            "state": each.state.value,
            "found": each.found,
            "advice": each.advice,
        }
        for each in found
    ]

    def text() -> None:
        for each in found:
            echo(f"{each.number}. {each.question} {each.state.value}: {each.found}")
            if each.advice:
                echo(f"   {each.advice}")

    show(as_json, plain, text)
    if found[-1].state is not CheckState.OK:
        raise click.exceptions.Exit(1)
