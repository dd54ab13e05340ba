"""A check of a stage's rule set uses a column that the stage's SQL does not select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, stage_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.stage_questions import columns_of, lacks
from goldsmith.planning.stage_context import StageContext

#: Each check with the columns it uses.
Checked = tuple[tuple[Mapping[str, Any], tuple[str, ...]], ...]


@stage_rule(FindingSeverity.ERROR)
def checked_column_not_in_sql(context: StageContext) -> Iterator[FoundProblem]:
    facts, rules = context.facts, context.rules
    if facts is None or facts.columns is None or rules is None:
        return
    for check, columns in _checked(rules):
        for column in columns:
            if column not in facts.columns and lacks(context, column):
                yield FoundProblem(
                    context.stage,
                    f"The check {check.get('type')} of rule set '{rules.rule_set_id}' looks at"
                    f" '{column}', which the SQL of stage {context.stage_id} does not give.",
                    f"{did_you_mean(column, facts.columns)}It gives: {columns_of(context)}.",
                )


#: Cache of each rule set's checks, valid while the row is the same: many stages share a rule set.
_known: dict[str, tuple[RuleSet, Checked]] = {}


def _checked(rules: RuleSet) -> Checked:
    known = _known.get(rules.rule_set_id)
    if known is None or known[0] is not rules:
        checked = tuple((check, tuple(_columns(check))) for check in rules.check_def)
        known = _known[rules.rule_set_id] = (rules, checked)
    return known[1]


def _columns(entry: object) -> Iterator[str]:
    """The columns a check uses."""
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return
    ours = translated(entry)
    if ours["type"] in CHECKS:
        yield from CHECKS.get(ours["type"]).columns(ours)
