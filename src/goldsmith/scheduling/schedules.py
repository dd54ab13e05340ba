"""When a pipeline is due: schedules, missed runs, catch-up and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from goldsmith.errors import GoldsmithError
from goldsmith.planning import schedules as parser


@dataclass(eq=False, kw_only=True)
class BadRunWindow(GoldsmithError):
    """A window in which a pipeline may run cannot be parsed."""

    window: str

    def __str__(self) -> str:
        return f"'{self.window}' is no window of the day."

    @property
    def hint(self) -> str:
        return "Write `22:00-06:00 Europe/Zurich`; without a time zone it is UTC."


class MissedRuns(StrEnum):
    """What happens to starts that fell due while no service ran."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class PipelineSchedule:
    """A parsed schedule. Exactly one of the kinds below is set; none: only on request."""

    text: str
    #: It has due times (cron or interval).
    timed: bool = False
    after_pipeline: str | None = None
    after_dataset: str | None = None
    on_arrival: bool = False


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
    if text.strip() == "on arrival":
        return PipelineSchedule(text=text, on_arrival=True)
    parsed = parser.parse(text)
    if parsed.after is not None:
        if parsed.after.startswith("dataset:"):
            return PipelineSchedule(text=text, after_dataset=parsed.after.removeprefix("dataset:"))
        return PipelineSchedule(text=text, after_pipeline=parsed.after)
    return PipelineSchedule(text=text, timed=not isinstance(parsed, parser.WhenAsked))


def due_times(schedule: PipelineSchedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """Due times in (after, until], in UTC, in order; empty if until <= after (clock went back)."""
    parsed, at = parser.parse(schedule.text), parser.parse(schedule.text).next_after(after)
    while at is not None and at <= until:
        yield at
        at = parsed.next_after(at)


def starts(
    schedule: PipelineSchedule,
    last_due: datetime,
    now: datetime,
    *,
    missed: MissedRuns = MissedRuns.ONCE,
    catch_up_limit: int = 100,
    on_time_seconds: float = 60.0,
) -> DueStarts:
    """What falls due between the last due time handled and now, by the policy for missed runs."""
    found = tuple(due_times(schedule, last_due, now))
    on_time = tuple(due for due in found if (now - due).total_seconds() <= on_time_seconds)
    late = found[: len(found) - len(on_time)]
    caught_up = {
        MissedRuns.SKIP: (),
        MissedRuns.ONCE: () if on_time else late[-1:],
        MissedRuns.ALL: late[-catch_up_limit:] if catch_up_limit else (),
    }[missed]
    left_out = len(late) - len(caught_up)
    because = f"{left_out} missed starts are left out" if left_out else ""
    return DueStarts((*caught_up, *on_time), left_out, because)


def next_open(window: str | None, now: datetime) -> datetime:
    """`now` if the window is open, else when it opens next; raises BadRunWindow."""
    if window is None:
        return now
    try:
        span, _, zone = window.strip().partition(" ")
        first, last = (time.fromisoformat(part) for part in span.split("-"))
        local = now.astimezone(ZoneInfo(zone.strip() or "UTC"))
    except (ValueError, ZoneInfoNotFoundError):
        raise BadRunWindow(window=window) from None
    clock = local.time().replace(tzinfo=None)
    is_open = first <= clock < last if first <= last else clock >= first or clock < last
    if is_open:
        return now
    opens = local.replace(hour=first.hour, minute=first.minute, second=0, microsecond=0)
    return (opens if opens > local else opens + timedelta(days=1)).astimezone(UTC)
