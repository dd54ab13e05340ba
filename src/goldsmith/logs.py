"""Log lines, one shape for all: when, how bad, who says what, and the facts by name."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from goldsmith.errors import BadRequest

ROOT = "goldsmith"


def start(
    *, level: str, as_json: bool, file: Path | None = None, hide: Callable[[str], str] = str
) -> logging.Handler:
    """Send our lines to standard error or a file; `hide` takes secrets out of every text."""
    handler = logging.StreamHandler() if file is None else _to(file)
    handler.setFormatter(Lines(as_json=as_json, hide=hide))
    root = logging.getLogger(ROOT)
    for old in list(root.handlers):
        stop(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    # Libraries set up the topmost logger, which would write every line a second time.
    root.propagate = False
    return handler


def stop(handler: logging.Handler) -> None:
    """Write what is left and let go of the file."""
    logging.getLogger(ROOT).removeHandler(handler)
    handler.close()


def line(logger: logging.Logger, level: int, says: str, **facts: object) -> None:
    """One line: a sentence, and the names and numbers in it as facts."""
    logger.log(level, "%s", says, extra={"facts": facts})


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file; half of one, left by a process that was killed, is passed over."""
    if not file.exists():
        return
    with file.open(encoding="utf-8", errors="replace") as lines:
        for text in lines:
            try:
                found = json.loads(text)
            except ValueError:
                continue
            if isinstance(found, dict) and isinstance(found.get("facts"), dict):
                yield found


def _to(file: Path) -> logging.Handler:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _end_last_line(file)
        return logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise BadRequest(sentence=f"No log can be written to {file}: {error.strerror}.") from error


def _end_last_line(file: Path) -> None:
    """A process that was killed may have left half a line: what comes next is not part of it."""
    if not file.is_file():  # there is none, or it is a device or a pipe
        return
    with file.open("ab+") as written:
        size = written.seek(0, os.SEEK_END)
        written.seek(max(size - 1, 0))
        if written.read(1) not in (b"", b"\n"):
            written.write(b"\n")


class Lines(logging.Formatter):
    """A record as one JSON object, or as a line for people."""

    def __init__(self, *, as_json: bool, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._as_json, self._hide = as_json, hide

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        level, who = record.levelname.lower(), record.name.removeprefix(f"{ROOT}.")
        says, facts = self._hide(record.getMessage()), self._plain(getattr(record, "facts", {}))
        trace = self._hide(self.formatException(record.exc_info)) if record.exc_info else None
        if self._as_json:
            whole = {"at": at.isoformat(), "level": level, "who": who, "says": says, "facts": facts}
            return json.dumps(whole | ({"trace": trace} if trace else {}), ensure_ascii=False)
        told = "".join(f"  {name}={value}" for name, value in facts.items())
        return f"{at:%H:%M:%S} {level:7} {who}: {says}{told}" + (f"\n{trace}" if trace else "")

    def _plain(self, value: Any) -> Any:
        """A fact as JSON takes it; hidden before quoting, which would disguise a secret."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, Mapping):
            return {self._hide(str(key)): self._plain(one) for key, one in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._plain(one) for one in value]
        return self._hide(str(value))
