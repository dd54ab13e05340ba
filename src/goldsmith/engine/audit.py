"""The audit of a stage run: its checks measured in the pass that evaluates the rows, and judged.

Row checks and totals are measured as observed metrics of the write itself where Spark can; a
check that needs more than that (uniqueness, another dataset) is measured together with all others
beside it, over rows that are kept for it. Shaped rows are evaluated once either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goldsmith.catalog.rules import RuleSet, Severity
from goldsmith.checks.check import Cost
from goldsmith.checks.context import Context
from goldsmith.checks.outcome import Outcome, shown
from goldsmith.checks.planned import PlannedCheck
from goldsmith.checks.planned import planned as plan_checks
from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import Verdict


@dataclass(eq=False, kw_only=True)
class CheckFailed(GoldsmithError):
    """A critical check does not hold, so nothing was published."""

    exit_code = 1

    target: str
    failures: tuple[str, ...]

    def __str__(self) -> str:
        listed = "; ".join(self.failures)
        return f"'{self.target}' was not published: {listed}."

    @property
    def hint(self) -> str:
        return (
            "Mend the input or the rule. `goldsmith runs show RUN` has what was expected and "
            "found; readers still see the rows of the last good run."
        )


def planned(rules: RuleSet | None, context: Context) -> tuple[PlannedCheck, ...]:
    """The checks of a rule set, words turned into code."""
    if rules is None:
        return ()
    return plan_checks(
        rules.check_def, rule_set_id=rules.rule_set_id, severity=rules.severity, context=context
    )


def needs_pass(checks: Sequence[PlannedCheck]) -> bool:
    """Some check cannot be measured on the way to the table."""
    return any(one.check.cost not in (Cost.RIDES, Cost.NOTHING) for one in checks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Audited:
    """What the checks of a stage run said."""

    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[str, ...] = field(default=())


def judge(outcomes: Sequence[Outcome], *, marks: Mapping[str, Any]) -> Audited:
    """A verdict for each check, and the critical ones that do not hold."""
    return Audited(
        verdicts=tuple(_verdict(outcome, marks) for outcome in outcomes),
        failures=tuple(
            f"{outcome.planned.rule_set_id}: {outcome.message}"
            for outcome in outcomes
            if stops(outcome)
        ),
    )


def stops(outcome: Outcome) -> bool:
    """It keeps the rows from being published."""
    planned = outcome.planned
    return (
        not outcome.passed and planned.severity == Severity.CRITICAL and planned.on_fail != "warn"
    )


def _verdict(outcome: Outcome, marks: Mapping[str, Any]) -> Verdict:
    planned = outcome.planned
    return Verdict(
        place=planned.place,
        rule_set_id=planned.rule_set_id,
        check_name=planned.check.name,
        settings=dict(planned.settings),
        severity=planned.severity,
        on_fail=planned.on_fail,
        passed=outcome.passed,
        broken=outcome.broken,
        observed=None if outcome.observed is None else shown(outcome.observed),
        expected=outcome.expected,
        message=outcome.message,
        **marks,
    )
