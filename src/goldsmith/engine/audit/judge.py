"""Judge the checks of a stage run: verdicts, and the failures that prevent a publish.

Observed metrics of the write measure row checks and totals. Checks that need more (uniqueness,
another dataset) are measured together over the staged rows. Shaped rows are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goldsmith.catalog.rules import RuleSet, Severity
from goldsmith.checks.check import Cost
from goldsmith.checks.context import Context
from goldsmith.checks.outcome import CheckOutcome, shown
from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.checks.planned_check import planned as plan_checks
from goldsmith.engine.quarantine.row_router import takes_rows
from goldsmith.engine.write.destinations.destination import Samples
from goldsmith.errors import GoldsmithError, count
from goldsmith.journal.tables import Verdict


@dataclass(eq=False, kw_only=True)
class CheckFailed(GoldsmithError):
    """A critical check does not hold, so nothing was published."""

    exit_code = 1

    target: str
    failures: tuple[str, ...]

    def __str__(self) -> str:
        listed = "; ".join(failure.removesuffix(".") for failure in self.failures)
        return f"'{self.target}' was not published: {listed}."

    @property
    def hint(self) -> str:
        return (
            "Correct the input or the rule. `goldsmith runs show RUN` has what was expected and "
            "found; readers still see the rows of the last good run."
        )


def planned(rules: RuleSet | None, context: Context, *, first: int = 0) -> tuple[PlannedCheck, ...]:
    """Plan the checks of a rule set; their indexes start at `first`."""
    if rules is None:
        return ()
    found = plan_checks(
        rules.check_def, rule_set_id=rules.rule_set_id, severity=rules.severity, context=context
    )
    return tuple(replace(check, index=check.index + first) for check in found)


def needs_pass(checks: Sequence[PlannedCheck]) -> bool:
    """Whether some check cannot be measured by the write itself."""
    return any(check.per or check.check.cost not in (Cost.RIDES, Cost.NOTHING) for check in checks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Audited:
    """The verdicts of an audit, and the failures of critical checks."""

    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[str, ...] = field(default=())


def judge(
    outcomes: Sequence[CheckOutcome],
    *,
    marks: Mapping[str, Any],
    samples: Samples | None = None,
    seconds: Mapping[int, float] | None = None,
    rows_go: bool = True,
) -> Audited:
    """Return a verdict for each check, and the critical checks that failed.

    `rows_go`: broken rows were quarantined or dropped, as they are when a stage writes.
    """
    settled = [_settled(outcome) if rows_go else outcome for outcome in outcomes]
    return Audited(
        verdicts=tuple(
            _verdict(
                outcome,
                marks,
                sample=(samples or {}).get(outcome.planned.index, ()),
                seconds=(seconds or {}).get(outcome.planned.index),
            )
            for outcome in settled
        ),
        failures=tuple(
            f"{outcome.planned.rule_set_id}: {outcome.message}"
            for outcome in settled
            if stops(outcome)
        ),
    )


def _settled(outcome: CheckOutcome) -> CheckOutcome:
    """Pass a check whose broken rows were quarantined or dropped, unless it has a threshold."""
    planned = outcome.planned
    if not takes_rows(planned) or not outcome.broken:
        return outcome
    has_threshold = planned.max_broken is not None or planned.entry.get("mostly") is not None
    where = "quarantined" if planned.on_fail == "quarantine" else "dropped"
    was = "was" if outcome.broken == 1 else "were"
    went = f"{planned.says} in {count(outcome.broken, 'row')}, which {was} {where}"
    if outcome.passed or not has_threshold:
        return replace(outcome, passed=True, message=went)
    return replace(outcome, message=f"{outcome.message}, which is more than {outcome.expected}")


def stops(outcome: CheckOutcome) -> bool:
    """Whether the outcome prevents the publish."""
    planned = outcome.planned
    return (
        not outcome.passed and planned.severity == Severity.CRITICAL and planned.on_fail != "warn"
    )


def _verdict(
    outcome: CheckOutcome,
    marks: Mapping[str, Any],
    *,
    sample: Sequence[Mapping[str, Any]],
    seconds: float | None,
) -> Verdict:
    planned = outcome.planned
    return Verdict(
        place=planned.index,
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
        sample=tuple(sample),
        duration_ms=None if seconds is None else round(seconds * 1000, 3),
        **marks,
    )
