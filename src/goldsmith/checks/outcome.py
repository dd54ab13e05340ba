"""The outcome of a check: it holds or not, what was expected and found, in one sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from goldsmith.checks.errors import CheckRaised
from goldsmith.checks.measures import Counted, Judged
from goldsmith.checks.planned import PlannedCheck
from goldsmith.errors import GoldsmithError

_NOISE = re.compile(r"\s*(SQLSTATE: \w+|JVM stacktrace:.*|== SQL.*|;?\n.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a check says of the rows it was put to."""

    planned: PlannedCheck
    passed: bool
    #: Broken rows, of how many the check speaks of; None where it speaks of no single row.
    broken: int | None = None
    of: int | None = None
    observed: Any = None
    expected: str | None = None
    message: str = "it holds"
    #: Why it could not be carried out.
    error: GoldsmithError | None = None


def outcome_of(planned: PlannedCheck, judged: Judged | Counted) -> Outcome:
    """A verdict from what a judge says and what the check's settings allow."""
    if isinstance(judged, Judged):
        found = shown(judged.observed)
        said = planned.says
        if judged.expected is not None:
            said = f"{said}: expected {judged.expected}, found {found}"
        elif judged.observed is not None:
            said = f"{said}: {found}"
        return Outcome(
            planned=planned,
            passed=judged.holds,
            observed=judged.observed,
            expected=judged.expected,
            message="it holds" if judged.holds else said,
        )
    passed = _few_enough(planned, judged)
    found = f"{planned.says} in {judged.broken:,} of {judged.of:,} rows"
    if judged.parts_broken:
        by = ", ".join(planned.per)
        found += f", too many in {judged.parts_broken:,} of {judged.parts:,} parts by {by}"
        found += f" (most in {judged.worst_part})"
    return Outcome(
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
        # Where nobody looked at the parts, nothing says that they hold.
        return counted.parts > 0 and counted.parts_broken == 0
    if planned.max_broken is not None:
        return counted.broken <= planned.max_broken
    # As Great Expectations has it: the share of rows that hold, of those it speaks of.
    return planned.mostly < 1 and (counted.of - counted.broken) / counted.of >= planned.mostly


def _allowed(planned: PlannedCheck) -> str:
    each = f" for each {', '.join(planned.per)}" if planned.per else ""
    if planned.max_broken is not None:
        return f"at most {planned.max_broken:,} broken rows{each}"
    holds = "no broken row" if planned.mostly >= 1 else f"{planned.mostly:.10g} of the rows hold"
    return f"{holds}{each}"


def raised(planned: PlannedCheck, error: Exception) -> Outcome:
    """A check that raises is a failed one."""
    cause = error if isinstance(error, GoldsmithError) else as_error(planned.check.name, error)
    return Outcome(planned=planned, passed=False, message=str(cause), error=cause)


def as_error(check: str, error: Exception) -> CheckRaised:
    """What Spark says, without its noise."""
    return CheckRaised(check=check, cause=_NOISE.sub("", str(error)).strip() or repr(error))


def plain(value: Any) -> Any:
    """An observed value as JSON has it."""
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
    """An observed value in a sentence."""
    told = plain(value)
    if told is None:
        return "nothing"
    return f"{told:.10g}" if isinstance(told, float) else str(told)
