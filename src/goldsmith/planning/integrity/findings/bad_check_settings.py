"""A check is given a setting it does not have, one of the wrong type, or not one it needs."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule


@catalog_rule(Gravity.ERROR, reads=(RuleSet,))
def bad_check_settings(rows: Snapshot) -> Iterator[Wrong]:
    for rules in rows.rows(RuleSet):
        for entry in rules.check_def:
            name = entry.get("type") if isinstance(entry, dict) else None
            if not isinstance(name, str) or name not in CHECKS:
                continue
            check = CHECKS.get(name)
            for problem in check.problems(entry):
                yield Wrong(
                    rules,
                    f"The check {name} of rule set '{rules.rule_set_id}' {problem}.",
                    f"Settings of {name}: {check.usage}.",
                )
