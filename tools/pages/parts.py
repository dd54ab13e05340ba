"""The parts that read the rows, and which of them are not built yet."""

from __future__ import annotations

from collections.abc import Mapping

from goldsmith.cli.main import COMMANDS

#: A part, as `read_by` names it → the command by which people use it. A part without its command
#: is not built yet, whatever files there are; one that is not listed was there from the start.
PARTS: Mapping[str, str] = {
    "advice": "advice",
    "blast radius": "stop",
    "checks": "checks",
    "emitters": "emitters",
    "engine": "run",
    "gates": "run",
    "healing": "healing",
    "incidents": "incidents",
    "kill switch": "stop",
    "lineage": "lineage",
    "metrics": "metrics",
    "path search": "paths",
    "readers": "run",
    "scheduler": "serve",
    "worker": "run",
    "stages": "run",
    "throttle gate": "serve",
    "throttles": "throttles",
    "warehouses": "run",
    "writers": "run",
}


def is_built(part: str) -> bool:
    return part not in PARTS or PARTS[part] in COMMANDS


def marked(read_by: str) -> str:
    """The readers of a table, the ones that are not built yet in italics."""
    parts = read_by.split(", ")
    return ", ".join(part if is_built(part) else f"*{part}*" for part in parts)
