"""Pairs: which remedies an error code has, in which order, and what a row's words mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.healing.remedy import REMEDIES, Remedy

#: How often a remedy may be used in one request where its row does not say.
MAX_USES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One remedy of one error code."""

    error_code: str
    #: 1 stands in `healing_actions`, the others in `healing_steps`.
    step_order: int
    #: As the row says it.
    action: str
    settings: Mapping[str, Any]
    max_uses: int
    success_floor: float | None
    enabled: bool

    @property
    def remedy(self) -> Remedy:
        """The remedy the row's words mean."""
        return REMEDIES.get(_kind(self.action))

    @property
    def all_settings(self) -> Mapping[str, Any]:
        """The row's settings, and what its words themselves say."""
        kind = _kind(self.action)
        return self.settings if kind == self.action else {**self.settings, "action": self.action}


def all_pairs(rows: Snapshot) -> list[Pair]:
    """Every pair, by code and in order."""
    found: list[HealingAction | HealingStep] = [*rows.rows(HealingAction), *rows.rows(HealingStep)]
    pairs = [_pair(row) for row in found if row.action_script]
    return sorted(pairs, key=lambda pair: (pair.error_code, pair.step_order))


def pairs_of(code: str, pairs: Iterable[Pair]) -> list[Pair]:
    """The remedies of a code in order, then those of the codes it hands over to, each once."""
    known = list(pairs)
    return list(_following(code, known, set()))


def _following(code: str, pairs: list[Pair], seen: set[str]) -> Iterator[Pair]:
    seen.add(code)  # codes that hand over in a circle end here
    own = [pair for pair in pairs if pair.error_code == code and pair.enabled]
    yield from own
    for pair in own:
        then = pair.settings.get("then", ())
        for after in (then,) if isinstance(then, str) else then:
            if after not in seen:
                yield from _following(str(after), pairs, seen)


def _pair(row: HealingAction | HealingStep) -> Pair:
    return Pair(
        error_code=row.error_code,
        step_order=row.step_order if isinstance(row, HealingStep) else 1,
        action=str(row.action_script),
        settings=row.settings,
        max_uses=MAX_USES if row.max_uses is None else row.max_uses,
        success_floor=row.success_floor,
        enabled=row.enabled,
    )


def _kind(action: str) -> str:
    """The remedy of an action: one of ours by name, or one that asks somebody else."""
    if action in REMEDIES:
        return action
    if action.startswith("arn:"):
        return "lambda_function"
    if action.startswith(("https://", "http://")):
        return "webhook"
    if action.startswith("python:"):
        return "python"
    return "script"
