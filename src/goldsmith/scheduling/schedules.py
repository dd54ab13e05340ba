"""When a pipeline is due: schedules, missed runs, catch-up and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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
    raise NotImplementedError


def due_times(schedule: PipelineSchedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """Due times in (after, until], in UTC, in order; empty if until <= after (clock went back)."""
    raise NotImplementedError


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
    raise NotImplementedError


def next_open(window: str | None, now: datetime) -> datetime:
    """`now` if the window is open, else when it opens next; raises BadRunWindow."""
    raise NotImplementedError
