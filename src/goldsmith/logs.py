"""Log lines in one shape: time, level, logger, message, and facts by name."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from goldsmith.errors import BadRequest, plain_facts

ROOT = "goldsmith"


def start(
    *, level: str, as_json: bool, file: Path | None = None, hide: Callable[[str], str] = str
) -> logging.Handler:
    """Write log lines to standard error or a file; `hide` redacts secrets from every text."""
    handler = logging.StreamHandler() if file is None else _to(file)
    handler.setFormatter(Lines(as_json=as_json, hide=hide))
    root = logging.getLogger(ROOT)
    for old in list(root.handlers):
        stop(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    # Libraries may configure the root logger, which would write every line twice.
    root.propagate = False
    return handler


def stop(handler: logging.Handler) -> None:
    """Flush the handler and close its file."""
    logging.getLogger(ROOT).removeHandler(handler)
    handler.close()


def line(logger: logging.Logger, level: int, says: str, **facts: object) -> None:
    """Log a sentence, with its names and numbers as facts."""
    logger.log(level, "%s", says, extra={"facts": facts})


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log file; a partial line of a killed process is skipped."""
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
    """End the partial line that a killed process may have left."""
    if not file.is_file():  # missing, a device or a pipe
        return
    with file.open("ab+") as written:
        size = written.seek(0, os.SEEK_END)
        written.seek(max(size - 1, 0))
        if written.read(1) not in (b"", b"\n"):
            written.write(b"\n")


class Lines(logging.Formatter):
    """Format a record as one JSON object, or as a line of text."""

    def __init__(self, *, as_json: bool, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._as_json, self._hide = as_json, hide

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        level, who = record.levelname.lower(), record.name.removeprefix(f"{ROOT}.")
        says, facts = (
            self._hide(record.getMessage()),
            plain_facts(getattr(record, "facts", {}), self._hide),
        )
        trace = self._hide(self.formatException(record.exc_info)) if record.exc_info else None
        if self._as_json:
            whole = {"at": at.isoformat(), "level": level, "who": who, "says": says, "facts": facts}
            return json.dumps(whole | ({"trace": trace} if trace else {}), ensure_ascii=False)
        suffix = "".join(f"  {name}={value}" for name, value in facts.items())
        return f"{at:%H:%M:%S} {level:7} {who}: {says}{suffix}" + (f"\n{trace}" if trace else "")
