"""Severity of an incident, from the age of the data and its impact, by the `severities` rows."""

from __future__ import annotations

from collections.abc import Iterable

from goldsmith.catalog.incidents import SeverityLevel
from goldsmith.catalog.pipelines import Impact

#: From least to most severe.
_IMPACTS = (Impact.NONE, Impact.INTERNAL, Impact.CUSTOMER, Impact.REVENUE)


def severity_of(levels: Iterable[SeverityLevel], hours: float | None, impact: str) -> str:
    """The worst severity whose age and impact are reached.

    Data that was never written (`hours=None`) is rated by impact only.
    """
    ordered = sorted(levels, key=lambda level: level.severity)
    for level in ordered:
        old_enough = hours is None or hours >= level.older_than_hours
        if old_enough and _reaches(impact, level.least_impact):
            return level.severity
    return ordered[-1].severity if ordered else "P4"


def may_age(levels: Iterable[SeverityLevel], impact: str) -> float | None:
    """How old, in hours, data of that impact may get before it reaches a severity."""
    ages = [
        level.older_than_hours
        for level in levels
        if level.older_than_hours > 0 and _reaches(impact, level.least_impact)
    ]
    return min(ages, default=None)


def _reaches(impact: str, least: str) -> bool:
    return _IMPACTS.index(Impact(impact)) >= _IMPACTS.index(Impact(least))
