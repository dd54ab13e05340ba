"""Windows of time: how they are typed, and which files are of one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from goldsmith.planning.window import BadWindow, Window, day_of
from goldsmith.storage.files import ListedFile

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("s3://b/orders/day=2026-01-31/part.csv", (2026, 1, 31)),
        ("s3://b/orders/dt=2026-01-31-08/part.csv", (2026, 1, 31)),
        ("s3://b/2026-01-31/part.csv", (2026, 1, 31)),
        ("s3://b/year=2026/month=1/day=31/part.csv", (2026, 1, 31)),
        ("s3://b/2026/01/31/part.csv", (2026, 1, 31)),
        ("s3://b/day=2026-02-31/part.csv", None),
        # A name may hold the day of an export; only folders are partitions.
        ("s3://b/orders/export-2026-01-31.csv", None),
        ("s3://b/orders/part.csv", None),
    ],
)
def test_the_day_of_a_path_is_in_its_folders(path: str, day: tuple[int, int, int] | None) -> None:
    assert day_of(path) == (None if day is None else datetime(*day, tzinfo=UTC))


def file(path: str, modified: datetime) -> ListedFile:
    return ListedFile(path=path, size=1, etag="", modified_at=modified)


def test_a_file_without_a_day_is_of_when_it_was_written() -> None:
    window = Window.of("2026-01-02", "2026-01-03", NOW)
    assert window.holds_file(file("s3://b/a.csv", datetime(2026, 1, 2, tzinfo=UTC)))
    assert not window.holds_file(file("s3://b/a.csv", datetime(2026, 1, 3, tzinfo=UTC)))


def test_a_day_that_a_window_touches_is_read_whole() -> None:
    window = Window.of("2026-01-02T18:00", "2026-01-03T00:00", NOW)
    days = [day for day in (1, 2, 3) if window.holds_file(file(f"s3://b/d=2026-01-0{day}/a", NOW))]
    assert days == [2]


def test_a_window_lasts_until_now_unless_it_says_otherwise() -> None:
    assert Window.of("2026-01-01", None, NOW) == Window(
        start=datetime(2026, 1, 1, tzinfo=UTC), end=NOW
    )
    assert str(Window.of("2026-01-01", "2026-01-02T08:00", NOW)) == (
        "from 2026-01-01 to 2026-01-02 08:00:00"
    )
    assert Window.of("2026-01-01T00:00+02:00", "2026-01-02", NOW).start.day == 31


@pytest.mark.parametrize(("start", "end"), [("2026-01-02", "2026-01-01"), ("soon", None)])
def test_a_window_that_makes_no_sense_is_refused(start: str, end: str | None) -> None:
    with pytest.raises(BadWindow):
        Window.of(start, end, NOW)
