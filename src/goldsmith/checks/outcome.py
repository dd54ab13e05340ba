"""The outcome of a check: passed or not, what was expected and found, and a message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from goldsmith.checks.errors import CheckRaised
from goldsmith.checks.measures import Counted, Judged
from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.errors import GoldsmithError

_NOISE = re.compile(r"\s*(SQLSTATE: \w+|JVM stacktrace:.*|== SQL.*|;?\n.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    """The outcome of a check evaluated on rows."""

    planned: PlannedCheck
    passed: bool
    #: Broken rows, and the rows the check applies to; None where it counts no broken rows.
    broken: int | None = None
    of: int | None = None
    observed: Any = None
    expected: str | None = None
    message: str = "it holds"
    #: Why the check could not be evaluated.
    error: GoldsmithError | None = None


def outcome_of(planned: PlannedCheck, judged: Judged | Counted) -> CheckOutcome:
    """The outcome, from the judge's verdict and what the check's settings allow."""
    if isinstance(judged, Judged):
        found = shown(judged.observed)
        message = planned.says
        if judged.expected is not None:
            message = f"{message}: expected {judged.expected}, found {found}"
        elif judged.observed is not None:
            message = f"{message}: {found}"
        return CheckOutcome(
            planned=planned,
            passed=judged.holds,
            observed=judged.observed,
            expected=judged.expected,
            message="it holds" if judged.holds else message,
        )
    passed = _few_enough(planned, judged)
    found = f"{planned.says} in {judged.broken:,} of {judged.of:,} rows"
    if judged.parts_broken:
        by = ", ".join(planned.per)
        found += f", too many in {judged.parts_broken:,} of {judged.parts:,} parts by {by}"
        found += f" (most in {judged.worst_part})"
    return CheckOutcome(
        planned=planned,
        passed=passed,
        broken=judged.broken,
        of=judged.of,
        observed=judged.observed
        if judged.observed is not None
        else f"{judged.broken} of {judged.of} rows broken",
        expected=_allowed(planned),
        message="it holds" if passed else found,
    )


def _few_enough(planned: PlannedCheck, counted: Counted) -> bool:
    if counted.broken == 0:
        return True
    if planned.per:
        # Partitions that were not counted are not known to hold.
        return counted.parts > 0 and counted.parts_broken == 0
    if planned.max_broken is not None:
        return counted.broken <= planned.max_broken
    # As in Great Expectations: the share of rows that hold, of the rows the check applies to.
    return planned.mostly < 1 and (counted.of - counted.broken) / counted.of >= planned.mostly


def _allowed(planned: PlannedCheck) -> str:
    each = f" for each {', '.join(planned.per)}" if planned.per else ""
    if planned.max_broken is not None:
        return f"at most {planned.max_broken:,} broken rows{each}"
    holds = "no broken row" if planned.mostly >= 1 else f"{planned.mostly:.10g} of the rows hold"
    return f"{holds}{each}"


def raised(planned: PlannedCheck, error: Exception) -> CheckOutcome:
    """The outcome of a check that raised: it failed."""
    cause = error if isinstance(error, GoldsmithError) else as_error(planned.check.name, error)
    return CheckOutcome(planned=planned, passed=False, message=str(cause), error=cause)


def as_error(check: str, error: Exception) -> CheckRaised:
    """Spark's message without SQLSTATE, stack trace and SQL."""
    return CheckRaised(check=check, cause=_NOISE.sub("", str(error)).strip() or repr(error))


def plain(value: Any) -> Any:
    """An observed value as a JSON value."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | bool | None) else str(value)


def shown(value: Any) -> str:
    """An observed value as text in a message."""
    plain_value = plain(value)
    if plain_value is None:
        return "nothing"
    return f"{plain_value:.10g}" if isinstance(plain_value, float) else str(plain_value)
