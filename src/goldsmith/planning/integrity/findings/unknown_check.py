"""A rule set names a check that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.checks.aliases.translate import other_names, translated
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.ERROR, reads=(RuleSet,))
def unknown_check(rows: CatalogRows) -> Iterator[FoundProblem]:
    for rules in rows.rows(RuleSet):
        for entry in rules.check_def:
            name = entry.get("type") if isinstance(entry, dict) else None
            if isinstance(name, str) and translated(entry)["type"] not in CHECKS:
                known = CHECKS.names()
                yield FoundProblem(
                    rules,
                    f"Rule set '{rules.rule_set_id}' asks for the check '{name}', which does not"
                    " exist.",
                    f"{did_you_mean(name, (*known, *other_names()))}Known: {', '.join(known)}.",
                )
