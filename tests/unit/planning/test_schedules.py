"""A schedule's text means the times people expect."""

from __future__ import annotations

import pickle
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.planning.schedules import BadSchedule, parse

#: A Wednesday.
NOW = datetime(2026, 1, 14, 10, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("* * * * *", "2026-01-14 10:08"),
        ("*/15 * * * *", "2026-01-14 10:15"),
        ("7 10 * * *", "2026-01-15 10:07"),
        ("30 2 * * *", "2026-01-15 02:30"),
        ("0 8,12,18 * * *", "2026-01-14 12:00"),
        ("0 9-17/4 * * *", "2026-01-14 13:00"),
        ("5/20 10 * * *", "2026-01-14 10:25"),
        ("0 0 * * mon", "2026-01-19 00:00"),
        ("0 0 * * 0", "2026-01-18 00:00"),
        ("0 0 * * 7", "2026-01-18 00:00"),
        ("0 0 * * FRI-SUN", "2026-01-16 00:00"),
        ("0 0 * * 5-0", "2026-01-16 00:00"),
        ("0 0 * * sun-sun", "2026-01-18 00:00"),
        ("0 6 * * * Europe/Zurich", "2026-01-15 05:00"),
        ("0 6 * * * UTC", "2026-01-15 06:00"),
        ("@daily America/New_York", "2026-01-15 05:00"),
        ("0 0 1 feb,Jun *", "2026-02-01 00:00"),
        ("0 0 31 * *", "2026-01-31 00:00"),
        ("0 0 L * *", "2026-01-31 00:00"),
        ("0 0 * * fri#1", "2026-02-06 00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        ("0 0 20 * mon", "2026-01-19 00:00"),
        ("0 12 ? * wed", "2026-01-14 12:00"),
        ("59 23 31 12 *", "2026-12-31 23:59"),
        ("@hourly", "2026-01-14 11:00"),
        ("@daily", "2026-01-15 00:00"),
        ("@Weekly", "2026-01-18 00:00"),
        ("@monthly", "2026-02-01 00:00"),
        ("@yearly", "2027-01-01 00:00"),
        ("every 15m", "2026-01-14 10:15"),
        ("every 2h", "2026-01-14 12:00"),
        ("Every 1d", "2026-01-15 00:00"),
        ("  every   15 m ", "2026-01-14 10:15"),
    ],
)
def test_the_next_time(text: str, due: str) -> None:
    schedule = parse(text)
    found = schedule.next_after(NOW)
    assert schedule.fires
    assert schedule.after is None
    assert found is not None
    assert f"{found:%Y-%m-%d %H:%M}" == due
    assert found.tzinfo is UTC


def test_a_time_that_is_due_now_comes_next_time() -> None:
    eight = datetime(2026, 1, 14, 8, tzinfo=UTC)
    assert parse("0 8 * * *").next_after(eight) == eight + timedelta(days=1)
    assert parse("every 1h").next_after(eight) == eight + timedelta(hours=1)


def test_other_time_zones_are_read_in_utc() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=9)))
    assert parse("30 2 * * *").next_after(there) == datetime(2026, 1, 15, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "since", "due"),
    [
        # 29 March 2026: 02:00 becomes 03:00 in Zurich. 25 October: 03:00 becomes 02:00.
        pytest.param("0 6 * * *", "03-28 12:00", "03-29 04:00", id="six is earlier in summer"),
        pytest.param("0 6 * * *", "10-24 12:00", "10-25 05:00", id="six is later in winter"),
        pytest.param("30 2 * * *", "03-28 12:00", "03-29 01:00", id="a skipped hour is due after"),
        pytest.param("30 2 * * *", "03-29 01:00", "03-30 00:30", id="a skipped hour is due once"),
        pytest.param("30 2 * * *", "10-25 00:00", "10-25 00:30", id="a double hour, first pass"),
        pytest.param("30 2 * * *", "10-25 00:30", "10-26 01:30", id="a double hour is due once"),
        pytest.param("30 2 * * *", "10-25 01:15", "10-26 01:30", id="in the second pass as well"),
        pytest.param("30 * * * *", "10-25 00:30", "10-25 01:30", id="an hourly line never rests"),
    ],
)
def test_a_time_zone_changes_its_clock(line: str, since: str, due: str) -> None:
    moment = datetime.fromisoformat(f"2026-{since}:00+00:00")
    expected = datetime.fromisoformat(f"2026-{due}:00+00:00")
    schedule = parse(f"{line} Europe/Zurich")
    assert schedule.next_after(moment) == expected
    assert schedule.next_after(moment.astimezone(ZoneInfo("Europe/Zurich"))) == expected


