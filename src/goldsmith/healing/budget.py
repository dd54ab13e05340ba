"""Budgets and circuit breakers: limit how often a remedy is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from goldsmith.catalog.retries import HealingLimit
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.healing.failure import Failure
from goldsmith.healing.pairs import Pair
from goldsmith.journal.healing_tables import HealingUse, RemedyOutcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The values of `healing_limits`; a missing row means the default here."""

    uses_per_day: int = 50
    breaker_failures: int = 3
    breaker_minutes: float = 60
    pipeline_failures_per_day: int = 30
    floor_least_uses: int = 5
    worker_deaths: int = 3

    @classmethod
    def of(cls, rows: CatalogRows) -> Limits:
        configured: Mapping[str, float] = {
            row.limit_name: row.limit_value for row in rows.rows(HealingLimit)
        }
        own = cls()
        return cls(
            uses_per_day=int(configured.get("uses_per_day", own.uses_per_day)),
            breaker_failures=int(configured.get("breaker_failures", own.breaker_failures)),
            breaker_minutes=configured.get("breaker_minutes", own.breaker_minutes),
            pipeline_failures_per_day=int(
                configured.get("pipeline_failures_per_day", own.pipeline_failures_per_day)
            ),
            floor_least_uses=int(configured.get("floor_least_uses", own.floor_least_uses)),
            worker_deaths=int(configured.get("worker_deaths", own.worker_deaths)),
        )


def refusal(
    pair: Pair, failure: Failure, uses: Sequence[HealingUse], limits: Limits, now: datetime
) -> str | None:
    """Why a remedy may not be used now, or None; `uses` are the uses of the last day."""
    mine = [use for use in uses if (use.error_code, use.remedy) == (pair.error_code, pair.action)]
    here = [
        use
        for use in mine
        if (use.pipeline_id, use.stage_order) == (failure.pipeline_id, failure.stage_order)
    ]
    of_request = [use for use in here if use.request_id == failure.request_id]
    if len(of_request) >= pair.max_uses:
        return f"{pair.action} was used {len(of_request)} times in this request"
    if len(here) >= limits.uses_per_day:
        return f"{pair.action} was used {len(here)} times today for this stage"
    last = [use for use in here if use.outcome != RemedyOutcome.PENDING][-limits.breaker_failures :]
    since = now - timedelta(minutes=limits.breaker_minutes)
    if len(last) >= max(limits.breaker_failures, 1) and all(
        use.outcome == RemedyOutcome.FAILED and use.at is not None and use.at >= since
        for use in last
    ):
        return f"{pair.action} did not help the last {len(last)} times (breaker)"
    return None


def success_rate(uses: Sequence[HealingUse]) -> float | None:
    """The share of finished uses that got a stage past its error; None without any."""
    judged = [use.outcome for use in uses if use.outcome != RemedyOutcome.PENDING]
    return judged.count(RemedyOutcome.HELPED) / len(judged) if judged else None


def below_floor(pair: Pair, uses: Sequence[HealingUse], limits: Limits) -> float | None:
    """The success rate of a pair if it is below the `success_floor` of its row; else None."""
    judged = [use for use in uses if use.outcome != RemedyOutcome.PENDING]
    rate = success_rate(judged)
    if rate is None or pair.success_floor is None or len(judged) < limits.floor_least_uses:
        return None
    return rate if rate < pair.success_floor else None
