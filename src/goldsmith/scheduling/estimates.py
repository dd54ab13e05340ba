"""Estimates of a stage's duration, rows, bytes and cost from its past runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from goldsmith.errors import count
from goldsmith.scheduling.values import StageEstimate

#: A stage of which nothing is known, in a catalog without history.
PRIOR_SECONDS = 60.0
PRIOR_BYTES_PER_SECOND = 10_000_000.0
#: The MAD of a normal distribution times this is its standard deviation.
_MAD_TO_SIGMA = 1.4826
#: A stage that overran its estimate is expected to need this share of its elapsed time more.
_OVERRUN = 0.5


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

    Medians, so that one run that hung changes nothing. With `input_bytes`, the listed size of
    the new input, and runs that moved bytes, the seconds follow the size at the median seconds
    per byte. A stage without history is expected to be like `others`, runs of other stages;
    without those, like the prior above.
    """
    if not history:
        return _prior(input_bytes, others, price)
    seconds = [run.seconds for run in history]
    middle = median(seconds)
    spread = _MAD_TO_SIGMA * median([abs(value - middle) for value in seconds])
    size = median([run.bytes for run in history])
    records = median([run.records for run in history])
    basis = f"median of {count(len(history), 'run')}"
    if input_bytes is not None and size > 0:
        # Half of a run's time is taken to be its size's, half its own: a stage with a tenth of
        # the usual input does not take a tenth of the time.
        factor = input_bytes / size
        middle *= 0.5 + 0.5 * min(factor, 20.0)
        records *= factor
        size = input_bytes
        basis += f", {factor:.2g} × its usual input"
    return StageEstimate(
        seconds=middle,
        records=records,
        bytes=size,
        cost=middle * price,
        basis=basis,
        seconds_high=middle + 3 * max(spread, 0.1 * middle),
    )


def remaining_seconds(estimated: float, elapsed: float) -> float:
    """Estimated seconds still to run; a stage that overran is expected to go on overrunning."""
    return max(estimated - elapsed, _OVERRUN * max(elapsed - estimated, 0.0), 0.05 * estimated)


def _prior(input_bytes: float | None, others: Sequence[PastRun], price: float) -> StageEstimate:
    if others:
        seconds = median([run.seconds for run in others])
        size = median([run.bytes for run in others])
        records = median([run.records for run in others])
        basis = f"prior: median of {count(len(others), 'run')} of other stages"
    else:
        seconds, size, records = PRIOR_SECONDS, PRIOR_SECONDS * PRIOR_BYTES_PER_SECOND, 0.0
        basis = "prior: no run is known"
    if input_bytes is not None:
        speed = size / seconds if seconds > 0 and size > 0 else PRIOR_BYTES_PER_SECOND
        seconds, size = max(input_bytes / speed, 1.0), input_bytes
        basis += ", by the size of its input"
    return StageEstimate(
        seconds=seconds,
        records=records,
        bytes=size,
        cost=seconds * price,
        basis=basis,
        seconds_high=4 * seconds,
        is_prior=True,
    )
