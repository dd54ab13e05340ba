"""`goldsmith`: verbs people use daily stand alone, the rest is noun, then verb.

Every command is imported only when it is called, so that `goldsmith status` answers at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import click

from goldsmith.cli.output import Door, report
from goldsmith.errors import GoldsmithError

#: command → where it is, and what it does, in the order people meet them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("goldsmith.cli.init:init", "Make a project."),
    "demo": ("goldsmith.cli.demo:demo", "Make a project with data in it and run it."),
    "diff": ("goldsmith.cli.apply:diff", "What applying files would change."),
    "apply": ("goldsmith.cli.apply:apply", "Make the catalog say what the files say."),
    "plan": ("goldsmith.cli.plan:plan", "What would run, and why."),
    "run": ("goldsmith.cli.run:run", "Run what is selected."),
    "stop": ("goldsmith.cli.flags:stop", "Stop anything, running or not, by a row."),
    "release": ("goldsmith.cli.flags:release", "Take a stop back."),
    "status": ("goldsmith.cli.status:status", "What runs, waits and failed, now."),
    "why": ("goldsmith.cli.why:why", "Why something runs, waits, was stopped or failed."),
    "catalog": ("goldsmith.cli.catalog:catalog", "The declared rows: show, check, history, undo."),
    "datasets": ("goldsmith.cli.datasets:datasets", "What each dataset holds."),
    "checks": ("goldsmith.cli.checks:checks", "The checks there are; try rules out on rows."),
    "runs": ("goldsmith.cli.runs:runs", "What was carried out."),
    "quarantine": ("goldsmith.cli.quarantine:quarantine", "Rows that were kept aside."),
    "flags": ("goldsmith.cli.flags:flags", "The rows that stop things."),
    "incidents": ("goldsmith.cli.incidents:incidents", "What people have to see to."),
    "healing": ("goldsmith.cli.healing:healing", "Remedies, and what they did."),
    "errors": ("goldsmith.cli.errors:errors", "The codes of errors, and what to do."),
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
    """Turn raw files into trusted gold tables, as the rows of a catalog say."""
    ctx.obj = Door(project=project, environment=environment)


def main() -> None:
    """The one place where errors are printed and exit codes are given."""
    # Not sys.exit at the end: a library's thread must not change what we answer.
    try:
        code = goldsmith.main(standalone_mode=False)
        code = code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        code = 130
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except GoldsmithError as error:
        report(error, as_json="--json" in sys.argv[1:])
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
