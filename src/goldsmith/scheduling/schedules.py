"""When a pipeline is due: schedules, missed runs and catch-up.

Due times are elapsed time, in UTC. A cron line follows the clock of its zone: a time that the
change to summer time skips is due when the clock has moved on; a time that comes twice is due
once. If the clock of a service is set back, no start fires twice: only times after the last due
time count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice

from goldsmith.planning.schedules import Schedule, parse

#: More missed starts than this are not even counted one by one.
_MOST_COUNTED = 100_000


class MissedRuns(StrEnum):
    """The policy for starts that were due while no service ran."""

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
    _times: Schedule | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class DueStarts:
    """The starts that become requests now."""

    #: Due times in order; each is one request (pipeline + due time are unique).
    due: tuple[datetime, ...]
    #: Starts that the policy or the limit leaves out.
    left_out: int
    because: str


def parse_schedule(text: str | None) -> PipelineSchedule:
    """Parse `pipelines.schedule`; raises BadSchedule."""
    if text is None:
        return PipelineSchedule(text="none")
    parsed = parse(text)
    return PipelineSchedule(
        text=text,
        timed=parsed.next_after(datetime(2000, 1, 1, tzinfo=UTC)) is not None,
        after_pipeline=parsed.after,
        after_dataset=parsed.after_dataset,
        on_arrival=parsed.on_arrival,
        _times=parsed,
    )


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
