"""Parse YAML and JSON into values that know their lines; limits guard against hostile files.

Scalars follow the YAML 1.2 core schema: `yes` and `no` are text, `12:30` is not 750, and a date
stays text. A text that would be read as another type is quoted when it is written, so that
everything `export` writes is read back unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

from goldsmith.errors import GoldsmithError

#: No catalog is nested deeper. libyaml itself stops at a thousand levels.
MOST_LEVELS = 64
#: How many values aliases may expand to: a YAML bomb makes a billion from ten lines.
MOST_ALIASED = 100_000
#: No catalog file is larger.
MOST_BYTES = 128 * 2**20
#: The name of standard input in a problem.
STDIN = "<stdin>"

_PAIR = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}", re.IGNORECASE)
_NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
#: The character Python decodes a byte to that is not UTF-8.
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One problem in a file, with its line."""

    file: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.sentence}"


@dataclass(eq=False, kw_only=True)
class BadFiles(GoldsmithError):
    """Files cannot be read as a catalog; the error lists every problem."""

    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        several = f"{len(self.problems)} problems" if len(self.problems) > 1 else "A problem"
        return f"{several} in the files:\n" + "\n".join(f"  {p}" for p in self.problems)

    @property
    def hint(self) -> str:
        return "`goldsmith catalog schema` prints a JSON Schema that editors complete from."


class Listed(list[Any]):
    """A list that knows the line of each of its values."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


class PositionedMapping(dict[str, Any]):
    """A mapping that knows its line and the line of each of its keys."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class _Unreadable(Exception):
    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.problem = (line, sentence)


def read(text: str, file: str) -> tuple[list[Any], list[Problem]]:
    """The documents of a text, and its problems."""
    problems: list[Problem] = []
    try:
        if file.endswith(".json") or (file == STDIN and text.lstrip().startswith("{")):
            # JSON may be indented by tabs, which YAML forbids outside strings. JSON writes
            # characters beyond the first 65,536 as two escapes, and allows characters that YAML
            # takes for line breaks.
            text = _PAIR.sub(lambda pair: json.loads(f'"{pair[0]}"'), text.replace("\t", " "))
            text = _NOT_YAML.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)
        text.encode("utf-8")
        builder = _Builder(problems, file)
        return list(builder.documents(yaml.parse(text, Loader=yaml.CSafeLoader))), problems
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        sentence = "a character here is half of one (a lone surrogate)"
        if _STRAY_BYTE.match(text, error.start):
            sentence = "this is not text in UTF-8"
        return [], [Problem(file=file, line=line, sentence=sentence)]
    except _Unreadable as error:
        line, sentence = error.problem
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = (mark.line if mark else 0) + 1
        sentence = f"this is not YAML: {error.problem or error.context}"
    except yaml.YAMLError as error:
        line, sentence = 1, f"this is not YAML: {str(error).splitlines()[0]}"
    return [], [*problems, Problem(file=file, line=line, sentence=sentence)]


class _Builder:
    """Builds values from YAML events, without recursion."""

    def __init__(self, problems: list[Problem], file: str) -> None:
        self.problems = problems
        self.file = file
        self.anchors: dict[str, Any] = {}
        self.aliased = 0

    def documents(self, events: Iterator[Any]) -> Iterator[Any]:
        stack: list[Any] = []
        keys: list[tuple[str, int] | None] = []
        anchors: list[str | None] = []
        for event in events:
            if isinstance(event, yaml.ScalarEvent):
                value = self._scalar(event)
                if event.anchor:
                    self.anchors[event.anchor] = value
            elif isinstance(event, yaml.AliasEvent):
                value = self._alias(event)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                if len(stack) >= MOST_LEVELS:
                    raise _Unreadable(_line(event), f"nested more than {MOST_LEVELS} levels deep")
                mapping = isinstance(event, yaml.MappingStartEvent)
                stack.append(PositionedMapping(_line(event)) if mapping else Listed())
                keys.append(None)
                anchors.append(event.anchor)
                continue
            elif isinstance(event, yaml.CollectionEndEvent):
                value = stack.pop()
                keys.pop()
                anchor = anchors.pop()
                if anchor:
                    self.anchors[anchor] = value
            elif isinstance(event, yaml.DocumentStartEvent):
                self.anchors.clear()
                continue
            else:
                continue
            if not stack:
                yield value
            elif isinstance(stack[-1], Listed):
                stack[-1].append(value)
                # The event is the end of a mapping or list; a mapping knows the line it starts on.
                stack[-1].lines.append(getattr(value, "line", _line(event)))
            elif keys[-1] is None:
                keys[-1] = self._key(event, value)
            else:
                self._put(stack[-1], keys[-1], value)
                keys[-1] = None

    def _key(self, event: Any, value: Any) -> tuple[str, int]:
        if not isinstance(event, yaml.ScalarEvent):
            raise _Unreadable(_line(event), "a key has to be a word")
        return event.value, _line(event)

    def _put(self, mapping: PositionedMapping, key: tuple[str, int], value: Any) -> None:
        name, line = key
        if name in mapping:
            self.problems.append(
                Problem(
                    file=self.file,
                    line=line,
                    sentence=(
                        f"'{short(name)}' is defined twice; first in line {mapping.lines[name]}"
                    ),
                )
            )
            return
        mapping[name] = value
        mapping.lines[name] = line

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            raise _Unreadable(_line(event), f"the tag {short(event.tag)} has no meaning here")
        if not event.implicit[0] or event.tag is not None:
            return text
        return _meaning(text)

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            name = short(event.anchor)
            raise _Unreadable(_line(event), f"nothing is called &{name} before this")
        value = self.anchors[event.anchor]
        self.aliased += _size(value, MOST_ALIASED)
        if self.aliased > MOST_ALIASED:
            raise _Unreadable(_line(event), "aliases stand for too many values")
        return value


