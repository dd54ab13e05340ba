"""The remedies a row may name, with the settings of each.

Healing, which has them as functions, is no layer below this one; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import Snapshot

#: Remedy → setting → the values it takes.
REMEDIES: Mapping[str, Mapping[str, Any]] = {
    "deduplicate": {"keys": Sequence[str] | None},
    "evolve_schema": {"even_if_frozen": bool},
    "more_partitions": {"times": int},
    "new_session": {"limit": int},
    "open_incident": {},
    "plan_again": {},
    "quarantine_files": {},
    "quarantine_rows": {},
    "rebuild_branch": {},
    "refresh_credentials": {"limit": int},
    "reread_files": {"wait_seconds": float},
    "retry_later": {"wait_seconds": float | None, "limit": int},
    "roll_back": {},
    "serialise_on_target": {},
    "skip_optional": {},
    "slow_down": {"wait_seconds": float, "limit": int},
    "smaller_batches": {"files_at_once": int},
    "spill_less": {"files_at_once": int},
    "wait_for_lock": {"wait_seconds": float | None, "end_blocker_after": int | None},
    "wait_for_warehouse": {"wait_seconds": float, "limit": int},
}
#: What asks somebody else is told by how its words begin; a script by nothing.
OUTSIDE: Mapping[str, Mapping[str, Any]] = {
    "lambda_function": {"seconds": float},
    "python": {},
    "script": {"seconds": float, "environment": Mapping[str, str] | None},
    "webhook": {"seconds": float, "headers": Mapping[str, str] | None},
}
_BEGINS = {"arn:": "lambda_function", "https://": "webhook", "http://": "webhook"}
#: A command without a path or words after it; nobody could tell it from a misspelt remedy.
_BARE = re.compile(r"[A-Za-z]\w*")
_PLUGINS = "goldsmith.healing.remedies"


def pairs(rows: Snapshot) -> Iterator[HealingAction | HealingStep]:
    """Every row that names a remedy."""
    every: list[HealingAction | HealingStep] = [*rows.rows(HealingAction), *rows.rows(HealingStep)]
    yield from (row for row in every if row.action_script)


def kind_of(action: str) -> str | None:
    """The remedy that a row's words mean; None where they are a name that nothing has."""
    if action in REMEDIES:
        return action
    for begins, kind in {**_BEGINS, "python:": "python"}.items():
        if action.startswith(begins):
            return kind
    if _BARE.fullmatch(action) is None:
        return "script"
    return "plugin" if entry_points(group=_PLUGINS, name=action) else None


def settings_of(kind: str) -> Mapping[str, Any] | None:
    """The settings of a remedy; None of one that somebody plugged in."""
    return REMEDIES.get(kind, OUTSIDE.get(kind))
