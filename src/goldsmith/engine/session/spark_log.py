"""The log of Spark and its JVM: a file of the project, never the terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from goldsmith.errors import BadRequest
from goldsmith.storage.storage import Storage

#: An entry starts with its time, as log4j2.properties writes it; other lines continue it.
_ENTRY = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z ")
_MOST_TAIL = 100_000


def path(storage: Storage) -> Path:
    """The file of Spark's log in a project."""
    return Path(storage.settings.project) / ".goldsmith" / "logs" / "spark.log"


def opened(file: Path) -> IO[bytes]:
    """The file, open for appending."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.open("ab")
    except OSError as error:
        sentence = f"Spark's log cannot be written to {file}: {error.strerror}."
        raise BadRequest(sentence=sentence) from error


def read(file: Path, since: datetime, until: datetime | None) -> list[dict[str, Any]]:
    """The entries between two times in the shape of `goldsmith.logs` lines, with stack traces."""
    found: list[dict[str, Any]] = []
    if not file.exists():
        return found
    shown = False
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if entry := _ENTRY.match(line):
                at = datetime.fromisoformat(entry[1]).replace(tzinfo=UTC)
                shown = since <= at and (until is None or at <= until)
                says = line[entry.end() :].rstrip()
                if shown:
                    found.append({"at": at.isoformat(), "level": "error", "who": "spark"})
                    found[-1] |= {"says": says, "facts": {}, "trace": ""}
            elif shown:
                found[-1]["trace"] += line
    return [{**log_entry, "trace": log_entry["trace"].rstrip()} for log_entry in found]


def reason(file: Path, start: int) -> str:
    """The line that tells why a JVM did not start."""
    with file.open("rb") as written:
        written.seek(start)
        lines = written.read(_MOST_TAIL).decode("utf-8", "replace").splitlines()
    telling = [line for line in lines if re.search(r"(?i)error|exception|invalid|not found", line)]
    return (telling or lines or ["Java wrote no reason"])[0].strip()
