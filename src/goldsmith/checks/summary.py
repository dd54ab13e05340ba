"""Summarise outcomes: how many checks passed and failed, and a result for each check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goldsmith.checks.outcome import CheckOutcome, plain


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """The result of one check."""

    check_name: str
    passed: bool
    actual_value: Any
    threshold: Any
    message: str
    timestamp: datetime
    severity: str
    rule_set_id: str
    #: The columns the rule names.
    columns: tuple[str, ...] = ()
    broken: int | None = None

    @classmethod
    def of(cls, outcome: CheckOutcome, at: datetime) -> CheckResult:
        planned = outcome.planned
        if outcome.error is not None:
            message = f"ERROR: {outcome.message}"
        else:
            message = f"{'PASSED' if outcome.passed else 'FAILED'}: {outcome.message}"
        return cls(
            check_name=planned.name or planned.check.name,
            passed=outcome.passed,
            # With an error there is no value; tools of this kind expect -1.
            actual_value=-1 if outcome.error is not None else plain(outcome.observed),
            threshold=outcome.expected,
            message=message,
            timestamp=at,
            severity=planned.severity,
            rule_set_id=planned.rule_set_id,
            columns=tuple(dict.fromkeys(planned.check.columns(planned.settings))),
            broken=outcome.broken,
        )

    def as_plain(self) -> dict[str, Any]:
        return {
            "check_name": self.check_name,
            "passed": self.passed,
            "actual_value": self.actual_value,
            "threshold": self.threshold,
            "message": self.message,
            "timestamp": self.timestamp.isoformat(),
            "severity": self.severity,
            "rule_set_id": self.rule_set_id,
            "columns": list(self.columns),
            "broken": self.broken,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """The results of all checks and their counts."""

    results: tuple[CheckResult, ...]

    @classmethod
    def of(cls, outcomes: Sequence[CheckOutcome], at: datetime) -> Summary:
        return cls(results=tuple(CheckResult.of(outcome, at) for outcome in outcomes))

    @property
    def total_checks(self) -> int:
        return len(self.results)

    @property
    def passed(self) -> int:
        return sum(result.passed for result in self.results)

    @property
    def failed(self) -> int:
        return self.total_checks - self.passed

    @property
    def success_rate(self) -> float:
        return self.passed / self.total_checks if self.results else 0.0

    @property
    def critical_failures(self) -> int:
        return sum(not result.passed and result.severity == "critical" for result in self.results)

    @property
    def overall_passed(self) -> bool:
        """No critical check failed."""
        return self.critical_failures == 0

    def as_plain(self) -> Mapping[str, Any]:
        return {
            "total_checks": self.total_checks,
            "passed": self.passed,
            "failed": self.failed,
            "success_rate": self.success_rate,
            "critical_failures": self.critical_failures,
            "overall_passed": self.overall_passed,
            "results": [result.as_plain() for result in self.results],
        }
