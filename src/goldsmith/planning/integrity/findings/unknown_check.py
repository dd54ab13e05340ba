"""A rule set names a check that no file of checks/library provides."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.checks.aliases.translate import other_names, translated
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(Gravity.ERROR, reads=(RuleSet,))
def unknown_check(rows: Snapshot) -> Iterator[Wrong]:
    for rules in rows.rows(RuleSet):
        for entry in rules.check_def:
            name = entry.get("type") if isinstance(entry, dict) else None
            if isinstance(name, str) and translated(entry)["type"] not in CHECKS:
                known = CHECKS.names()
                yield Wrong(
                    rules,
                    f"Rule set '{rules.rule_set_id}' asks for the check '{name}', which does not"
                    " exist.",
                    f"{did_you_mean(name, (*known, *other_names()))}Known: {', '.join(known)}.",
                )