@given(
    fields=st.lists(
        st.one_of(
            st.text("0123456789*/-,?lw#", min_size=1, max_size=6),
            st.sampled_from(["*", "mon", "feb", "5l", "fri#2", "*/7", "1-5/2", "Asia/Tokyo"]),
        ),
        min_size=5,
        max_size=6,
    )
)
def test_any_cron_line_has_a_next_time_or_a_reason(fields: list[str]) -> None:
    with suppress(BadSchedule):
        due = parse(" ".join(fields)).next_after(NOW)
        assert due is None or due > NOW


def test_a_29_february_on_a_given_weekday_is_found_over_the_century() -> None:
    # `*/29` begins with a star, so the day of the week holds as well.
    due = parse("0 0 */28 2 mon").next_after(datetime(2090, 1, 1, tzinfo=UTC))
    assert due is not None
    assert (due.month, due.isoweekday()) == (2, 1)


@pytest.mark.parametrize("text", ["0 0 31 2 *", "0 0 30 feb *", "0 0 31 4,6,9,11 *"])
def test_a_day_that_never_comes(text: str) -> None:
    assert parse(text).next_after(NOW) is None
    assert not parse(text).fires


def test_the_end_of_time_is_no_accident() -> None:
    assert parse("0 0 1 1 *").next_after(datetime(9999, 6, 1, tzinfo=UTC)) is None


def test_after_another_pipeline_no_clock_decides() -> None:
    schedule = parse("after: orders etl")
    assert schedule.after == "orders etl"
    assert schedule.next_after(NOW) is None
    assert schedule.fires
    assert parse("AFTER:orders").after == "orders"


def test_none_waits_until_somebody_asks() -> None:
    assert parse("none").next_after(NOW) is None
    assert parse("None").fires


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("often", "five fields and this has 1"),
        ("0 0 * * * *", "five fields and this has 6"),
        ("60 0 * * *", "the minute is '60', and it may be 0 to 59"),
        ("0 24 * * *", "the hour is '24'"),
        ("0 0 0 * *", "the day of the month is '0'"),
        ("0 0 X * *", "the day of the month is 'X'"),
        ("0 0 * foo *", "the month is 'foo'"),
        ("0 0 * * 8", "the day of the week is '8'"),
        ("*/0 * * * *", "the minute is '*/0'"),
        ("*/x * * * *", "the minute is '*/x'"),
        ("30-10 * * * *", "the minute is '30-10'"),
        ("1,,2 * * * *", "the minute is '1,,2'"),
        ("0 6 * * * Europe/Zürich", "the time zone 'Europe/Zürich' is not known"),
        ("0 6 * * * europe/zurich", "is it Europe/Zurich?"),
        ("0 6 * * * Europe", "the time zone 'Europe' is not known"),
        ("0 6 * * * ../etc/passwd", "the time zone '../etc/passwd' is not known"),
        ("0 6 * * Europe/Zurich", "the day of the week is 'Europe/Zurich'"),
        ("@daily 5", "five fields and this has 6"),
        ("٣ * * * *", "the minute is '٣'"),
        ("every", "a number with m, h or d"),
        ("every 15", "a number with m, h or d"),
        ("every 15s", "a number with m, h or d"),
        ("every -5m", "a number with m, h or d"),
        ("every 0m", "it would run every 0m"),
        ("every 99999999m", "it would run every 99999999m"),
        ("after orders", "`after: ` and a pipeline"),
        ("after:", "`after: ` and a pipeline"),
        ("@reboot", "the words with @ are"),
        ("* " * 500, "it is too long"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, because: str) -> None:
    with pytest.raises(BadSchedule) as raised:
        parse(text)
    assert because in str(raised.value)
    assert "every 15m" in raised.value.hint
    assert raised.value.code == "BadSchedule"
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
