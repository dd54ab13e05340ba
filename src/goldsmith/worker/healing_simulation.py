"""Simulate healing: the decisions if a stage kept failing; nothing is run or changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from goldsmith.catalog.retries import RetryPolicy
from goldsmith.healing.budget import Limits
from goldsmith.healing.failure import DecisionKind, Failure
from goldsmith.healing.heal import HealingHistory, heal
from goldsmith.healing.pairs import all_pairs
from goldsmith.journal import healing
from goldsmith.journal.healing_tables import HealingUse, RemedyOutcome
from goldsmith.registry import UnknownName
from goldsmith.runtime import Runtime
from goldsmith.worker.outcome import row_of

#: The retry policy if no stage is given and the catalog has no `std_retry`.
_POLICY = RetryPolicy(retry_id="std_retry", max_retries=3, backoff_sec=300)
_MOST = 50
#: Facts in place of those of a real error.
_FACTS = {"file": "the file that cannot be read", "differences": ("as the error says",)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The decision that would follow one failure."""

    attempt: int
    do: str
    remedy: str | None
    wait_seconds: float
    because: str
    adjust: dict[str, Any]
    passed_over: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        return asdict(self)


def simulate_healing(runtime: Runtime, code: str, stage: str | None) -> list[Step]:
    """The decisions, failure after failure, until the stage is not run again."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    policy: RetryPolicy | None = catalog_index.rows.table(RetryPolicy).get(("std_retry",), _POLICY)
    failure = Failure(code=code, request_id="rehearsal", facts=_FACTS)
    if stage is not None:
        context = catalog_index.stages.get(stage)
        if context is None:
            raise UnknownName(noun="stage", name=stage, known=tuple(catalog_index.stages))
        policy = context.retry
        failure = replace(
            failure,
            pipeline_id=context.stage.pipeline_id,
            stage_order=context.stage.stage_order,
            target_id=context.stage.target_id,
            stage=row_of(context),
        )
    since = datetime.now(UTC) - timedelta(days=1)
    rows = HealingHistory(
        pairs=all_pairs(catalog_index.rows),
        policy=policy,
        limits=Limits.of(catalog_index.rows),
        uses=healing.uses(runtime.journal, since=since)[::-1],
        pipeline_failures=healing.failures_since_success(
            runtime.journal, failure.pipeline_id, since
        ),
    )
    return list(_steps(failure, rows))


def _steps(failure: Failure, known: HealingHistory) -> Iterator[Step]:
    now = datetime.now(UTC)
    for _ in range(_MOST):
        healed = heal(failure, known, now)
        decision = healed.decision
        yield Step(
            attempt=failure.attempt,
            do=decision.do.value,
            remedy=None if healed.pair is None else healed.pair.action,
            wait_seconds=healed.after.total_seconds(),
            because=decision.because,
            adjust=dict(decision.adjust),
            passed_over=healed.passed_over,
        )
        if decision.do is not DecisionKind.RERUN:
            return
        used = known.uses
        if healed.pair is not None:
            use = HealingUse(
                use_id=str(len(used)),
                at=now,
                error_code=healed.pair.error_code,
                remedy=healed.pair.action,
                pipeline_id=failure.pipeline_id,
                stage_order=failure.stage_order,
                request_id=failure.request_id,
                outcome=RemedyOutcome.FAILED,
            )
            known = replace(known, uses=[*used, use])
        adjusted = {**failure.adjusted, **decision.adjust}
        failure = replace(failure, attempt=failure.attempt + 1, adjusted=adjusted)
