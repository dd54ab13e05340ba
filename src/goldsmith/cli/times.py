"""Format times and durations for people."""

from __future__ import annotations

from datetime import datetime

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def span(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `2 d 4 h`: the two largest units only."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    left = round(seconds)
    parts: list[tuple[int, str]] = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append((count, name))
    return " ".join(f"{count} {name}" for count, name in parts[:2] if count)


def ago(moment: datetime | None, now: datetime) -> str:
    """`3 min 20 s ago`."""
    return "" if moment is None else f"{span((now - moment).total_seconds())} ago"


def local(moment: datetime | None) -> str:
    """`2026-11-16 09:30:12`, in the local time zone."""
    return "" if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def between(start: datetime | None, end: datetime | None) -> str:
    """The duration, if both times are known."""
    return "" if start is None or end is None else span((end - start).total_seconds())
