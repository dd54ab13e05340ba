"""A check of a stage's rule set looks at a column that the stage's SQL does not give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS
from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.nearby import columns_of, lacks
from goldsmith.planning.neighbourhood import Neighbourhood

#: Each check with the columns it looks at.
Checked = tuple[tuple[Mapping[str, Any], tuple[str, ...]], ...]


@stage_rule(Gravity.ERROR)
def checked_column_not_in_sql(near: Neighbourhood) -> Iterator[Wrong]:
    facts, rules = near.facts, near.rules
    if facts is None or facts.columns is None or rules is None:
        return
    for check, columns in _checked(rules):
        for column in columns:
            if column not in facts.columns and lacks(near, column):
                yield Wrong(
                    near.stage,
                    f"The check {check.get('type')} of rule set '{rules.rule_set_id}' looks at"
                    f" '{column}', which the SQL of stage {near.stage_id} does not give.",
                    f"{did_you_mean(column, facts.columns)}It gives: {columns_of(near)}.",
                )


#: What the checks of a rule set look at, for as long as the row is the same: many stages share one.
_known: dict[str, tuple[RuleSet, Checked]] = {}


def _checked(rules: RuleSet) -> Checked:
    known = _known.get(rules.rule_set_id)
    if known is None or known[0] is not rules:
        checked = tuple((check, tuple(_columns(check))) for check in rules.check_def)
        known = _known[rules.rule_set_id] = (rules, checked)
    return known[1]


def _columns(entry: object) -> Iterator[str]:
    """The columns a check looks at."""
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return
    ours = translated(entry)
    if ours["type"] in CHECKS:
        yield from CHECKS.get(ours["type"]).columns(ours)
