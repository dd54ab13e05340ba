"""A stage names a rule set that has no row in validation_rules."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.ERROR, reads=(Stage, RuleSet))
def unknown_rule_set(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = frozenset(key[0] for key in rows.table(RuleSet)) | {None}
    for stage in rows.rows(Stage):
        if stage.validation_set_id not in known:
            yield _wrong(rows, stage, "validation_set_id")
        if stage.pre_validation_set_id not in known:
            yield _wrong(rows, stage, "pre_validation_set_id")


def _wrong(rows: CatalogRows, stage: Stage, column: str) -> FoundProblem:
    name = getattr(stage, column)
    guess = did_you_mean(name, [key[0] for key in rows.table(RuleSet)])
    return FoundProblem(
        stage,
        f"Stage {stage_id(stage)} asks for the rule set '{name}', which has no row in"
        " validation_rules.",
        f"{guess}Add the rule set, or correct {column}.",
    )
