"""Schedules: parse a pipeline's schedule and compute when the pipeline is due."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from typing import ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

from goldsmith.errors import GoldsmithError, nearest

_LONGEST = 200
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_UNITS = {"m": 60, "h": 3600, "d": 86400}
#: The name cronsim's error has for a field, the name people know, and what the field may hold.
_FIELDS = (
    ("minute", "minute", "0 to 59"),
    ("hour", "hour", "0 to 23"),
    ("day-of-month", "day of the month", "1 to 31, L or LW"),
    ("month", "month", "1 to 12 or jan to dec"),
    ("day-of-week", "day of the week", "0 to 7 or sun to sat, 5L, fri#1"),
)
#: `fri-sun`: cronsim counts Sunday at the end of a range as 7.
_TO_SUNDAY = re.compile(r"\b(?!sun|0)(\w+)-(?:sun|0)\b")
_DATASET = "dataset:"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(eq=False, kw_only=True)
class BadSchedule(GoldsmithError):
    """A schedule cannot be parsed."""

    schedule: str
    because: str

    def __str__(self) -> str:
        return f"'{self.schedule[:_LONGEST]}' cannot be read: {self.because}."

    @property
    def hint(self) -> str:
        return (
            "Write a cron line of five fields in UTC (`30 2 * * mon-fri`) or with a time zone"
            " (`0 6 * * * Europe/Zurich`), @hourly, @daily, @weekly, @monthly, `every 15m`,"
            " `every 2h`, `every 1d`, `after: PIPELINE`, `after: dataset:ID`, `on arrival` or"
            " `none`."
        )


class Schedule:
    """When a pipeline is due."""

    #: The pipeline after which it runs.
    after: str | None = None
    #: The dataset after whose publication it runs.
    after_dataset: str | None = None
    #: It runs when files arrive at its sources.
    on_arrival: bool = False
    #: False for a cron line whose date never occurs.
    fires: bool = True

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due time after a moment, in UTC; None for a schedule without times."""
        return None


@dataclass(frozen=True)
class OnRequest(Schedule):
    """`none`: the pipeline runs only on request."""


@dataclass(frozen=True)
class After(Schedule):
    """`after: pipeline`: whenever that pipeline has succeeded."""

    after: str


@dataclass(frozen=True)
class AfterDataset(Schedule):
    """`after: dataset:ID`: whenever that dataset was published."""

    after_dataset: str


@dataclass(frozen=True)
class OnArrival(Schedule):
    """`on arrival`: whenever new files are at its sources."""

    on_arrival: bool = True


@dataclass(frozen=True)
class Every(Schedule):
    """`every 15m`: at multiples of the interval since 1970, so that a restart does not shift it."""

    seconds: int

    def next_after(self, moment: datetime) -> datetime | None:
        whole = int((moment - _EPOCH).total_seconds() // self.seconds)
        return _EPOCH + timedelta(seconds=(whole + 1) * self.seconds)


@dataclass(frozen=True)
class Cron(Schedule):
    """A cron line of five fields, on the clock of a time zone.

    An hour that a change of the clock skips is due when the clock has moved on, and an hour that
    comes twice is due once; lines for every hour or minute (`*`) follow the elapsed time.
    """

    line: str
    zone: tzinfo = UTC

    _SOME_DAY: ClassVar[datetime] = datetime(2000, 1, 1, tzinfo=UTC)

    @cached_property
    def fires(self) -> bool:  # type: ignore[override]
        return self.next_after(self._SOME_DAY) is not None

    def next_after(self, moment: datetime) -> datetime | None:
        try:
            for local in CronSim(self.line, moment.astimezone(self.zone)):
                # In the second pass of an hour that comes twice, cronsim starts with the first.
                due = local.astimezone(UTC)
                if due > moment:
                    return due
        except (CronSimError, OverflowError, ValueError):
            return None  # a day that no month has, or the end of the calendar
        return None


@lru_cache(maxsize=4096)
def parse(text: str) -> Schedule:
    """Parse the text of a schedule."""
    stripped = text.strip()
    if not stripped or len(stripped) > _LONGEST:
        raise BadSchedule(
            schedule=text, because="it is empty" if not stripped else "it is too long"
        )
    first, *others = stripped.split(maxsplit=1)
    keyword, rest = first.lower(), "".join(others)
    if keyword == "none" and not rest:
        return OnRequest()
    if (keyword, rest.lower()) == ("on", "arrival"):
        return OnArrival()
    if keyword == "every":
        return _every(text, rest.lower())
    if keyword.startswith("after"):
        return _after(text, stripped[len("after") :].strip())
    if keyword.startswith("@"):
        if keyword not in _ALIASES:
            known = ", ".join(_ALIASES)
            raise BadSchedule(schedule=text, because=f"the words with @ are {known}")
        stripped = f"{_ALIASES[keyword]} {rest}"
    return _cron(text, stripped.split())


def _every(text: str, span: str) -> Every:
    number, unit = span[:-1].strip(), span[-1:]
    if unit not in _UNITS or not number.isdecimal() or not number.isascii():
        raise BadSchedule(schedule=text, because="after `every` comes a number with m, h or d")
    seconds = int(number[:9]) * _UNITS[unit]
    if not seconds or len(number) > 6:
        raise BadSchedule(schedule=text, because=f"it would run every {number}{unit}")
    return Every(seconds)


def _after(text: str, rest: str) -> Schedule:
    name = rest[1:].strip()
    if not rest.startswith(":") or not name:
        raise BadSchedule(schedule=text, because="it is to be `after: ` and a pipeline")
    if not name.startswith(_DATASET):
        return After(name)
    dataset = name.removeprefix(_DATASET).strip()
    if not dataset:
        raise BadSchedule(schedule=text, because="after `dataset:` comes a dataset")
    return AfterDataset(dataset)


def _cron(text: str, fields: list[str]) -> Cron:
    zone: tzinfo = UTC
    if len(fields) == len(_FIELDS) + 1 and any(letter.isalpha() for letter in fields[-1]):
        zone = _zone(text, fields.pop())
    if len(fields) != len(_FIELDS):
        because = f"a cron line has five fields and this has {len(fields)}"
        raise BadSchedule(schedule=text, because=because)
    minute, hour, day, month, weekday = (field.lower() for field in fields)
    day, weekday = day.replace("?", "*"), weekday.replace("?", "*")
    weekday = _TO_SUNDAY.sub(r"\1-7", weekday)
    try:
        # Every month: cronsim refuses 31 February too, which is a line that never fires.
        CronSim(f"{minute} {hour} {day} * {weekday}", _EPOCH)
        CronSim(f"{minute} {hour} * {month} {weekday}", _EPOCH)
    except CronSimError as error:
        raise BadSchedule(schedule=text, because=_which_field(str(error), fields)) from None
    return Cron(f"{minute} {hour} {day} {month} {weekday}", zone)


def _which_field(message: str, fields: list[str]) -> str:
    for (known_as, name, allowed), field in zip(_FIELDS, fields, strict=True):
        if message == f"Bad {known_as}":
            return f"the {name} is '{field}', and it may be {allowed}, in lists, ranges and steps"
    return "it is no cron line"


def _zone(text: str, name: str) -> tzinfo:
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        close = nearest(name, sorted(available_timezones()))
        because = f"the time zone '{name}' is not known" + (f" (is it {close}?)" if close else "")
        raise BadSchedule(schedule=text, because=because) from None
