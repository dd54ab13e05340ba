"""Parse the JSON answer of a script, webhook or function into a decision."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from goldsmith.errors import GoldsmithError, plain_facts
from goldsmith.healing.failure import Decision, DecisionKind

#: The retry overrides an answer may set for the next attempt; any other key is refused.
ADJUSTABLE = frozenset(
    (
        *("schema_policy", "files_at_once", "deduplicate", "quarantine", "spark", "lock"),
        *("rebuild", "roll_back", "skip", "at_once", "fresh"),
    )
)
_LONGEST = 64 * 1024


@dataclass(eq=False, kw_only=True)
class BadAnswer(GoldsmithError):
    """A script, webhook or function failed or gave an answer that is no decision."""

    remedy: str
    cause: str

    def __str__(self) -> str:
        return f"The remedy '{self.remedy}' gave no decision: {self.cause}"

    @property
    def hint(self) -> str:
        return 'It answers with JSON: {"do": "rerun", "because": "…"}; null where it has none.'


def decision_of(text: str, remedy: str, hide: Callable[[str], str] = str) -> Decision | None:
    """The decision in an answer, with secrets redacted; None for an empty answer or null."""
    if not text.strip():
        return None
    if len(text) > _LONGEST:
        raise BadAnswer(remedy=remedy, cause=f"it is longer than {_LONGEST // 1024} KiB")
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise BadAnswer(remedy=remedy, cause=f"it is no JSON ({error})") from error
    return None if answer is None else _decision(plain_facts(answer, hide), remedy)


def _decision(answer: Any, remedy: str) -> Decision:
    if not isinstance(answer, dict):
        raise BadAnswer(remedy=remedy, cause="it is no JSON object")
    try:
        do = DecisionKind(str(answer.get("do", "rerun")))
        wait = answer.get("after_seconds")
        after = None if wait is None else timedelta(seconds=max(float(wait), 0))
    except (ValueError, TypeError, OverflowError) as error:
        raise BadAnswer(remedy=remedy, cause=str(error)) from error
    adjust = answer.get("adjust", {})
    if not isinstance(adjust, Mapping) or not adjust.keys() <= ADJUSTABLE:
        known = ", ".join(sorted(ADJUSTABLE))
        raise BadAnswer(remedy=remedy, cause=f"adjust may hold {known}")
    files = answer.get("files_aside", [])
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise BadAnswer(remedy=remedy, cause="files_aside is a list of addresses")
    return Decision(
        do=do,
        because=str(answer.get("because") or f"{remedy} says so"),
        after=after,
        adjust=dict(adjust),
        files_aside=tuple(files),
    )
