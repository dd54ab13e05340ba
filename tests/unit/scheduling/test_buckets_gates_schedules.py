"""Token buckets keep their rate; gates name the first reason; schedules fire as cron does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.planning.run_windows import BadRunWindow, next_open
from goldsmith.scheduling.estimates import PastRun, estimate_stage
from goldsmith.scheduling.gates import GATES, GateFacts, first_closed
from goldsmith.scheduling.schedules import (
    MissedRuns,
    due_times,
    parse_schedule,
    starts,
)
from goldsmith.scheduling.token_bucket import (
    BadThrottle,
    Bucket,
    after_refusal,
    lease,
    rate_of,
    recover,
    settle,
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_default_burst_is_a_twentieth_of_a_minute() -> None:
    assert rate_of("records_per_minute", 1200).burst == 60
    assert rate_of("GB_per_hour", 3.6).per_second == pytest.approx(1e6)


@given(st.lists(st.floats(1, 500), min_size=1, max_size=60))
def test_no_order_of_leases_exceeds_the_rate(wishes: list[float]) -> None:
    rate = rate_of("records_per_second", 100)
    bucket, now, granted = Bucket(rate.burst, 0.0), 0.0, 0.0
    for wish in wishes:
        grant = lease(bucket, rate, wish, now)
        if grant.wait:
            now += grant.wait
            grant = lease(grant.bucket, rate, wish, now)
        assert grant.tokens == wish
        bucket, granted = grant.bucket, granted + wish
        assert granted <= rate.burst + now * 100 + max(wishes) + 1e-6


def test_unused_tokens_come_back_and_used_ones_beyond_the_grant_are_a_debt() -> None:
    assert settle(Bucket(0, 0), 50, 20).tokens == 30
    assert settle(Bucket(0, 0), 50, 90).tokens == -40


def test_the_effective_rate_halves_and_recovers_additively() -> None:
    rate = rate_of("records_per_second", 100)
    lowered = after_refusal(Bucket(0, 0), rate, 0)
    assert lowered.effective == 0.5
    assert lease(lowered, rate, 100, 0).wait == pytest.approx(2)
    assert recover(lowered, 120, 0).effective == pytest.approx(0.6)


@pytest.mark.parametrize("threshold", [0, -1, float("nan"), float("inf")])
def test_a_threshold_that_is_no_rate_is_refused(threshold: float) -> None:
    with pytest.raises(BadThrottle):
        rate_of("records_per_minute", threshold)


def test_the_first_closed_gate_says_why() -> None:
    facts = GateFacts(
        now=at("2026-01-14T12:00").timestamp(),
        pipeline="p",
        window="22:00-06:00",
        throttled={"th_src": "It waits for throttle th_src, 12 s."},
    )
    assert [gate.__name__ for gate in GATES] == [
        *("kill_switch", "window", "upstream_freshness", "source_health"),
        *("target_lease", "throttle", "profile"),
    ]
    closed = first_closed(facts)
    assert closed is not None
    assert closed[0] == "window"
    assert "22:00" in closed[1].because
    assert first_closed(GateFacts(now=0.0, pipeline="p")) is None


@pytest.mark.parametrize("line", ["30 2 * * *", "*/15 * * * *", "0 3 * * *", "15 1-3 * * *"])
@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_day_of_a_clock_change_fires_as_the_cron_library_does(line: str, day: str) -> None:
    zone = ZoneInfo("Europe/Zurich")
    first = datetime.fromisoformat(day).replace(tzinfo=zone) - timedelta(minutes=1)
    last = first.astimezone(UTC) + timedelta(hours=24)
    expected = []
    for local in CronSim(line, first):
        if local.astimezone(UTC) > last:
            break
        expected.append(local.astimezone(UTC))
    found = list(due_times(parse_schedule(f"{line} Europe/Zurich"), first.astimezone(UTC), last))
    assert found == expected


#: A zone of each kind: half an hour, a quarter, a change at midnight, two changes for Ramadan.
ZONES = (
    *("Europe/Zurich", "America/New_York", "America/St_Johns", "Australia/Lord_Howe"),
    *("Pacific/Chatham", "America/Sao_Paulo", "Asia/Beirut", "Africa/Casablanca"),
)
LINES = ("30 2 * * *", "0 0 * * *", "30 0 * * *", "*/15 * * * *", "5 */2 * * *", "30 1-3 * * *")


def clock_changes(zone: ZoneInfo, year: int) -> list[datetime]:
    hours = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=n) for n in range(366 * 24)]
    offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
    return [
        hour
        for hour, before, after in zip(hours[1:], offsets, offsets[1:], strict=False)
        if before != after
    ]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("line", LINES)
def test_a_day_before_and_after_each_clock_change_fires_as_the_cron_library_does(
    zone: str, line: str
) -> None:
    changes = clock_changes(ZoneInfo(zone), 2018)
    assert len(changes) >= 2
    for change in changes:
        first, last = change - timedelta(hours=24), change + timedelta(hours=24)
        expected = []
        for local in CronSim(line, first.astimezone(ZoneInfo(zone))):
            if local.astimezone(UTC) > last:
                break
            expected.append(local.astimezone(UTC))
        found = list(due_times(parse_schedule(f"{line} {zone}"), first, last))
        assert found == expected
        assert len(set(found)) == len(found)
        if line.split()[1] in ("0", "2"):  # a time that is skipped or comes twice is due once
            days = [due.astimezone(ZoneInfo(zone)).date() for due in found]
            assert len(set(days)) == len(days) >= 1


def test_a_leap_day_fires_and_a_clock_that_goes_back_fires_nothing() -> None:
    leap = parse_schedule("0 0 29 2 *")
    assert list(due_times(leap, at("2026-01-01"), at("2029-01-01"))) == [at("2028-02-29")]
    assert list(due_times(leap, at("2028-03-01"), at("2028-02-01"))) == []


@pytest.mark.parametrize(
    ("policy", "hours", "left_out"),
    [(MissedRuns.SKIP, [], 5), (MissedRuns.ONCE, [5], 4), (MissedRuns.ALL, [3, 4, 5], 2)],
)
def test_missed_runs_follow_the_policy(policy: MissedRuns, hours: list[int], left_out: int) -> None:
    found = starts(
        parse_schedule("@hourly"),
        at("2026-01-14T00:00"),
        at("2026-01-14T05:30"),
        missed=policy,
        catch_up_limit=3,
    )
    assert [due.hour for due in found.due] == hours
    assert found.left_out == left_out


def test_schedules_after_others_and_on_arrival() -> None:
    assert parse_schedule("after: orders").after_pipeline == "orders"
    assert parse_schedule("after: dataset:gold.sales").after_dataset == "gold.sales"
    assert parse_schedule("On Arrival").on_arrival
    assert not parse_schedule(None).timed


def test_a_window_over_midnight_belongs_to_the_day_it_opens() -> None:
    window = "22:00-06:00 fri"
    assert next_open(window, at("2026-01-17T05:59")) == at("2026-01-17T05:59")
    assert next_open(window, at("2026-01-17T06:00")) == at("2026-01-23T22:00")


@pytest.mark.parametrize("window", ["06:00-06:00", "25:00-26:00", "22:00-06:00 Mars/Base", "x"])
def test_a_window_that_never_opens_is_refused(window: str) -> None:
    with pytest.raises(BadRunWindow):
        next_open(window, at("2026-01-17T06:00"))


def test_one_run_that_hung_does_not_move_the_estimate() -> None:
    past = [PastRun(seconds, 10, 100) for seconds in (60, 61, 59, 60, 9000)]
    assert estimate_stage(past).seconds == 60
    assert estimate_stage([]).basis == "prior: no run is known"
