"""Heal: the first remedy with an answer wins, as far as budgets and the retry policy allow."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from goldsmith.catalog.retries import RetryPolicy
from goldsmith.errors import GoldsmithError
from goldsmith.healing import policy as policies
from goldsmith.healing.budget import Limits, refusal
from goldsmith.healing.failure import Decision, Do, Failure
from goldsmith.healing.pairs import Pair, pairs_of
from goldsmith.healing.remedy import Outside
from goldsmith.journal.tables_of_healing import HealingUse

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What healing goes by: rows, history, limits."""

    pairs: Sequence[Pair]
    policy: RetryPolicy | None
    limits: Limits = field(default_factory=Limits)
    #: Of the last day, the oldest first.
    uses: Sequence[HealingUse] = ()
    #: Failures of the pipeline in the last day since it last succeeded.
    pipeline_failures: int = 0
    #: What is left to chance, 0 to 1.
    chance: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Healed:
    """What is done about a failure."""

    decision: Decision
    #: The pair that decided; None where the retry policy alone did.
    pair: Pair | None = None
    #: How long to wait.
    after: timedelta = timedelta()
    #: Remedies that had no answer or were refused, and why.
    passed_over: tuple[str, ...] = ()


def heal(failure: Failure, known: Known, now: datetime, outside: Outside | None = None) -> Healed:
    """What is to be done about a failure."""
    left = policies.retries_left(known.policy, failure.attempt)
    limit = known.limits.pipeline_failures_per_day
    if known.pipeline_failures > limit:
        left = 0
    passed: list[str] = []
    for pair in pairs_of(failure.code, known.pairs):
        why = refusal(pair, failure, known.uses, known.limits, now)
        if why is not None:
            passed.append(why)
            continue
        decision, why = _asked(pair, failure, known, left, outside)
        if decision is not None:
            wait = _wait(decision, failure, known)
            return Healed(decision=decision, pair=pair, after=wait, passed_over=tuple(passed))
        passed.append(why)
    decision = _by_policy(failure, known, left, limit)
    return Healed(
        decision=decision, after=_wait(decision, failure, known), passed_over=tuple(passed)
    )


def _asked(
    pair: Pair, failure: Failure, known: Known, left: int, outside: Outside | None
) -> tuple[Decision | None, str]:
    """What a remedy decides; a try that the policy does not allow is no decision."""
    try:
        remedy = pair.remedy
        if remedy.asks_outside and (left < 1 or outside is None):
            return None, f"{pair.action} was not asked: no try is left"
        mine = [u for u in known.uses if u.request_id == failure.request_id]
        used = sum((u.error_code, u.remedy) == (pair.error_code, pair.action) for u in mine)
        decision = remedy(replace(failure, uses=used), pair.all_settings, outside)
    except GoldsmithError as error:
        # A pair that is wrong must not hide the failure it was meant for.
        _LOG.warning("the remedy %s failed: %s", pair.action, error)
        return None, f"{pair.action} failed: {error}"
    if decision is None:
        return None, f"{pair.action} has no answer"
    if decision.do is Do.RERUN and left < 1:
        return None, f"{pair.action} would try again, and no try is left"
    return decision, ""


def _by_policy(failure: Failure, known: Known, left: int, limit: int) -> Decision:
    if failure.may_pass and left > 0:
        return Decision(do=Do.RERUN, because=f"{failure.code} may pass by itself")
    if known.policy is None:
        because = "no retry policy says that it is tried again"
    elif known.pipeline_failures > limit:
        because = f"the pipeline failed more than {limit} times since it last succeeded (breaker)"
    elif left < 1:
        because = f"it was tried {failure.attempt} times, as the retry policy allows"
    else:
        because = f"{failure.code} does not pass by itself, and no remedy has an answer"
    return Decision(do=Do.HOLD, because=because)


def _wait(decision: Decision, failure: Failure, known: Known) -> timedelta:
    """As long as the remedy says; else as the policy does."""
    if decision.do is not Do.RERUN:
        return timedelta()
    if decision.after is not None:
        return decision.after
    assert known.policy is not None  # without one nothing is tried again
    return policies.wait(known.policy, failure.attempt, known.chance)
