"""The window of the day in which a pipeline may start: `22:00-06:00 mon-fri Europe/Zurich`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from goldsmith.errors import GoldsmithError

_WINDOW = re.compile(
    r"(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)(?:\s+([a-z]{3})(?:-([a-z]{3}))?)?(?:\s+(\S+/\S+|UTC))?",
    re.IGNORECASE,
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(eq=False, kw_only=True)
class BadRunWindow(GoldsmithError):
    """The window in which a pipeline may run cannot be used."""

    window: str
    because: str

    def __str__(self) -> str:
        return f"The window '{self.window[:200]}' cannot be used: {self.because}."

    @property
    def hint(self) -> str:
        return "Write `22:00-06:00`, `22:00-06:00 mon-fri` or `22:00-06:00 mon-fri Europe/Zurich`."


def next_open(window: str | None, now: datetime) -> datetime:
    """`now` if the window is open, else when it opens next; raises BadRunWindow.

    The end is excluded. `22:00-06:00 fri` opens on Friday at 22:00 and ends on Saturday at 06:00.
    """
    if window is None or not window.strip():
        return now
    starts_at, length, days, zone = _window(window)
    local = now.astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    for offset in range(-1, 9):
        day = midnight + timedelta(days=offset)
        if day.weekday() not in days:
            continue
        # It opens and ends by the wall clock of the zone.
        opens = (day + starts_at).astimezone(UTC)
        ends = (day + starts_at + length).astimezone(UTC)
        if opens <= now < ends:
            return now
        if opens > now:
            return opens
    raise BadRunWindow(window=window, because="it never opens")


def _window(text: str) -> tuple[timedelta, timedelta, frozenset[int], ZoneInfo]:
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise BadRunWindow(window=text, because="it is not a span of the day")
    first_hour, first_minute, last_hour, last_minute = (int(part) for part in found.groups()[:4])
    if max(first_minute, last_minute) > 59 or first_hour > 23 or last_hour > 24:
        raise BadRunWindow(window=text, because="it names a time that no day has")
    start = timedelta(hours=first_hour, minutes=first_minute)
    end = timedelta(hours=last_hour, minutes=last_minute)
    if start == end:
        raise BadRunWindow(window=text, because="it never opens: both times are the same")
    day, last_day, zone = found.groups()[4:]
    numbers = frozenset(range(7))
    if day is not None:
        if day.lower() not in _DAYS or (last_day or day).lower() not in _DAYS:
            raise BadRunWindow(window=text, because="it names a day that no week has")
        low, high = _DAYS.index(day.lower()), _DAYS.index((last_day or day).lower())
        numbers = frozenset((low + step) % 7 for step in range((high - low) % 7 + 1))
    try:
        clock = ZoneInfo(zone or "UTC")
    except (KeyError, ValueError, OSError):
        raise BadRunWindow(window=text, because=f"there is no time zone '{zone}'") from None
    return start, (end - start) % timedelta(days=1), numbers, clock
