"""Answers of scripts, webhooks and functions: JSON that says a decision."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.healing.failure import Decision, Do

#: What an answer may ask of the next attempt; anything else is refused.
ADJUSTABLE = frozenset(
    (
        *("schema_policy", "files_at_once", "deduplicate", "quarantine", "spark", "lock"),
        *("rebuild", "roll_back", "skip", "at_once", "fresh"),
    )
)
_LONGEST = 64 * 1024


@dataclass(eq=False, kw_only=True)
class BadAnswer(GoldsmithError):
    """A script, webhook or function gave an answer that is no decision."""

    remedy: str
    cause: str

    def __str__(self) -> str:
        return f"The remedy '{self.remedy}' gave no decision: {self.cause}"

    @property
    def hint(self) -> str:
        return 'It answers with JSON: {"do": "rerun", "because": "…"}; null where it has none.'


def decision_of(text: str, remedy: str) -> Decision | None:
    """The decision an answer says; nothing, or null, is none."""
    if not text.strip():
        return None
    if len(text) > _LONGEST:
        raise BadAnswer(remedy=remedy, cause=f"it is longer than {_LONGEST // 1024} KiB")
    try:
        said = json.loads(text)
    except ValueError as error:
        raise BadAnswer(remedy=remedy, cause=f"it is no JSON ({error})") from error
    return None if said is None else _decision(said, remedy)


def _decision(said: Any, remedy: str) -> Decision:
    if not isinstance(said, dict):
        raise BadAnswer(remedy=remedy, cause="it is no JSON object")
    try:
        do = Do(str(said.get("do", "rerun")))
        wait = said.get("after_seconds")
        after = None if wait is None else timedelta(seconds=max(float(wait), 0))
    except (ValueError, TypeError, OverflowError) as error:
        raise BadAnswer(remedy=remedy, cause=str(error)) from error
    adjust = said.get("adjust", {})
    if not isinstance(adjust, Mapping) or not adjust.keys() <= ADJUSTABLE:
        known = ", ".join(sorted(ADJUSTABLE))
        raise BadAnswer(remedy=remedy, cause=f"adjust may hold {known}")
    files = said.get("files_aside", [])
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise BadAnswer(remedy=remedy, cause="files_aside is a list of addresses")
    return Decision(
        do=do,
        because=str(said.get("because") or f"{remedy} says so"),
        after=after,
        adjust=dict(adjust),
        files_aside=tuple(files),
    )
