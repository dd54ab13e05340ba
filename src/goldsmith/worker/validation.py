"""Validate a DataFrame or a dataset of a project from Python.

from goldsmith.worker.validation import validate

validate(frame, [{"type": "not_null", "column": "id"}]).overall_passed
validate("silver.orders", ["orders_rules"], runtime=Runtime.open()).as_plain()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.rules import RuleSet
from goldsmith.checks.context import Context
from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.checks.summary import Summary
from goldsmith.engine.audit import dataset_audit, judge
from goldsmith.runtime import Runtime
from goldsmith.worker.resources import worker_resources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A rule set row, a rule set id, or one check as in check_def.
Rules = RuleSet | str | Mapping[str, Any]


def validate(
    rows: DataFrame | str,
    rules: Sequence[Rules] = (),
    *,
    runtime: Runtime | None = None,
    now: datetime | None = None,
) -> Summary:
    """Evaluate rules on a DataFrame, or on a dataset of the runtime's project by its id.

    Rule set ids refer to the project. For a dataset the default is the rule sets of the stages
    that write it, and the verdicts are stored in the journal.
    """
    if isinstance(rows, str):
        if runtime is None:
            raise TypeError("a dataset is named: say which project's, with runtime=")
        named = [str(rule_set_id) for rule_set_id in rules]
        with worker_resources(runtime) as resources:
            found = dataset_audit.audit_dataset(
                resources, runtime.catalog.snapshot(), rows, rule_sets=named
            )
        return found.summary
    context = Context(now=now or datetime.now(UTC))
    return dataset_audit.evaluate_checks(rows, _planned(rules, context, runtime), context)[0]


def _planned(
    rules: Sequence[Rules], context: Context, runtime: Runtime | None
) -> list[PlannedCheck]:
    checks: list[PlannedCheck] = []
    for rule in rules:
        if isinstance(rule, str):
            if runtime is None:
                raise TypeError(
                    f"'{rule}' is a rule set's name: say of which project, with runtime="
                )
            known = runtime.catalog.snapshot().table(RuleSet)
            row = known.get((rule,))
            if row is None:
                listed = tuple(sorted(key[0] for key in known))
                raise dataset_audit.UnknownRuleSet(rule_set_id=rule, known=listed)
            checks += judge.planned(row, context, first=len(checks))
        elif isinstance(rule, RuleSet):
            checks += judge.planned(rule, context, first=len(checks))
        else:
            row = RuleSet(rule_set_id="", check_def=(rule,))
            checks += judge.planned(row, context, first=len(checks))
    return checks
