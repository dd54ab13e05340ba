"""A rule set holds no checks, so it lets everything pass."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule


@catalog_rule(Gravity.WARNING, reads=(RuleSet,))
def empty_rule_set(rows: Snapshot) -> Iterator[Wrong]:
    for rules in rows.rows(RuleSet):
        if not rules.check_def:
            yield Wrong(
                rules,
                f"Rule set '{rules.rule_set_id}' holds no checks.",
                "Add checks to check_def, or remove the rule set and what names it.",
            )