def _meaning(text: str) -> Any:
    """The value of an unquoted text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[:1] in "-+.0123456789" and len(text) <= 400:
        if _INT.match(text):
            return int(text)
        if _FLOAT.match(text):
            return float(text)
    return text


def short(text: str) -> str:
    """A text cut to 60 characters for messages."""
    return text if len(text) <= 60 else f"{text[:57]}…"


def _size(value: Any, most: int) -> int:
    """How many values a value contains, counted up to the limit."""
    counted, waiting = 0, [value]
    while waiting and counted <= most:
        counted += 1
        inner = waiting.pop()
        if isinstance(inner, dict):
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
    return counted


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Writer(yaml.CSafeDumper):
    """Writes YAML that `read` reads back unchanged, with SQL as a readable block."""


def _write_text(writer: _Writer, text: str) -> yaml.ScalarNode:
    lines = text.split("\n")
    readable = len(lines) > 1 and text.isascii() and text.replace("\n", "").isprintable()
    neat = readable and not any(line != line.rstrip() for line in lines) and text == text.lstrip()
    style = "|" if neat else None if isinstance(_meaning(text), str) else "'"
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _write_text)


def write(document: Any) -> str:
    """A document as YAML."""
    if not document:
        return ""
    text: str = yaml.dump(document, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=100)
    return text


def files_of(paths: Sequence[str], stdin: Any) -> Iterator[tuple[str, str]]:
    """Name and text of each file: of files, of all files in folders, of standard input (`-`)."""
    for path in paths:
        if path == "-":
            bytes_of = getattr(stdin, "buffer", None)
            yield STDIN, stdin.read() if bytes_of is None else _decoded(_limited(bytes_of, STDIN))
            continue
        folder = Path(path)
        try:
            found = _in_folder(folder) if folder.is_dir() else [folder]
            if not found:
                raise NothingInFolder(path=path)
            texts = [(str(file), _decoded(_content(file))) for file in found]
        except OSError as error:
            raise FileMissing(path=str(error.filename or path)) from error
        yield from texts


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        return _limited(stream, str(file))


def _limited(stream: IO[bytes], name: str) -> bytes:
    """The content of a file; refuses one that is too large, such as an endless device."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        sentence = f"this is larger than {MOST_BYTES // 2**20} MB: split it into several files"
        raise BadFiles(problems=(Problem(file=name, line=1, sentence=sentence),))
    return content


def _decoded(content: bytes) -> str:
    """The text of a file; bytes that are not UTF-8 stay, so that `read` reports their line."""
    return content.decode("utf-8-sig", "surrogateescape")


def _in_folder(folder: Path) -> list[Path]:
    return sorted(
        file
        for ending in ("*.yaml", "*.yml", "*.json")
        for file in folder.rglob(ending)
        if file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


@dataclass(eq=False, kw_only=True)
class NothingInFolder(GoldsmithError):
    """The given folder contains no catalog file."""

    path: str

    def __str__(self) -> str:
        return f"There is no catalog file in '{self.path}': none ends in .yaml, .yml or .json."

    @property
    def hint(self) -> str:
        return "Name the folder that holds them, or the files. Hidden folders are passed over."


@dataclass(eq=False, kw_only=True)
class FileMissing(GoldsmithError):
    """The given file cannot be read."""

    path: str

    def __str__(self) -> str:
        return f"There is no file or folder '{self.path}' that can be read."

    @property
    def hint(self) -> str:
        return "Name files, folders, or - for standard input."
