"""Estimates of a stage's duration, rows, bytes and cost from its past runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goldsmith.scheduling.values import StageEstimate


@dataclass(frozen=True, slots=True)
class PastRun:
    """One successful run of a stage."""

    seconds: float
    records: float
    bytes: float


def estimate_stage(
    history: Sequence[PastRun],
    *,
    input_bytes: float | None = None,
    others: Sequence[PastRun] = (),
    price: float = 1.0,
) -> StageEstimate:
    """The expected next run.

    `input_bytes`: listed size of the new input, if known. `others`: runs of other stages, the
    prior of a stage without history.
    """
    raise NotImplementedError
