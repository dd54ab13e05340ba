"""Validation from Python: rule sets put to a DataFrame, or to a dataset of a project.

from goldsmith.scheduling.validation import validate

validate(frame, [{"type": "not_null", "column": "id"}]).overall_passed
validate("silver.orders", ["orders_rules"], runtime=Runtime.open()).as_plain()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.checks.context import Context
from goldsmith.checks.planned import PlannedCheck
from goldsmith.checks.summary import Summary
from goldsmith.engine import audit, resting
from goldsmith.runtime import Runtime
from goldsmith.scheduling.workshop import workshop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A rule set's row, its id, or one check of a check_def.
Rules = RuleSet | str | Mapping[str, Any]


def validate(
    rows: DataFrame | str,
    rules: Sequence[Rules] = (),
    *,
    runtime: Runtime | None = None,
    now: datetime | None = None,
) -> Summary:
    """Put rules to rows, or to a dataset of the runtime's project by its id.

    Rule sets named by id are the project's. Of a dataset, no rules means those of its stages, and
    the verdicts are written down.
    """
    if isinstance(rows, str):
        if runtime is None:
            raise TypeError("a dataset is named: say which project's, with runtime=")
        named = [str(one) for one in rules]
        with workshop(runtime) as tools:
            found = resting.audit_dataset(tools, runtime.catalog.snapshot(), rows, rule_sets=named)
        return found.summary
    context = Context(now=now or datetime.now(UTC))
    return resting.put_checks(rows, _planned(rules, context, runtime), context)[0]


def _planned(
    rules: Sequence[Rules], context: Context, runtime: Runtime | None
) -> list[PlannedCheck]:
    checks: list[PlannedCheck] = []
    for one in rules:
        if isinstance(one, str):
            if runtime is None:
                raise TypeError(
                    f"'{one}' is a rule set's name: say of which project, with runtime="
                )
            known = runtime.catalog.snapshot().table(RuleSet)
            row = known.get((one,))
            if row is None:
                listed = tuple(sorted(key[0] for key in known))
                raise resting.UnknownRuleSet(rule_set_id=one, known=listed)
            checks += audit.planned(row, context, first=len(checks))
        elif isinstance(one, RuleSet):
            checks += audit.planned(one, context, first=len(checks))
        else:
            row = RuleSet(rule_set_id="", check_def=(one,))
            checks += audit.planned(row, context, first=len(checks))
    return checks
