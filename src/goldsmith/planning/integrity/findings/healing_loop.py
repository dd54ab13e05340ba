"""The remedies of an error code repeat: a remedy is listed twice with the same settings, or the
codes in `settings.then` form a cycle."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.cycles import circles, drawn
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule

Remedy = HealingAction | HealingStep


@catalog_rule(FindingSeverity.WARNING, reads=(HealingAction, HealingStep))
def healing_loop(rows: CatalogRows) -> Iterator[FoundProblem]:
    steps = sorted(rows.rows(HealingStep), key=lambda step: step.step_order)
    remedies: list[Remedy] = [*rows.rows(HealingAction)]
    used = [remedy for remedy in [*remedies, *steps] if remedy.enabled]
    yield from _tried_twice(used)
    yield from _handed_back(used)


def _tried_twice(remedies: list[Remedy]) -> Iterator[FoundProblem]:
    tried: dict[tuple[str, str | None], list[Remedy]] = {}
    for remedy in remedies:
        alike = tried.setdefault((remedy.error_code, remedy.action_script), [])
        if any(earlier.settings == remedy.settings for earlier in alike):
            yield FoundProblem(
                remedy,
                f"'{remedy.action_script}' is tried twice for {remedy.error_code}, the second time"
                " after it did not help.",
                "Remove one, or give the second other settings.",
            )
        alike.append(remedy)


def _handed_back(remedies: list[Remedy]) -> Iterator[FoundProblem]:
    first: dict[str, Remedy] = {}
    then: dict[str, list[str]] = {}
    for remedy in remedies:
        codes = _next_codes(remedy)
        if codes:
            first.setdefault(remedy.error_code, remedy)
            then.setdefault(remedy.error_code, []).extend(codes)
    for circle in circles(then):
        yield FoundProblem(
            first[circle[0]],
            f"The remedies of {circle[0]} lead back to it: {drawn(circle)}.",
            "Take settings.then out of one of them, or let it name another code.",
        )


def _next_codes(remedy: Remedy) -> Collection[str]:
    then = remedy.settings.get("then")
    if isinstance(then, str):
        return (then,)
    return [str(code) for code in then] if isinstance(then, list) else ()
