"""The audit of a stage run: its checks measured in the pass that evaluates the rows, and judged.

Row checks and totals are measured as observed metrics of the write itself; a check that needs
more than that (uniqueness, another dataset) is measured together with all others over the rows
that were written. Shaped rows are evaluated once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goldsmith.catalog.rules import RuleSet, Severity
from goldsmith.checks.check import Cost
from goldsmith.checks.context import Context
from goldsmith.checks.outcome import Outcome, shown
from goldsmith.checks.planned import PlannedCheck
from goldsmith.checks.planned import planned as plan_checks
from goldsmith.engine.destinations.destination import Samples
from goldsmith.engine.split import takes_rows
from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import Verdict


@dataclass(eq=False, kw_only=True)
class CheckFailed(GoldsmithError):
    """A critical check does not hold, so nothing was published."""

    exit_code = 1

    target: str
    failures: tuple[str, ...]

    def __str__(self) -> str:
        listed = "; ".join(one.removesuffix(".") for one in self.failures)
        return f"'{self.target}' was not published: {listed}."

    @property
    def hint(self) -> str:
        return (
            "Mend the input or the rule. `goldsmith runs show RUN` has what was expected and "
            "found; readers still see the rows of the last good run."
        )


def planned(rules: RuleSet | None, context: Context, *, first: int = 0) -> tuple[PlannedCheck, ...]:
    """The checks of a rule set, words turned into code; their places begin at `first`."""
    if rules is None:
        return ()
    found = plan_checks(
        rules.check_def, rule_set_id=rules.rule_set_id, severity=rules.severity, context=context
    )
    return tuple(replace(one, place=one.place + first) for one in found)


def needs_pass(checks: Sequence[PlannedCheck]) -> bool:
    """Some check cannot be measured on the way to the table."""
    return any(one.per or one.check.cost not in (Cost.RIDES, Cost.NOTHING) for one in checks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Audited:
    """What the checks of a stage run said."""

    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[str, ...] = field(default=())


def judge(
    outcomes: Sequence[Outcome],
    *,
    marks: Mapping[str, Any],
    samples: Samples | None = None,
    seconds: Mapping[int, float] | None = None,
    rows_go: bool = True,
) -> Audited:
    """A verdict for each check, and the critical ones that do not hold.

    `rows_go`: broken rows went where their check sends them, as they do when a stage writes.
    """
    settled = [_settled(outcome) if rows_go else outcome for outcome in outcomes]
    return Audited(
        verdicts=tuple(
            _verdict(
                outcome,
                marks,
                sample=(samples or {}).get(outcome.planned.place, ()),
                seconds=(seconds or {}).get(outcome.planned.place),
            )
            for outcome in settled
        ),
        failures=tuple(
            f"{outcome.planned.rule_set_id}: {outcome.message}"
            for outcome in settled
            if stops(outcome)
        ),
    )


def _settled(outcome: Outcome) -> Outcome:
    """Broken rows that went elsewhere are no failure, unless a threshold was given for them."""
    planned = outcome.planned
    if not takes_rows(planned) or not outcome.broken:
        return outcome
    has_threshold = planned.max_broken is not None or planned.said.get("mostly") is not None
    where = "kept aside" if planned.on_fail == "quarantine" else "dropped"
    went = f"{planned.says} in {outcome.broken:,} rows, which were {where}"
    if outcome.passed or not has_threshold:
        return replace(outcome, passed=True, message=went)
    return replace(outcome, message=f"{outcome.message}, which is more than {outcome.expected}")


def stops(outcome: Outcome) -> bool:
    """It keeps the rows from being published."""
    planned = outcome.planned
    return (
        not outcome.passed and planned.severity == Severity.CRITICAL and planned.on_fail != "warn"
    )


def _verdict(
    outcome: Outcome,
    marks: Mapping[str, Any],
    *,
    sample: Sequence[Mapping[str, Any]],
    seconds: float | None,
) -> Verdict:
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
        sample=tuple(sample),
        duration_ms=None if seconds is None else round(seconds * 1000, 3),
        **marks,
    )
