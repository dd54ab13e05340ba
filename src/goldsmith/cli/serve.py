"""`serve` and `worker`: run pipelines by their schedules, in worker processes."""

from __future__ import annotations

import signal
import sys
from typing import Any

import click

from goldsmith.cli.output import CliContext, echo, how_many, json_option, pass_cli, print_json

_PORT = click.IntRange(0, 65_535)
_slots = click.option(
    "--slots", type=how_many, default=4, show_default=True, help="Requests a worker runs at once."
)


@click.command()
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=1,
    show_default=True,
    help="Worker processes to keep alive; 0: only turn the clock.",
)
@_slots
@click.option("--host", default="127.0.0.1", show_default=True, help="Where the probes listen.")
@click.option(
    "--port",
    type=_PORT,
    default=8089,
    show_default=True,
    help="The port of /healthz and /readyz; 0: any free port.",
)
@json_option
@pass_cli
def serve(cli: CliContext, workers: int, slots: int, host: str, port: int, as_json: bool) -> None:
    """Run pipelines by their schedules until a signal ends the service.

    The service turns the clock and keeps workers alive; the workers run the stages. SIGTERM
    drains: running stages end, nothing new starts. A second SIGTERM stops at once, and what ran
    is requeued. Several services and workers may share one catalog.
    """
    from goldsmith.cli.run import start_log
    from goldsmith.service.keep_workers import WorkerProcesses, worker_command
    from goldsmith.service.serve import serve as turn

    runtime = cli.runtime
    start_log(runtime)
    command = worker_command(str(runtime.settings.project), cli.environment, slots=slots)
    tell = _teller(as_json)
    tell(f"serving {runtime.settings.project} with {workers} worker processes")
    turn(runtime, _drain(), WorkerProcesses(command, workers), host=host, port=port, tell=tell)
    tell("ended")


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


def _drain() -> Any:
    """Signals drain this process; the second one stops it at once."""
    from goldsmith.worker.pool import Drain

    drain = Drain()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: drain.ask())
    return drain


def _teller(as_json: bool) -> Any:
    def tell(text: str) -> None:
        if as_json:
            print_json({"says": text})
        else:
            echo(text)
        sys.stdout.flush()

    return tell
