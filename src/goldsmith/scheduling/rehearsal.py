"""Rehearsal: what healing would do if a stage kept failing, without anything happening."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.retries import RetryPolicy
from goldsmith.errors import nearest
from goldsmith.healing.budget import Limits
from goldsmith.healing.failure import Do, Failure
from goldsmith.healing.heal import Known, heal
from goldsmith.healing.pairs import all_pairs
from goldsmith.journal.tables_of_healing import HealingUse, Outcome
from goldsmith.registry import UnknownName
from goldsmith.runtime import Runtime

#: A stage nobody named is rehearsed with the policy a fresh catalog has.
_POLICY = RetryPolicy(retry_id="std_retry", max_retries=3, backoff_sec=300)
_MOST = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What one failure would lead to."""

    attempt: int
    do: str
    remedy: str | None
    wait_seconds: float
    because: str
    adjust: dict[str, Any]
    passed_over: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        return asdict(self)


def rehearse(runtime: Runtime, code: str, stage: str | None) -> list[Step]:
    """What would be done, failure after failure, until the stage is left alone."""
    survey = runtime.surveyor.survey()
    policy: RetryPolicy | None = survey.rows.table(RetryPolicy).get(("std_retry",), _POLICY)
    failure = Failure(code=code, request_id="rehearsal")
    if stage is not None:
        near = survey.stages.get(stage)
        if near is None:
            known = tuple(survey.stages)
            near_by = nearest(stage, known)
            raise UnknownName(noun="stage", name=stage, known=(near_by,) if near_by else known)
        policy = near.retry
        failure = replace(
            failure,
            pipeline_id=near.stage.pipeline_id,
            stage_order=near.stage.stage_order,
            target_id=near.stage.target_id,
            stage={**near.stage.as_file(), "read": near.words.read},
        )
    known_rows = Known(pairs=all_pairs(survey.rows), policy=policy, limits=Limits.of(survey.rows))
    return list(_steps(failure, known_rows))


def _steps(failure: Failure, known: Known) -> Iterator[Step]:
    now = datetime.now(UTC)
    for _ in range(_MOST):
        made = heal(failure, known, now)
        decision = made.decision
        yield Step(
            attempt=failure.attempt,
            do=decision.do.value,
            remedy=None if made.pair is None else made.pair.action,
            wait_seconds=made.after.total_seconds(),
            because=decision.because,
            adjust=dict(decision.adjust),
            passed_over=made.passed_over,
        )
        if decision.do is not Do.RERUN:
            return
        used = known.uses
        if made.pair is not None:
            use = HealingUse(
                use_id=str(len(used)),
                at=now,
                error_code=made.pair.error_code,
                remedy=made.pair.action,
                pipeline_id=failure.pipeline_id,
                stage_order=failure.stage_order,
                request_id=failure.request_id,
                outcome=Outcome.FAILED,
            )
            known = replace(known, uses=[*used, use])
        adjusted = {**failure.adjusted, **decision.adjust}
        failure = replace(failure, attempt=failure.attempt + 1, adjusted=adjusted)
