"""`serve` and `worker`: serve the API, and run pipelines by their schedules in workers."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import (
    CliContext,
    echo,
    json_option,
    pass_cli,
    print_json,
    whoami,
)

if TYPE_CHECKING:
    from goldsmith.api.server import Address
    from goldsmith.worker.pool import Drain

_PORT = click.IntRange(0, 65_535)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_slots = click.option(
    "--slots",
    type=click.IntRange(1, 256),
    default=4,
    show_default=True,
    help="Requests a worker runs at once.",
)


@click.command()
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=1,
    show_default=True,
    help="Worker processes to keep alive; 0: only fire schedules.",
)
@_slots
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=_PORT,
    default=8080,
    show_default=True,
    help="The port of the API; 0: any free one.",
)
@click.option(
    "--probe-port",
    type=_PORT,
    default=8089,
    show_default=True,
    help="The port of /healthz and /readyz; 0: any free one.",
)
@click.option("--no-api", is_flag=True, help="Do not serve the API.")
@click.option("--no-loop", is_flag=True, help="Serve the API alone: no schedules, no workers.")
@click.option("--base-path", default="", help="The path in front of every route, behind a proxy.")
@click.option("--certificate", type=_FILE, help="The certificate for TLS.")
@click.option("--private-key", type=_FILE, help="The private key for TLS.")
@json_option
@pass_cli
def serve(
    cli: CliContext,
    workers: int,
    slots: int,
    host: str,
    port: int,
    probe_port: int,
    no_api: bool,
    no_loop: bool,
    base_path: str,
    certificate: Path | None,
    private_key: Path | None,
    as_json: bool,
) -> None:
    """Serve the API and run pipelines by their schedules until a signal ends the service.

    The service fires schedules and keeps workers alive; the workers run the stages. SIGTERM
    drains: running requests end, nothing new starts. A second SIGTERM stops at once, and what ran
    is requeued. Several services and workers may share one catalog.

    On this machine it prints a one-time login link. Other machines reach the API only if a key
    exists (`goldsmith keys create`).
    """
    from goldsmith.api.server import Address
    from goldsmith.cli.run import start_log
    from goldsmith.service.keep_workers import WorkerProcesses, worker_command
    from goldsmith.service.serve import serve as serve_schedules

    if no_api and no_loop:
        raise click.UsageError("--no-api and --no-loop together leave nothing to serve.")
    runtime = cli.runtime
    start_log(runtime)
    tell, drain = _teller(as_json), _drain()
    address = Address(
        host=host,
        port=port,
        base_path=base_path.rstrip("/"),
        certificate=certificate,
        private_key=private_key,
    )
    with _api(cli, None if no_api else address, as_json):
        if no_loop:
            while not drain.is_draining:
                drain.wait(60)
        else:
            project = str(runtime.settings.project)
            command = worker_command(project, cli.environment, slots=slots)
            tell(f"serving {project} with {workers} worker processes")
            processes = WorkerProcesses(command, workers)
            serve_schedules(runtime, drain, processes, host=host, port=probe_port, tell=tell)
    tell("ended")


@contextmanager
def _api(cli: CliContext, address: Address | None, as_json: bool) -> Iterator[None]:
    """Serve the API while the context is open; None: serve none."""
    if address is None:
        yield
        return
    from goldsmith.api.app import PAGE
    from goldsmith.api.server import ApiServer
    from goldsmith.api.sessions import login_link

    server = ApiServer(cli.runtime, address)
    address = replace(address, port=server.start())
    try:
        link = login_link(cli.runtime, address.url, owner=whoami()) if address.is_local else None
        if as_json:
            print_json({"url": address.url, "login": link})
        else:
            echo(f"The API is served at {address.url}/api/v1")
            if not PAGE.is_dir():
                echo("This installation has no page; in a clone `make ui` builds it.")
            if link is not None:
                echo(f"Sign in once within 15 minutes: {link}")
        sys.stdout.flush()
        yield
    finally:
        server.stop()


@click.command()
@_slots
@json_option
@pass_cli
def worker(cli: CliContext, slots: int, as_json: bool) -> None:
    """Run requests in this process until a signal ends it: one Spark driver, several requests.

    On PostgreSQL a worker may run on any machine with the same project; on SQLite on the machine
    of the file. SIGTERM drains, a second one stops at once.
    """
    from goldsmith.cli.run import start_log
    from goldsmith.engine.run import ExecutionOptions
    from goldsmith.planning.run_options import RunOptions
    from goldsmith.worker.pool import work
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    start_log(runtime)
    tell, drain = _teller(as_json), _drain()
    with worker_resources(runtime) as resources:
        execution = ExecutionOptions(
            request_id=None, run_options=RunOptions(), asked_by="service", at_once=slots
        )
        tell(f"worker {resources.owner} takes requests, {slots} at once")
        work(runtime, resources, execution, drain, slots=slots)
    tell("ended")


def _drain() -> Drain:
    """Signals drain this process; the second one stops it at once."""
    from goldsmith.worker.pool import Drain

    drain = Drain()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: drain.ask())
    return drain


def _teller(as_json: bool) -> Callable[[str], None]:
    def tell(text: str) -> None:
        if as_json:
            print_json({"message": text})
        else:
            echo(text)
        sys.stdout.flush()

    return tell
