"""A stage asks for a rule set that has no row in validation_rules."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.words import stage_id


@catalog_rule(Gravity.ERROR, reads=(Stage, RuleSet))
def unknown_rule_set(rows: Snapshot) -> Iterator[Wrong]:
    known = frozenset(key[0] for key in rows.table(RuleSet)) | {None}
    for stage in rows.rows(Stage):
        if stage.validation_set_id not in known:
            yield _wrong(rows, stage, "validation_set_id")
        if stage.pre_validation_set_id not in known:
            yield _wrong(rows, stage, "pre_validation_set_id")


def _wrong(rows: Snapshot, stage: Stage, column: str) -> Wrong:
    name = getattr(stage, column)
    guess = did_you_mean(name, [key[0] for key in rows.table(RuleSet)])
    return Wrong(
        stage,
        f"Stage {stage_id(stage)} asks for the rule set '{name}', which has no row in"
        " validation_rules.",
        f"{guess}Add the rule set, or correct {column}.",
    )
