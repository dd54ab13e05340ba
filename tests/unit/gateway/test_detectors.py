"""Detectors: when they have learned enough, what they alarm on, and how often wrongly."""

from __future__ import annotations

import random

import pytest

from goldsmith.gateway.detectors import DAY, HOUR, DetectorStatus, freshness, volume

NOW = 1_800_000_000.0
ACTIVE, INACTIVE, TRAINING = DetectorStatus


def every(gap: float, number: int, *, last: float = NOW - HOUR) -> list[float]:
    return [last - gap * each for each in range(number)][::-1]


@pytest.mark.parametrize(
    ("updates", "last_push", "status", "words"),
    [
        pytest.param([], NOW, TRAINING, "0 of 7", id="nothing yet"),
        pytest.param(every(DAY, 6), NOW, TRAINING, "6 of 7", id="six days"),
        pytest.param(every(DAY, 7), NOW, ACTIVE, "learned", id="a week of days"),
        pytest.param(every(HOUR, 7), NOW, TRAINING, "15 %", id="seven hours cover too little"),
        pytest.param(every(HOUR, 90), NOW, ACTIVE, "learned", id="four days of hours"),
        pytest.param(every(7 * DAY, 4), NOW, ACTIVE, "learned", id="weekly, by coverage"),
        pytest.param(every(8 * DAY, 4), NOW, INACTIVE, "7.7 days", id="slower than weekly"),
        pytest.param(every(60, 20_000), NOW, INACTIVE, "5 minutes", id="every minute"),
        pytest.param(every(DAY, 20), NOW - 15 * DAY, INACTIVE, "no recent data", id="no push"),
        pytest.param(every(DAY, 20), None, INACTIVE, "no recent data", id="never pushed"),
        pytest.param(
            [*every(DAY, 20, last=NOW - 9 * DAY), NOW - HOUR],
            NOW,
            INACTIVE,
            "gap of over a week in last 2 weeks",
            id="a hole of eight days",
        ),
    ],
)
def test_freshness_learns_as_documented(
    updates: list[float], last_push: float | None, status: DetectorStatus, words: str
) -> None:
    verdict = freshness(updates, last_push, NOW)
    assert (verdict.status, words in verdict.reason) == (status, True)
    assert not verdict.is_broken


def test_freshness_alarms_when_a_daily_table_is_two_days_late() -> None:
    updates = every(DAY, 20, last=NOW - 1.9 * DAY)
    assert not freshness(updates, NOW, NOW).is_broken
    assert freshness(updates, NOW, NOW + 0.2 * DAY).is_broken


@pytest.mark.parametrize(
    ("samples", "age", "status", "words"),
    [
        pytest.param(0, 50 * DAY, TRAINING, "0 samples", id="nothing"),
        pytest.param(9, 50 * DAY, TRAINING, "9 of 10", id="nine days"),
        pytest.param(13, 50 * DAY, ACTIVE, "learned", id="thirteen days"),
        pytest.param(12, 50 * DAY, TRAINING, "30 %", id="twelve days cover too little"),
        pytest.param(13, 4 * DAY, TRAINING, "younger", id="a young table"),
    ],
)
def test_volume_learns_as_documented(
    samples: int, age: float, status: DetectorStatus, words: str
) -> None:
    points = [(at, 1000.0 + 10 * n) for n, at in enumerate(every(DAY, samples))]
    verdict = volume(points, age, NOW)
    assert (verdict.status, words in verdict.reason) == (status, True)


def test_volume_needs_forty_eight_samples_of_an_hourly_table_and_regular_ones() -> None:
    hourly = [(at, 100.0) for at in every(HOUR, 47)]
    assert volume(hourly, 40 * DAY, NOW).reason == "47 of 48 samples"
    odd = [(at, 1.0) for at in (*every(HOUR, 20, last=NOW - 20 * DAY), *every(2.5 * DAY, 8))]
    assert volume(odd, 40 * DAY, NOW).status is not ACTIVE


def test_volume_alarms_on_a_table_that_lost_its_rows() -> None:
    points = [(at, 1000.0 + 10 * n) for n, at in enumerate(every(DAY, 20))]
    assert not volume(points, 40 * DAY, NOW).is_broken
    lost = [*points[:-1], (points[-1][0], 0.0)]
    verdict = volume(lost, 40 * DAY, NOW)
    assert (verdict.is_broken, verdict.last_change) == (True, -1180.0)


def test_false_alarms_on_seasonal_data_are_rare() -> None:
    """Sixty tables for sixty days: loaded on weekdays, more on Mondays, at noisy times."""
    noise = random.Random(7)
    late = unusual = judged_late = judged_size = 0
    for _ in range(60):
        updates: list[float] = []
        sizes: list[tuple[float, float]] = []
        rows = float(noise.randint(1_000, 1_000_000))
        per_day = rows * noise.uniform(0.002, 0.05)
        for day in range(60):
            at = day * DAY + 6 * HOUR + noise.uniform(0, 2 * HOUR)
            if day % 7 < 5:
                rows += per_day * (3 if day % 7 == 0 else 1) * noise.uniform(0.7, 1.3)
                updates.append(at)
            sizes.append((at, rows))
            if day < 42:
                continue
            fresh = freshness(updates, at, at + 12 * HOUR)
            size = volume(sizes, at, at)
            judged_late += fresh.status is ACTIVE
            judged_size += size.status is ACTIVE
            late += fresh.is_broken
            unusual += size.is_broken
    assert (judged_late, judged_size) == (1080, 1080)
    assert late == 0
    assert unusual / judged_size < 0.01
