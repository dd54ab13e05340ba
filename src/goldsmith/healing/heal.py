"""Heal a failure: the first remedy that decides wins, within budgets and the retry policy."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from goldsmith.catalog.retries import RetryPolicy
from goldsmith.errors import GoldsmithError
from goldsmith.healing import policy as policies
from goldsmith.healing.budget import Limits, refusal
from goldsmith.healing.failure import Decision, DecisionKind, Failure
from goldsmith.healing.pairs import Pair, pairs_of
from goldsmith.healing.remedy import RemedyContext
from goldsmith.journal.healing_tables import HealingUse
from goldsmith.planning.integrity.remedies import allowed_by

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class HealingHistory:
    """What `heal` decides from: pairs, retry policy, limits and earlier uses."""

    pairs: Sequence[Pair]
    policy: RetryPolicy | None
    limits: Limits = field(default_factory=Limits)
    #: Uses of remedies in the last day, oldest first.
    uses: Sequence[HealingUse] = ()
    #: Failures of the pipeline in the last day since it last succeeded.
    pipeline_failures: int = 0
    #: A random number from 0 to 1, for the jitter of the wait.
    chance: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Healed:
    """The decision about a failure, and how it was reached."""

    decision: Decision
    #: The pair that decided; None where the retry policy alone did.
    pair: Pair | None = None
    #: How long to wait before the next attempt.
    after: timedelta = timedelta()
    #: Why each earlier remedy gave no decision or was refused.
    passed_over: tuple[str, ...] = ()
    #: Remedies that raised an error, with its text.
    failed: tuple[tuple[Pair, str], ...] = ()


def heal(
    failure: Failure, history: HealingHistory, now: datetime, outside: RemedyContext | None = None
) -> Healed:
    """Decide what is done about a failure; `outside=None` only simulates outside remedies."""
    left = policies.retries_left(history.policy, failure.attempt)
    limit = history.limits.pipeline_failures_per_day
    if history.pipeline_failures > limit:
        left = 0
    skipped: list[str] = []
    failed: list[tuple[Pair, str]] = []
    for pair in pairs_of(failure.code, history.pairs):
        reason = _not_allowed(pair, failure)
        reason = reason or refusal(pair, failure, history.uses, history.limits, now)
        if reason is not None:
            skipped.append(reason)
            continue
        try:
            decision, reason = _try_remedy(pair, failure, history, left, outside)
        except GoldsmithError as error:
            # A broken remedy must not hide the failure of the stage.
            _LOG.warning("the remedy %s failed: %s", pair.action, error)
            failed.append((pair, str(error)))
            decision, reason = None, f"{pair.action} failed: {error}"
        if decision is not None:
            wait = _wait(decision, failure, history)
            return Healed(
                decision=decision,
                pair=pair,
                after=wait,
                passed_over=tuple(skipped),
                failed=tuple(failed),
            )
        skipped.append(reason)
    decision = _by_policy(failure, history, left, limit)
    return Healed(
        decision=decision,
        after=_wait(decision, failure, history),
        passed_over=tuple(skipped),
        failed=tuple(failed),
    )


def _not_allowed(pair: Pair, failure: Failure) -> str | None:
    """Why a remedy that needs the stage's permission may not act on this stage, or None."""
    if not pair.needs_permission or pair.action in allowed_by(failure.stage.get("options", {})):
        return None
    return f"{pair.action} is not allowed: options.remedies of the stage does not name it"


def _try_remedy(
    pair: Pair, failure: Failure, history: HealingHistory, left: int, outside: RemedyContext | None
) -> tuple[Decision | None, str]:
    """The decision of a remedy, or None and why there is none.

    A decision to try again does not count when the retry policy allows no further attempt.
    """
    remedy = pair.remedy
    if remedy.asks_outside and left < 1:
        return None, f"{pair.action} was not tried: no attempt is left"
    if remedy.asks_outside and outside is None:
        return None, f"{pair.action} would be called first, and its answer would be followed"
    mine = [u for u in history.uses if u.request_id == failure.request_id]
    used = sum((u.error_code, u.remedy) == (pair.error_code, pair.action) for u in mine)
    decision = remedy(replace(failure, uses=used), pair.all_settings, outside)
    if decision is None:
        return None, f"{pair.action} has no answer"
    if decision.do is DecisionKind.RERUN and left < 1:
        return None, f"{pair.action} would try again, and no try is left"
    return decision, ""


def _by_policy(failure: Failure, history: HealingHistory, left: int, limit: int) -> Decision:
    if failure.may_pass and left > 0:
        return Decision(do=DecisionKind.RERUN, because=f"{failure.code} may pass by itself")
    if history.policy is None:
        because = "no retry policy says that it is tried again"
    elif history.pipeline_failures > limit:
        because = f"the pipeline failed more than {limit} times since it last succeeded (breaker)"
    elif left < 1:
        because = f"it was tried {failure.attempt} times, as the retry policy allows"
    else:
        because = f"{failure.code} does not pass by itself, and no remedy has an answer"
    return Decision(do=DecisionKind.HOLD, because=because)


def _wait(decision: Decision, failure: Failure, history: HealingHistory) -> timedelta:
    """How long to wait: as the remedy decided, else by the retry policy."""
    if decision.do is not DecisionKind.RERUN:
        return timedelta()
    if decision.after is not None:
        return decision.after
    assert history.policy is not None  # without a policy there is no further attempt
    return policies.wait(history.policy, failure.attempt, history.chance)
