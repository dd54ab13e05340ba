"""No stage uses a rule set that is not shipped with Goldsmith, so its checks never run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.WARNING, reads=(RuleSet, Stage))
def unused_rule_set(rows: CatalogRows) -> Iterator[FoundProblem]:
    own = [rules for rules in rows.rows(RuleSet) if not rules.is_default]
    if not own:
        return
    named = attrgetter("validation_set_id", "pre_validation_set_id")
    used = set(chain.from_iterable(set(map(named, rows.rows(Stage)))))
    for rules in own:
        if rules.rule_set_id not in used:
            yield FoundProblem(
                rules,
                f"Rule set '{rules.rule_set_id}' is named by no stage.",
                "Name it as validation_set_id or pre_validation_set_id of a stage, or remove it.",
            )
