"""Limits of the door: the size of a body, its depth, and how often a caller may ask."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

from fastapi import Request, Response

from goldsmith.api.problems import answer_error
from goldsmith.errors import GoldsmithError

#: Largest body of a request. A catalog of thousands of pipelines as YAML is below it.
LARGEST_BODY = 10_000_000
#: Requests a second of one caller over time, and at once after a pause.
PER_SECOND, AT_ONCE = 100.0, 400.0
#: Callers remembered; the one that was silent longest is forgotten first.
_MOST_CALLERS = 10_000


@dataclass(eq=False, kw_only=True)
class BodyTooLarge(GoldsmithError):
    """The body of a request is larger than the service reads."""

    bytes: int
    most: int

    def __str__(self) -> str:
        return f"The body has {self.bytes:,} bytes; at most {self.most:,} are read."

    @property
    def hint(self) -> str:
        return "Send less at once."


@dataclass(eq=False, kw_only=True)
class TooManyRequests(GoldsmithError):
    """A caller sends requests faster than the service answers them."""

    transient = True

    def __str__(self) -> str:
        return f"More than {PER_SECOND:g} requests a second came from one caller."

    @property
    def hint(self) -> str:
        return "Wait a second, and ask less often; `/api/v1/events/stream` tells what changes."


class RequestRates:
    """A token bucket for each caller, in memory."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, now: float) -> bool:
        """Whether the caller may send one more request at this time."""
        tokens, last = self._buckets.pop(caller, (AT_ONCE, now))
        tokens = min(AT_ONCE, tokens + (now - last) * PER_SECOND)
        allowed = tokens >= 1
        self._buckets[caller] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        return allowed


def refusal(request: Request) -> Response | None:
    """The answer to a request that is too large or comes too soon; None if it may go on.

    Only requests that say how long their body is are read: a body without an announced length
    could be endless.
    """
    rates: RequestRates = request.app.state.rates
    # The gateway takes pushes of many senders behind one address, each with its own key.
    is_push = request.url.path.startswith("/ingest/")
    key = request.headers.get("authorization") or request.cookies.get("goldsmith_session")
    address = request.client.host if request.client is not None else "unknown"
    if not is_push and not rates.take(key or address, time.monotonic()):
        return answer_error(request, TooManyRequests())
    length = request.headers.get("content-length", "0")
    size = int(length) if length.isdigit() else LARGEST_BODY + 1
    if size > LARGEST_BODY or "transfer-encoding" in request.headers:
        return answer_error(request, BodyTooLarge(bytes=size, most=LARGEST_BODY))
    return None
