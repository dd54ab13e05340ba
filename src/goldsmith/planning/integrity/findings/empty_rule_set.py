"""A rule set has no checks, so all rows pass."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.WARNING, reads=(RuleSet,))
def empty_rule_set(rows: CatalogRows) -> Iterator[FoundProblem]:
    for rules in rows.rows(RuleSet):
        if not rules.check_def:
            yield FoundProblem(
                rules,
                f"Rule set '{rules.rule_set_id}' holds no checks.",
                "Add checks to check_def, or remove the rule set and what names it.",
            )
