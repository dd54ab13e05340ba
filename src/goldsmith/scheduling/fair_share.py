"""How long each request would take if all requests shared the slots fairly."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

#: Older points are forgotten once there are more than this.
_MOST_POINTS = 20_000


class FairShare:
    """The service that an active request would have had under fair sharing, over time."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._served: list[float] = []
        self._share = self._first_share = 1.0

    def advance(self, now: float, active: int, slots: int) -> None:
        """Set the number of requests that share the slots from now on."""
        share = min(1.0, max(1, slots) / max(1, active))
        if not self._times:
            self._times, self._served, self._first_share = [now], [0.0], share
        elif now > self._times[-1]:
            self._served.append(self._served[-1] + (now - self._times[-1]) * self._share)
            self._times.append(now)
        self._share = share
        if len(self._times) > _MOST_POINTS:
            del self._times[: _MOST_POINTS // 2], self._served[: _MOST_POINTS // 2]

    def seconds(self, since: float, total: float) -> float:
        """The seconds from `since` until a request of `total` seconds would have ended.

        The time before the first point counts as if the number was the same.
        """
        goal = self._served_at(since) + total
        if goal > self._served[-1]:
            return self._times[-1] - since + (goal - self._served[-1]) / self._share
        index = bisect_left(self._served, goal)
        if index == 0:
            return total / self._first_share
        low, high = self._served[index - 1], self._served[index]
        part = (goal - low) / (high - low) if high > low else 0.0
        at = self._times[index - 1] + part * (self._times[index] - self._times[index - 1])
        return at - since

    def _served_at(self, at: float) -> float:
        index = bisect_right(self._times, at)
        if index == 0:
            return self._served[0] - (self._times[0] - at) * self._first_share
        if index == len(self._times):
            return self._served[-1] + (at - self._times[-1]) * self._share
        low, high = self._times[index - 1], self._times[index]
        part = (at - low) / (high - low)
        return self._served[index - 1] + part * (self._served[index] - self._served[index - 1])
