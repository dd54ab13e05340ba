"""Shared by all commands: opening the project, text or JSON output, errors, questions."""

from __future__ import annotations

import getpass
import json
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

import click

from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.errors import count as count

if TYPE_CHECKING:
    from goldsmith.runtime import Runtime


@dataclass
class CliContext:
    """The project and environment given on the command line; opens the project when used."""

    project: Path | None = None
    environment: str | None = None
    _runtime: Runtime | None = field(default=None, repr=False)

    @property
    def runtime(self) -> Runtime:
        """The open project."""
        if self._runtime is None:
            from goldsmith.runtime import Runtime

            self._runtime = Runtime.open(self.project, self.environment)
            click.get_current_context().call_on_close(self._runtime.close)
        return self._runtime


pass_cli = click.make_pass_decorator(CliContext)

#: No option takes a larger number: databases and Spark count rows to read in 31 bits.
LARGEST = 2**31 - 1
#: No command reads more of one file: enough for any declaration, and devices have no end.
MOST_BYTES = 128 * 2**20
#: How many of something, at least one.
how_many = click.IntRange(min=1, max=LARGEST)
#: A revision of the catalog.
a_revision = click.IntRange(min=0, max=LARGEST)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")


#: Replaces the ESC of our own styles until the text is written: no value can contain it.
_STYLED = f"\0{secrets.token_hex(8)}\0"
#: Fields of errors that are sentences, some of several lines, and no names.
_TEXTS = ("advice", "because", "cause", "message", "problem", "problems", "sentence", "text")
#: Characters that join letters and emoji in legitimate names, and hide nothing.
_JOINERS = "\u200c\u200d"


def visible(text: str, *, keep: str = "") -> str:
    """A text with control characters (ESC, line ends, direction marks) escaped as `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if _obeyed(character) and character not in keep
        else character
        for character in text
    )


def _obeyed(character: str) -> bool:
    return character not in _JOINERS and category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def style(text: str, **how: Any) -> str:
    """A styled text, for `echo`."""
    return click.style(visible(text), **how).replace("\x1b", _STYLED)


def echo(text: object = "", *, err: bool = False, nl: bool = True, keep: str = "") -> None:
    """Write one line; `keep="\\n"` leaves the line ends of the text unescaped."""
    parts = str(text).split(_STYLED)
    click.echo("\x1b".join(visible(part, keep=keep) for part in parts), err=err, nl=nl)


def write_text(text: str) -> None:
    """Write a text meant for a file: unchanged to a pipe, escaped to a terminal."""
    click.echo(visible(text, keep="\n") if sys.stdout.isatty() else text, nl=False)


def save_text(file: Path, text: str) -> None:
    """Write a text to the file that an option names; raises BadRequest if that is impossible."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(
            sentence=f"{file} cannot be written: {error.strerror or error}.",
            advice="Name a file in a folder that you may write to.",
        ) from error


def show(as_json: bool, value: Any, text: Callable[[], None]) -> None:
    """Print one JSON value, or call `text` to print text."""
    if as_json:
        print_json(value)
    else:
        text()


def print_json(value: Any) -> None:
    click.echo(visible_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)))


def visible_json(text: str) -> str:
    """JSON with control characters as JSON escapes: its value stays the same."""
    return re.sub(
        r"[^\n\x20-\x7e]", lambda odd: json.dumps(odd[0])[1:-1] if _obeyed(odd[0]) else odd[0], text
    )


def report(error: GoldsmithError, *, as_json: bool) -> None:
    """Print an error as text or JSON."""
    if as_json:
        fields = {
            "code": error.code,
            "sentence": str(error),
            "hint": error.hint,
            "transient": error.transient,
            "facts": dict(error.facts),
        }
        text = json.dumps({"error": fields}, ensure_ascii=False, default=str)
        click.echo(visible_json(text))
        return
    sentence, hint = (_names_in_one_line(text, error) for text in (f"{error}", error.hint or ""))
    echo(style("Error: ", fg="red", bold=True) + sentence, err=True, keep="\n")
    echo(
        (f"  {hint}  " if hint else "   ") + style(f"[{error.code}]", dim=True), err=True, keep="\n"
    )


def _names_in_one_line(text: str, error: GoldsmithError) -> str:
    """An error's text in which a name with a line end does not begin a line of its own."""
    for field_name, value in error.facts.items():
        if field_name in _TEXTS:
            continue
        for name in value if isinstance(value, list | tuple) else (value,):
            if isinstance(name, str) and "\n" in name:
                text = text.replace(name, visible(name))
    return text


def confirm(question: str, *, yes: bool) -> bool:
    """Ask for confirmation unless `yes`; raises NobodyToAsk without a terminal."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise NobodyToAsk(question=question)
    return click.confirm(visible(question), default=False)


def whoami() -> str:
    """The current user, for the history."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, indent: int = 0) -> None:
    """Print rows under column names, each column as wide as its longest value."""
    cells = [["" if cell is None else visible(str(cell)) for cell in row] for row in rows]
    columns = [visible(column) for column in columns]
    widths = [
        max([len(name), *(len(row[index]) for row in cells)]) for index, name in enumerate(columns)
    ]
    pad = " " * indent
    echo(pad + style(_line(columns, widths), bold=True))
    for row in cells:
        echo(pad + _line(row, widths))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def read_text(file: Path, *, most: int = MOST_BYTES) -> str:
    """The text of a file that an argument names; raises BadRequest if it is none or endless."""
    try:
        with file.open("rb") as stream:
            content = stream.read(most + 1)
        if len(content) > most:
            raise TooLarge(file=str(file), megabytes=most >> 20)
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error) from error


def unreadable(file: Path, error: Exception) -> BadRequest:
    """The error for a given file that is missing, not UTF-8, or not YAML."""
    mark = getattr(error, "problem_mark", None)
    if isinstance(error, OSError):
        reason, advice = str(error.strerror), "Name a file that is there and may be read."
    elif isinstance(error, UnicodeDecodeError):
        reason, advice = "it is not text in UTF-8", "Save it as UTF-8."
    elif mark is not None:
        problem = getattr(error, "problem", None) or "something is wrong"
        reason = f"it is not YAML or JSON: {problem}"
        return BadRequest(
            sentence=f"{file}:{mark.line + 1}: {reason}.", advice="Correct that line."
        )
    else:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        reason, advice = f"it is not YAML or JSON: {first}", "Correct the file."
    return BadRequest(sentence=f"{file} cannot be read: {reason}.", advice=advice)


@dataclass(eq=False, kw_only=True)
class TooLarge(GoldsmithError):
    """A file is larger than a command reads, or has no end, as a device."""

    file: str
    megabytes: int

    def __str__(self) -> str:
        return f"{self.file} is larger than {self.megabytes} MB."

    @property
    def hint(self) -> str:
        return "Name a smaller file, or split it into several."


@dataclass(eq=False, kw_only=True)
class NobodyToAsk(GoldsmithError):
    """A command needs a confirmation, and standard input is not a terminal."""

    question: str

    def __str__(self) -> str:
        return f"Nobody can answer: {self.question}"

    @property
    def hint(self) -> str:
        return "Say --yes to go ahead."
