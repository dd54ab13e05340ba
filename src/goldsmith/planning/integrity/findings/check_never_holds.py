"""A check's min is above its max, so the check can never pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.ERROR, reads=(RuleSet,))
def check_never_holds(rows: CatalogRows) -> Iterator[FoundProblem]:
    for rules in rows.rows(RuleSet):
        for entry in rules.check_def:
            if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
                continue
            ours = translated(entry)
            if ours["type"] not in CHECKS or not {"min", "max"} <= ours.keys():
                continue
            for low, high in _bounds(ours):
                yield FoundProblem(
                    rules,
                    f"The check {entry['type']} of rule set '{rules.rule_set_id}' asks for at least"
                    f" {low} and at most {high}: it can never hold.",
                    "Exchange the bounds, or leave one out.",
                )


def _bounds(ours: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The pairs of bounds that no value can satisfy."""
    lows, highs = (
        bound if isinstance(bound, list | tuple) else [bound]
        for bound in (ours["min"], ours["max"])
    )
    strict = bool(ours.get("strict_min") or ours.get("strict_max"))
    for low, high in zip(lows, highs, strict=False):
        lower, upper = _comparable(low), _comparable(high)
        if lower is None or upper is None or type(lower) is not type(upper):
            continue
        if lower > upper or (strict and lower == upper):
            yield low, high


def _comparable(bound: Any) -> Any:
    """A bound as a number or a time; None for a bound that cannot be compared here."""
    if isinstance(bound, int | float) and not isinstance(bound, bool):
        return float(bound)
    if not isinstance(bound, str | date):
        return None
    try:
        time = datetime.fromisoformat(str(bound))
    except ValueError:
        return None  # an expression or a plain text
    return time.astimezone(UTC) if time.tzinfo is not None else time.replace(tzinfo=UTC)
