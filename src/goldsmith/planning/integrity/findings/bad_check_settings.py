"""A check has an unknown setting, a setting of the wrong type, or lacks a required one."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.ERROR, reads=(RuleSet,))
def bad_check_settings(rows: CatalogRows) -> Iterator[FoundProblem]:
    for rules in rows.rows(RuleSet):
        for entry in rules.check_def:
            if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
                continue
            ours = translated(entry)
            if ours["type"] not in CHECKS:
                continue
            check = CHECKS.get(ours["type"])
            for problem in check.problems(ours):
                yield FoundProblem(
                    rules,
                    f"The check {entry['type']} of rule set '{rules.rule_set_id}' {problem}.",
                    f"Settings of {check.name}: {check.usage}.",
                )
