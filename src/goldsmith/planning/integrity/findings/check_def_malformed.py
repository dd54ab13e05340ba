"""An entry of a rule set's check_def is not an object with a type."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.ERROR, reads=(RuleSet,))
def check_def_malformed(rows: CatalogRows) -> Iterator[FoundProblem]:
    for rules in rows.rows(RuleSet):
        for number, entry in enumerate(rules.check_def, start=1):
            if not isinstance(entry, dict):
                problem = f"is not an object but {type(entry).__name__}"
            elif not isinstance(entry.get("type"), str):
                problem = "has no type" if "type" not in entry else "has a type that is not a word"
            else:
                continue
            yield FoundProblem(
                rules,
                f"Entry {number} of check_def in rule set '{rules.rule_set_id}' {problem}.",
                'Write each check as an object: {"type": "row_count", "min": 1}.',
            )
