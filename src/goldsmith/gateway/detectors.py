"""Detectors of freshness and volume: when they become active, and their thresholds.

The training windows are Monte Carlo's documented ones. The thresholds are our own;
docs/push/anomaly-detection.md documents them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median, quantiles

HOUR, DAY = 3_600.0, 86_400.0


class DetectorStatus(StrEnum):
    """Whether a detector is active."""

    ACTIVE = "ACTIVE"
    INACTIVE = "INACTIVE"
    TRAINING = "TRAINING"


@dataclass(frozen=True, kw_only=True, slots=True)
class FreshnessVerdict:
    """The expectation of the freshness detector, in seconds, and whether the table breaks it."""

    status: DetectorStatus
    reason: str
    expected: float | None = None
    threshold: float | None = None
    is_broken: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeVerdict:
    """The range of row count changes that is expected, and whether the table breaks it."""

    status: DetectorStatus
    reason: str
    lower: float | None = None
    upper: float | None = None
    last_change: float | None = None
    is_broken: bool = False


_TRAINING, _INACTIVE = DetectorStatus.TRAINING, DetectorStatus.INACTIVE


def freshness(updates: Sequence[float], last_push: float | None, now: float) -> FreshnessVerdict:
    """Judge the updates of a table, as epochs; `last_push` is when it was last pushed."""
    recent = sorted({at for at in updates if now - 35 * DAY <= at <= now + HOUR})
    if last_push is None or now - last_push > 14 * DAY:
        return FreshnessVerdict(status=_INACTIVE, reason="no recent data")
    gaps = [later - earlier for earlier, later in pairwise(recent)]
    if not gaps:
        return FreshnessVerdict(status=_TRAINING, reason=f"{len(recent)} of 7 updates")
    usual = median(gaps)
    coverage = usual * len(recent) / (22 * DAY)
    if len(recent) < 7 and coverage < 0.8:
        return FreshnessVerdict(status=_TRAINING, reason=f"{len(recent)} of 7 updates")
    if coverage < 0.15:
        reason = f"the updates cover {coverage:.0%} of 22 days; 15 % are needed"
        return FreshnessVerdict(status=_TRAINING, reason=reason)
    if not 5 * 60 <= usual <= 7.7 * DAY:
        reason = "the usual time between updates is not between 5 minutes and 7.7 days"
        return FreshnessVerdict(status=_INACTIVE, reason=reason)
    in_two_weeks = [
        gap
        for gap, at in zip(gaps, recent[1:], strict=True)
        if at >= now - 14 * DAY and gap > 7 * DAY
    ]
    if usual <= 26.4 * HOUR and in_two_weeks:
        return FreshnessVerdict(status=_INACTIVE, reason="gap of over a week in last 2 weeks")
    # The longest usual gap, so that weekends and nights are no alarm.
    longest = quantiles(gaps, n=50)[-1] if len(gaps) >= 2 else gaps[0]
    threshold = max(1.25 * min(longest, max(gaps)), 2 * usual)
    late = now - recent[-1]
    return FreshnessVerdict(
        status=DetectorStatus.ACTIVE,
        reason=f"learned from {len(recent)} updates",
        expected=usual,
        threshold=threshold,
        is_broken=late > threshold,
    )


def volume(samples: Sequence[tuple[float, float]], age: float, now: float) -> VolumeVerdict:
    """Judge the rows of a table by the hour, as epoch and rows; `age` is since its first push."""
    recent = sorted(sample for sample in samples if now - 42 * DAY <= sample[0] <= now + HOUR)
    times = [at for at, _ in recent]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    if not gaps:
        return VolumeVerdict(status=_TRAINING, reason=f"{len(recent)} samples")
    usual = median(gaps)
    needed = 5 if usual > 3 * DAY else 10 if usual > 12 * HOUR else 48
    if len(recent) < needed:
        return VolumeVerdict(status=_TRAINING, reason=f"{len(recent)} of {needed} samples")
    if age < 5 * DAY:
        return VolumeVerdict(status=_TRAINING, reason="the table is younger than 5 days")
    coverage = len(recent) * usual / (42 * DAY)
    if coverage < 0.30:
        reason = f"the samples cover {coverage:.0%} of 42 days; 30 % are needed"
        return VolumeVerdict(status=_TRAINING, reason=reason)
    quarter = quantiles(gaps, n=4) if len(gaps) >= 2 else [usual] * 3
    if quarter[2] > 0 and quarter[0] / quarter[2] < 0.2:
        return VolumeVerdict(status=_INACTIVE, reason="the samples are not regular")
    changes = [later - earlier for (_, earlier), (_, later) in pairwise(recent)]
    last = changes.pop()
    # What was learned does not contain the change that is judged.
    spread = max(changes) - min(changes)
    slack = max(0.25 * spread, 0.01 * recent[-2][1], 1.0)
    lower, upper = min(changes) - slack, max(changes) + slack
    return VolumeVerdict(
        status=DetectorStatus.ACTIVE,
        reason=f"learned from {len(recent)} samples",
        lower=lower,
        upper=upper,
        last_change=last,
        is_broken=not lower <= last <= upper,
    )
