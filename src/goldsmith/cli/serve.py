"""`serve`: serve the API until it is interrupted."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from pathlib import Path

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, print_json, whoami


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65_535),
    help="The port; 0: any free one.",
)
@click.option("--base-path", default="", help="The path in front of every route, behind a proxy.")
@click.option(
    "--certificate", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="For TLS."
)
@click.option(
    "--private-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="For TLS."
)
@json_option
@pass_cli
def serve(
    cli: CliContext,
    host: str,
    port: int,
    base_path: str,
    certificate: Path | None,
    private_key: Path | None,
    as_json: bool,
) -> None:
    """Serve the API until interrupted; on this machine it prints a one-time login link.

    Other machines reach it only if a key exists (`goldsmith keys create`). Requests for runs wait
    until `goldsmith run` carries them out.
    """
    from goldsmith.api.server import Address, ApiServer
    from goldsmith.api.sessions import login_link

    address = Address(
        host=host,
        port=port,
        base_path=base_path.rstrip("/"),
        certificate=certificate,
        private_key=private_key,
    )
    server = ApiServer(cli.runtime, address)
    address = replace(address, port=server.start())
    link = login_link(cli.runtime, address.url, owner=whoami()) if address.is_local else None
    if as_json:
        print_json({"url": address.url, "login": link})
    else:
        echo(f"The API is served at {address.url}/api/v1")
        if link is not None:
            echo(f"Sign in once within 15 minutes: {link}")
    ended = threading.Event()
    for signal_ in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_, lambda _number, _frame: ended.set())
    ended.wait()
    server.stop()
