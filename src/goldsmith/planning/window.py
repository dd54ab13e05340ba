"""A window of time, from start to end: a backfill reads the data in it again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from goldsmith.errors import GoldsmithError
from goldsmith.storage.files import ListedFile

#: `day=2026-01-31`, `dt=2026-01-31-08`, a folder `2026-01-31`, or year, month and day apart.
_DATE = re.compile(r"(?:^|/|=)(\d{4})-(\d{2})-(\d{2})(?:[-T_]\d{2})?(?=/)")
_PARTS = re.compile(r"(?:^|/)(?:year=)?(\d{4})/(?:month=)?(\d{1,2})/(?:day=)?(\d{1,2})(?=/)")


@dataclass(eq=False, kw_only=True)
class BadWindow(GoldsmithError):
    """A window's start or end is no date or time, or the start is not before the end."""

    value: str

    def __str__(self) -> str:
        return f"{self.value} is no window of time."

    @property
    def hint(self) -> str:
        return "Write --from 2026-01-01 --to 2026-02-01 (UTC); the end is not part of it."


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """From `start` until just before `end`, in UTC."""

    start: datetime
    end: datetime

    @classmethod
    def of(cls, start: str, end: str | None, now: datetime) -> Window:
        """Parse a window; without an end it lasts until now."""
        made = cls(start=moment(start), end=now if end is None else moment(end))
        if made.start >= made.end:
            raise BadWindow(value=f"From {start} to {end or 'now'}")
        return made

    def holds(self, at: datetime) -> bool:
        return self.start <= at < self.end

    def holds_file(self, file: ListedFile) -> bool:
        """Compare the day in the file's path, or without one the time of its last change."""
        day = day_of(file.path)
        if day is None:
            return self.holds(file.modified_at.astimezone(UTC))
        return self.touches(day)

    def touches(self, day: datetime) -> bool:
        """The day overlaps the window."""
        return day < self.end and self.start < day + timedelta(days=1)

    def __str__(self) -> str:
        return f"from {_short(self.start)} to {_short(self.end)}"


def moment(text: str) -> datetime:
    """Parse an ISO day or time; UTC unless the text has an offset."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadWindow(value=f"'{text}'") from None


def day_of(path: str) -> datetime | None:
    """The day in a path's folders; None where they name none."""
    found = _DATE.search(path) or _PARTS.search(path)
    if found is None:
        return None
    year, month, day = (int(part) for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _short(at: datetime) -> str:
    return f"{at:%Y-%m-%d}" if at.time() == datetime.min.time() else f"{at:%Y-%m-%d %H:%M:%S}"
