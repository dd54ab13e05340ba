"""When a pipeline is due: schedules, missed runs, catch-up and windows.

Due times are elapsed time, in UTC. A cron line follows the clock of its zone: a time that the
change to summer time skips is due when the clock has moved on; a time that comes twice is due
once. A service whose clock goes back fires nothing twice: only times after the last due time count.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from zoneinfo import ZoneInfo

from goldsmith.errors import GoldsmithError
from goldsmith.planning.schedules import BadSchedule, Schedule, parse

_DATASET = "dataset:"
_WINDOW = re.compile(
    r"(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)(?:\s+([a-z]{3})(?:-([a-z]{3}))?)?(?:\s+(\S+/\S+|UTC))?",
    re.IGNORECASE,
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: More missed starts than this are not even counted one by one.
_MOST_COUNTED = 100_000


class MissedRuns(StrEnum):
    """What happens to starts that fell due while no service ran."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


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


@dataclass(frozen=True, slots=True)
class PipelineSchedule:
    """A parsed schedule. Exactly one of the kinds below is set; none: only on request."""

    text: str
    #: It has due times (cron or interval).
    timed: bool = False
    after_pipeline: str | None = None
    after_dataset: str | None = None
    on_arrival: bool = False
    _times: Schedule | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class DueStarts:
    """The starts to put as requests now."""

    #: Due times in order; each is one request (pipeline + due time are unique).
    due: tuple[datetime, ...]
    #: Starts that the policy or the limit leaves out.
    left_out: int
    because: str


def parse_schedule(text: str | None) -> PipelineSchedule:
    """Parse `pipelines.schedule`; raises BadSchedule."""
    if text is None:
        return PipelineSchedule(text="none")
    if " ".join(text.lower().split()) == "on arrival":
        return PipelineSchedule(text=text, on_arrival=True)
    parsed = parse(text)
    after = parsed.after
    if after is None:
        timed = parsed.next_after(datetime(2000, 1, 1, tzinfo=UTC)) is not None
        return PipelineSchedule(text=text, timed=timed, _times=parsed)
    if not after.startswith(_DATASET):
        return PipelineSchedule(text=text, after_pipeline=after)
    dataset = after.removeprefix(_DATASET).strip()
    if not dataset:
        raise BadSchedule(schedule=text, because="after `dataset:` comes a dataset")
    return PipelineSchedule(text=text, after_dataset=dataset)


def due_times(schedule: PipelineSchedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """Due times in (after, until], in UTC, in order; empty if until <= after (clock went back)."""
    if schedule._times is None:
        return
    due = schedule._times.next_after(after)
    while due is not None and due <= until:
        yield due
        due = schedule._times.next_after(due)


def starts(
    schedule: PipelineSchedule,
    last_due: datetime,
    now: datetime,
    *,
    missed: MissedRuns = MissedRuns.ONCE,
    catch_up_limit: int = 100,
    on_time_seconds: float = 60.0,
) -> DueStarts:
    """What falls due between the last due time handled and now, by the policy for missed runs.

    A start is missed if it is older than `on_time_seconds`. `skip` leaves missed starts out,
    `once` keeps the latest of them if no start is on time, `all` keeps the latest
    `catch_up_limit` of them.
    """
    limit = max(0, catch_up_limit)
    on_time: list[datetime] = []
    late: deque[datetime] = deque(maxlen=max(1, limit))
    count = 0
    for due in islice(due_times(schedule, last_due, now), _MOST_COUNTED):
        if (now - due).total_seconds() <= on_time_seconds:
            on_time.append(due)
        else:
            late.append(due)
            count += 1
    kept: list[datetime] = []
    if missed is MissedRuns.ALL:
        kept = list(late) if limit else []
    elif missed is MissedRuns.ONCE and not on_time and late:
        kept = [late[-1]]
    left_out = count - len(kept)
    because = f"{left_out} missed starts are left out ({missed.value})." if left_out else ""
    return DueStarts((*kept, *on_time), left_out, because)


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
        # The wall clock of the zone says when it opens and when it ends.
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
