"""Schedules: parse a pipeline's schedule and compute when the pipeline is due."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import ClassVar

from goldsmith.errors import GoldsmithError

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
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
#: Name of the field, minimum, maximum, and the names that may be used for numbers.
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, start=1)}),
    ("day of the week", 0, 7, {name: number for number, name in enumerate(_WEEKDAYS)}),
)
#: A 29 February on a given weekday recurs within forty years, also around 2100.
_YEARS_AHEAD = 40
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
            "Write a cron line of five fields in UTC (`30 2 * * mon-fri`), @hourly, @daily,"
            " @weekly, @monthly, `every 15m`, `every 2h`, `every 1d`, `after: PIPELINE` or `none`."
        )


class Schedule:
    """When a pipeline is due."""

    #: The pipeline after which it runs.
    after: str | None = None
    #: False for a cron line whose date never occurs.
    fires: bool = True

    def next_after(self, moment: datetime) -> datetime | None:
        """The first due time after a moment, in UTC; None for a schedule without times."""
        return None


@dataclass(frozen=True)
class WhenAsked(Schedule):
    """`none`: the pipeline runs only on request."""


@dataclass(frozen=True)
class After(Schedule):
    """`after: pipeline`: whenever that pipeline has succeeded."""

    after: str


@dataclass(frozen=True)
class Every(Schedule):
    """`every 15m`: at multiples of the interval since 1970, so that a restart does not shift it."""

    seconds: int

    def next_after(self, moment: datetime) -> datetime | None:
        whole = int((moment - _EPOCH).total_seconds() // self.seconds)
        return _EPOCH + timedelta(seconds=(whole + 1) * self.seconds)


@dataclass(frozen=True)
class Cron(Schedule):
    """A cron line of five fields."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    #: Sunday is 0.
    weekdays: frozenset[int]
    #: Day of month and day of week are both limited: then one match is enough, as in every cron.
    either_day: bool

    _SOME_DAY: ClassVar[datetime] = datetime(2000, 1, 1, tzinfo=UTC)

    @cached_property
    def fires(self) -> bool:  # type: ignore[override]
        return self.next_after(self._SOME_DAY) is not None

    def next_after(self, moment: datetime) -> datetime | None:
        moment = moment.astimezone(UTC)
        day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if self._has(day):
            for hour in self.hours:
                for minute in self.minutes:
                    due = day.replace(hour=hour, minute=minute)
                    if due > moment:
                        return due
        for year in range(day.year, min(day.year + _YEARS_AHEAD, datetime.max.year) + 1):
            for month in sorted(self.months):
                for number in range(1, monthrange(year, month)[1] + 1):
                    later = datetime(year, month, number, tzinfo=UTC)
                    if later > day and self._has(later):
                        return later.replace(hour=self.hours[0], minute=self.minutes[0])
        return None

    def _has(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week


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
        return WhenAsked()
    if keyword == "every":
        return _every(text, rest.lower())
    if keyword.startswith("after"):
        return _after(text, stripped[len("after") :].strip())
    if keyword.startswith("@"):
        if keyword not in _ALIASES or rest:
            known = ", ".join(_ALIASES)
            raise BadSchedule(schedule=text, because=f"the words with @ are {known}")
        stripped = _ALIASES[keyword]
    return _cron(text, stripped.lower().split())


def _every(text: str, span: str) -> Every:
    number, unit = span[:-1].strip(), span[-1:]
    if unit not in _UNITS or not number.isdecimal() or not number.isascii():
        raise BadSchedule(schedule=text, because="after `every` comes a number with m, h or d")
    seconds = int(number[:9]) * _UNITS[unit]
    if not seconds or len(number) > 6:
        raise BadSchedule(schedule=text, because=f"it would run every {number}{unit}")
    return Every(seconds)


def _after(text: str, rest: str) -> After:
    if not rest.startswith(":") or not rest[1:].strip():
        raise BadSchedule(schedule=text, because="it is to be `after: ` and a pipeline")
    return After(rest[1:].strip())


def _cron(text: str, fields: list[str]) -> Cron:
    if len(fields) != len(_FIELDS):
        because = f"a cron line has five fields and this has {len(fields)}"
        raise BadSchedule(schedule=text, because=because)
    minutes, hours, days, months, weekdays = (
        _numbers(text, field, *limits) for field, limits in zip(fields, _FIELDS, strict=True)
    )
    limited = [not field.startswith(("*", "?")) for field in (fields[2], fields[4])]
    return Cron(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(number % 7 for number in weekdays),
        either_day=all(limited),
    )


def _numbers(
    text: str, field: str, name: str, least: int, most: int, names: dict[str, int]
) -> frozenset[int]:
    """The numbers in a cron field: lists, ranges and steps."""

    def number(digits: str) -> int:
        if digits in names:
            return names[digits]
        if not (digits.isdecimal() and digits.isascii()) or not least <= int(digits) <= most:
            because = f"the {name} is '{digits}', and it may be {least} to {most}"
            raise BadSchedule(schedule=text, because=because)
        return int(digits)

    found: set[int] = set()
    for part in field.split(","):
        span, slash, step = part.partition("/")
        if slash and not (step.isdecimal() and step.isascii() and int(step)):
            raise BadSchedule(schedule=text, because=f"the {name} has the step '{step}'")
        first, dash, last = span.partition("-")
        if span in ("*", "?"):
            low, high = least, most
        else:
            low = number(first)
            high = number(last) if dash else (most if slash else low)
        if high == 0 and low and most == 7:
            high = 7  # fri-sun
        if low > high:
            because = f"the {name} goes from {first} back to {last}"
            raise BadSchedule(schedule=text, because=because)
        found.update(range(low, high + 1, int(step) if slash else 1))
    return frozenset(found)
