"""Idempotency keys: repeat an action's first answer instead of doing the action twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response

from goldsmith.api.access import Caller, runtime_of
from goldsmith.journal import idempotency

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Repeating a request with the same key returns the first answer.",
    ),
]


class Once:
    """Carries out an action of a request at most once for each idempotency key."""

    def __init__(self, request: Request, response: Response, key: str | None, body: bytes) -> None:
        self._request = request
        self._response = response
        self._key = key
        self._body = body

    def __call__(
        self, caller: Caller, act: Callable[[], dict[str, Any]], *, status: int = 200
    ) -> dict[str, Any]:
        """The answer of `act`, or the stored answer of the first request with this key."""
        self._response.status_code = status
        if self._key is None:
            return act()
        journal = runtime_of(self._request).journal
        stored = idempotency.begin(journal, caller.owner, self._key, self._hash())
        if stored is not None:
            self._response.status_code = stored.status or status
            self._response.headers["Idempotency-Replayed"] = "true"
            return dict(stored.answer)
        try:
            answer = act()
        except BaseException:
            idempotency.abandon(journal, caller.owner, self._key)
            raise
        idempotency.finish(journal, caller.owner, self._key, status=status, answer=answer)
        return answer

    def _hash(self) -> str:
        request = self._request
        line = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
        return hashlib.sha256(line + self._body).hexdigest()


async def once(
    request: Request, response: Response, idempotency_key: IdempotencyKey = None
) -> Once:
    """The dependency of routes that act."""
    return Once(request, response, idempotency_key, await request.body())


ActOnce = Annotated[Once, Depends(once)]
