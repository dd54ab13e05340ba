"""Pairs: the remedies of each error code in order, read from the catalog rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.healing.remedy import REMEDIES, Remedy
from goldsmith.planning.integrity.remedies import needs_permission

#: How often a remedy may be used in one request, unless its row sets `max_uses`.
MAX_USES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One remedy of one error code."""

    error_code: str
    #: 1 for a row of `healing_actions`; rows of `healing_steps` have their own.
    step_order: int
    #: `action_script` of the row.
    action: str
    settings: Mapping[str, Any]
    max_uses: int
    success_floor: float | None
    enabled: bool
    #: The remedy acts only on stages whose `options.remedies` names it.
    needs_permission: bool = False

    @property
    def remedy(self) -> Remedy:
        """The remedy that runs the row's action."""
        return REMEDIES.get(_kind(self.action))

    @property
    def all_settings(self) -> Mapping[str, Any]:
        """The row's settings, with `action` for scripts, webhooks and functions."""
        kind = _kind(self.action)
        return self.settings if kind == self.action else {**self.settings, "action": self.action}


def all_pairs(rows: CatalogRows) -> list[Pair]:
    """Every pair, sorted by error code and step."""
    found: list[HealingAction | HealingStep] = [*rows.rows(HealingAction), *rows.rows(HealingStep)]
    pairs = [_pair(row) for row in found if row.action_script]
    return sorted(pairs, key=lambda pair: (pair.error_code, pair.step_order))


def pairs_of(code: str, pairs: Iterable[Pair]) -> list[Pair]:
    """The enabled pairs of a code in order, then those of the codes in their `then` setting."""
    known = list(pairs)
    return list(_following(code, known, set()))


def _following(code: str, pairs: list[Pair], seen: set[str]) -> Iterator[Pair]:
    seen.add(code)  # stops `then` settings that form a circle
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
        needs_permission=needs_permission(row),
    )


def _kind(action: str) -> str:
    """The remedy that runs an action: the remedy of that name, or the kind of outside call."""
    if action in REMEDIES:
        return action
    if action.startswith("arn:"):
        return "lambda_function"
    if action.startswith(("https://", "http://")):
        return "webhook"
    if action.startswith("python:"):
        return "python"
    return "script"
