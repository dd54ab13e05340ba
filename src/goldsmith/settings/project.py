"""A project: a folder with a goldsmith.toml; reads the file with the line of each key."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from goldsmith.settings.errors import BadSettings, NoProject

FILE_NAME = "goldsmith.toml"

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_PARTS = re.compile(_PART)
_LONG_QUOTE = re.compile(r'"""|\'\'\'')


@dataclass(frozen=True, kw_only=True)
class ProjectFile:
    """The content of a goldsmith.toml."""

    path: Path
    table: Mapping[str, object]
    #: Dotted name of a table or key → its line; `a."b.c"` and `a.b.c` are the same name.
    lines: Mapping[str, int]

    @property
    def folder(self) -> Path:
        return self.path.parent

    def position(self, name: str) -> str:
        """`goldsmith.toml:7`: the line of a key, or of the table that contains it."""
        while name and name not in self.lines:
            name = name.rpartition(".")[0]
        return f"{FILE_NAME}:{self.lines[name]}" if name else FILE_NAME


def find(environ: Mapping[str, str], project: Path | None, cwd: Path) -> Path:
    """The goldsmith.toml to use: of the given folder, else the nearest in or above `cwd`."""
    named = project or environ.get("GOLDSMITH_PROJECT")
    if named:
        folder = Path(os.path.abspath(cwd / Path(named).expanduser()))
        if not (folder / FILE_NAME).is_file():
            origin = "--project" if project else "$GOLDSMITH_PROJECT"
            raise NoProject(looked=f"{folder} ({origin})")
        return folder / FILE_NAME
    here = Path(os.path.abspath(cwd))
    for folder in (here, *here.parents):
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
    raise NoProject(looked=f"{here} or any folder above it")


def read(path: Path) -> ProjectFile:
    """The file's tables, with the line of every key."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = f"{FILE_NAME} is not valid TOML: {error}."
        raise BadSettings(file=str(path), problems=(problem,)) from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        problem = f"{FILE_NAME} cannot be read: {error}."
        raise BadSettings(file=str(path), problems=(problem,)) from error
    return ProjectFile(path=path, table=table, lines=dict(_lines(text)))


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Each table and key with its line; tomllib does not give lines."""
    at = ""
    inside_long_text = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside_long_text:
            if header := _HEADER.match(line):
                at = _name(header[1])
                yield at, number
            elif key := _KEY.match(line):
                yield f"{at}.{_name(key[1])}".lstrip("."), number
        if len(_LONG_QUOTE.findall(line)) % 2:
            inside_long_text = not inside_long_text


def _name(dotted: str) -> str:
    return ".".join(part[1:-1] if part[0] in "\"'" else part for part in _PARTS.findall(dotted))
