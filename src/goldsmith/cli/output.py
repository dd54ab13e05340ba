"""What commands share: the door to the project, text or JSON, errors, questions."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from goldsmith.runtime import Runtime


@dataclass
class Door:
    """Where the project is, as it was said on the command line; parts are opened when used."""

    project: Path | None = None
    environment: str | None = None
    _runtime: Runtime | None = field(default=None, repr=False)

    @property
    def runtime(self) -> Runtime:
        """The open parts of the project."""
        if self._runtime is None:
            from goldsmith.runtime import Runtime

            self._runtime = Runtime.open(self.project, self.environment)
            click.get_current_context().call_on_close(self._runtime.close)
        return self._runtime


pass_door = click.make_pass_decorator(Door)

json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def show(as_json: bool, value: Any, text: Callable[[], None]) -> None:
    """Answer as one JSON value, or in words."""
    if as_json:
        print_json(value)
    else:
        text()


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def report(error: GoldsmithError, *, as_json: bool) -> None:
    """An error, for a person or a program."""
    if as_json:
        click.echo(
            json.dumps(
                {
                    "error": {
                        "code": error.code,
                        "sentence": str(error),
                        "hint": error.hint,
                        "transient": error.transient,
                        "facts": dict(error.facts),
                    }
                },
                ensure_ascii=False,
                default=str,
            )
        )
        return
    click.echo(click.style("Error: ", fg="red", bold=True) + f"{error}", err=True)
    hint = f"  {error.hint}" if error.hint else " "
    click.echo(f"{hint}  " + click.style(f"[{error.code}]", dim=True), err=True)


def confirm(question: str, *, yes: bool) -> bool:
    """Ask, unless told not to; where nobody can answer, the answer is no."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise NobodyToAsk(question=question)
    return click.confirm(question, default=False)


def whoami() -> str:
    """Who is at the keyboard, for the history."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, indent: int = 0) -> None:
    """Rows under their columns' names, no wider than they need to be."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [
        max([len(name), *(len(row[place]) for row in cells)]) for place, name in enumerate(columns)
    ]
    pad = " " * indent
    click.echo(pad + click.style(_line(columns, widths), bold=True))
    for row in cells:
        click.echo(pad + _line(row, widths))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


@dataclass(eq=False, kw_only=True)
class NobodyToAsk(GoldsmithError):
    """A command has to ask, and there is nobody at the keyboard."""

    question: str

    def __str__(self) -> str:
        return f"Nobody can answer: {self.question}"

    @property
    def hint(self) -> str:
        return "Say --yes to go ahead."
