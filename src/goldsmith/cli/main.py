"""`goldsmith`: daily commands are single verbs; the others are a noun followed by a verb.

Every command is imported only when it is called, so that `goldsmith status` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from pathlib import Path

import click

from goldsmith.cli.output import CliContext, echo, report
from goldsmith.errors import BadRequest, GoldsmithError

#: Command → its module and attribute, and its help text, in the order of --help.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("goldsmith.cli.init:init", "Create a project."),
    "setup": ("goldsmith.cli.setup:setup", "Find a Java and download the jars for Spark."),
    "demo": ("goldsmith.cli.demo:demo", "Create a project with example data and run it."),
    "diff": ("goldsmith.cli.apply:diff", "Show what applying files would change."),
    "apply": ("goldsmith.cli.apply:apply", "Change the catalog to match the files."),
    "digest": ("goldsmith.cli.digest:digest", "Parse SQL into tables, columns and catalog rows."),
    "plan": ("goldsmith.cli.plan:plan", "Show what would run, and why."),
    "run": ("goldsmith.cli.run:run", "Run the selected pipelines or stages."),
    "backfill": (
        "goldsmith.cli.backfill:backfill",
        "Run a pipeline again over a time span, window by window.",
    ),
    "stop": ("goldsmith.cli.flags:stop", "Stop pipelines, stages or datasets, running or not."),
    "release": ("goldsmith.cli.flags:release", "Release a stop."),
    "status": ("goldsmith.cli.status:status", "Show what runs, waits, failed and is stopped."),
    "why": ("goldsmith.cli.why:why", "Explain why something runs, waits, was stopped or failed."),
    "serve": ("goldsmith.cli.serve:serve", "Serve the API; run pipelines by schedule."),
    "worker": ("goldsmith.cli.serve:worker", "Add one worker to a service."),
    "workers": ("goldsmith.cli.workers:workers", "Show the services and workers."),
    "queue": ("goldsmith.cli.queue:queue", "Show what waits, in order, and why."),
    "schedules": ("goldsmith.cli.schedules:schedules", "Schedules: list, next, pause, resume."),
    "catalog": ("goldsmith.cli.catalog:catalog", "The declared rows: show, check, history, undo."),
    "datasets": (
        "goldsmith.cli.datasets:datasets",
        "The datasets: schema, size, rows, maintenance.",
    ),
    "throttles": (
        "goldsmith.cli.throttles:throttles",
        "The limits on sources and targets, and their use now.",
    ),
    "lineage": (
        "goldsmith.cli.lineage:lineage",
        "Show which dataset feeds which; export the graph.",
    ),
    "paths": ("goldsmith.cli.paths:paths", "Show every path to a dataset."),
    "drill": ("goldsmith.cli.drill:drill", "Rehearse an outage of a dataset."),
    "checks": ("goldsmith.cli.checks:checks", "The available checks; try rules on rows."),
    "runs": ("goldsmith.cli.runs:runs", "Past and running runs."),
    "quarantine": (
        "goldsmith.cli.quarantine:quarantine",
        "Quarantined rows: show, replay, discard.",
    ),
    "flags": ("goldsmith.cli.flags:flags", "The flags that stop pipelines, stages or datasets."),
    "incidents": (
        "goldsmith.cli.incidents:incidents",
        "Failures and stale datasets that need a person.",
    ),
    "healing": ("goldsmith.cli.healing:healing", "Remedies for failures, and what they did."),
    "errors": ("goldsmith.cli.errors:errors", "Error codes, and what to do about them."),
    "simulate": (
        "goldsmith.cli.simulate:simulate",
        "Compare scheduling policies on virtual time.",
    ),
    "keys": ("goldsmith.cli.keys:keys", "Keys of the API: create, list, revoke."),
    "collect": (
        "goldsmith.cli.collect:collect",
        "Collect metadata, lineage and query logs from a warehouse.",
    ),
    "push": ("goldsmith.cli.push:push", "Push collected metadata, lineage and query logs."),
    "gateway": (
        "goldsmith.cli.gateway:gateway",
        "Receive pushes: keys and received requests.",
    ),
    "applications": (
        "goldsmith.cli.applications:applications",
        "Applications whose raw records are stored: list, register, withdraw.",
    ),
    "raw": ("goldsmith.cli.raw:raw", "Raw records of applications: loads and what they stored."),
    "config": ("goldsmith.cli.config:config", "The settings of this process."),
}


class Commands(click.Group):
    """A group whose commands are loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False),
    help="The project's folder. Default: $GOLDSMITH_PROJECT, else the nearest goldsmith.toml.",
)
@click.option(
    "--env", "environment", help="The environment. Default: $GOLDSMITH_ENV, else the project's."
)
@click.version_option(package_name="goldsmith")
@click.pass_context
def goldsmith(ctx: click.Context, project: Path | None, environment: str | None) -> None:
    """Turn raw files into trusted gold tables, as declared in the rows of a catalog."""
    ctx.obj = CliContext(project=project, environment=environment)


def main() -> None:
    """Run a command: the only function that prints errors and sets exit codes."""
    try:
        _write_every_character()
        _refuse_odd_bytes(sys.argv[1:])
        code = goldsmith.main(standalone_mode=False)
        code = code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        echo("Interrupted.", err=True)
        code = 130
    except KeyboardInterrupt:
        echo("Interrupted.", err=True)
        code = 130
    except click.exceptions.NoArgsIsHelpError as help_:
        help_.show()
        code = 2
    except click.ClickException as error:
        wrong = _bad_request(error)
        report(wrong, as_json="--json" in sys.argv[1:])
        code = wrong.exit_code
    except GoldsmithError as error:
        report(error, as_json="--json" in sys.argv[1:])
        code = error.exit_code
    except BrokenPipeError:
        # The reader of the output closed the pipe, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _write_every_character() -> None:
    """Write UTF-8 to files and pipes; escape what the encoding of a terminal does not have."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _refuse_odd_bytes(arguments: list[str]) -> None:
    """Refuse arguments that are not UTF-8: no database can store such a name."""
    for argument in arguments:
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            readable = os.fsencode(argument).decode("utf-8", "backslashreplace")
            raise BadRequest(
                sentence=f"The argument '{readable}' is not text in UTF-8.",
                advice="Write names in UTF-8, whatever the terminal's own encoding is.",
            ) from None


def _bad_request(error: click.ClickException) -> BadRequest:
    """Convert a usage error of click to BadRequest."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = "goldsmith" if context is None else context.command_path
    advice = f"`{path} --help` says what it takes."
    return BadRequest(sentence=error.format_message(), advice=advice)
