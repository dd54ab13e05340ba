"""Verdicts summed up: how many checks held, how many critical ones did not, each in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goldsmith.checks.outcome import Outcome, plain


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What one check said."""

    check_name: str
    passed: bool
    actual_value: Any
    threshold: Any
    message: str
    timestamp: datetime
    severity: str
    rule_set_id: str
    broken: int | None = None

    @classmethod
    def of(cls, outcome: Outcome, at: datetime) -> Result:
        planned = outcome.planned
        if outcome.error is not None:
            said = f"ERROR: {outcome.message}"
        else:
            said = f"{'PASSED' if outcome.passed else 'FAILED'}: {outcome.message}"
        return cls(
            check_name=planned.name or planned.check.name,
            passed=outcome.passed,
            # As the error is told, there is no value; -1 is what tools of this kind expect.
            actual_value=-1 if outcome.error is not None else plain(outcome.observed),
            threshold=outcome.expected,
            message=said,
            timestamp=at,
            severity=planned.severity,
            rule_set_id=planned.rule_set_id,
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
            "broken": self.broken,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What all checks said together."""

    results: tuple[Result, ...]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], at: datetime) -> Summary:
        return cls(results=tuple(Result.of(outcome, at) for outcome in outcomes))

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
        return sum(not one.passed and one.severity == "critical" for one in self.results)

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
