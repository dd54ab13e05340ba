"""The parts that read the rows, and which of them are not built yet."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

#: A part, as `read_by` names it → the module that carries it out.
PARTS: Mapping[str, str] = {
    "advice": "goldsmith.advice",
    "blast radius": "goldsmith.lineage.impact",
    "emitters": "goldsmith.emitters",
    "engine": "goldsmith.engine.run",
    "gates": "goldsmith.scheduling.gates",
    "healing": "goldsmith.healing",
    "incidents": "goldsmith.journal.incidents",
    "kill switch": "goldsmith.scheduling.kill_switch",
    "lineage": "goldsmith.lineage",
    "metrics": "goldsmith.metrics",
    "path search": "goldsmith.lineage.paths",
    "readers": "goldsmith.engine.readers",
    "scheduler": "goldsmith.scheduling.loop",
    "scheduling": "goldsmith.scheduling.loop",
    "throttles": "goldsmith.scheduling.throttle",
    "warehouses": "goldsmith.engine.warehouses",
    "writers": "goldsmith.engine.writers",
}


def is_built(part: str) -> bool:
    """The part has code; a part that is not listed is one of those there from the start."""
    if part not in PARTS:
        return True
    try:
        return find_spec(PARTS[part]) is not None
    except ModuleNotFoundError:
        return False


def marked(read_by: str) -> str:
    """The readers of a table, the ones that are not built yet in italics."""
    parts = read_by.split(", ")
    return ", ".join(part if is_built(part) else f"*{part}*" for part in parts)
