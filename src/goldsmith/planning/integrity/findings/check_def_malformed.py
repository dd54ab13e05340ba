"""An entry of a rule set's check_def is not an object with a type."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule


@catalog_rule(Gravity.ERROR, reads=(RuleSet,))
def check_def_malformed(rows: Snapshot) -> Iterator[Wrong]:
    for rules in rows.rows(RuleSet):
        for place, entry in enumerate(rules.check_def, start=1):
            if not isinstance(entry, dict):
                said = f"is not an object but {type(entry).__name__}"
            elif not isinstance(entry.get("type"), str):
                said = "has no type" if "type" not in entry else "has a type that is not a word"
            else:
                continue
            yield Wrong(
                rules,
                f"Entry {place} of check_def in rule set '{rules.rule_set_id}' {said}.",
                'Write each check as an object: {"type": "row_count", "min": 1}.',
            )
