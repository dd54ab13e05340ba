"""Routes of the audit log: read events, and follow them as they are recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from goldsmith.api.access import OpenRuntime, Viewer
from goldsmith.api.event_feed import EventFeed
from goldsmith.api.models import Page, model_of
from goldsmith.api.paging import Cursor, Limit, page, position_of
from goldsmith.journal.tables import AuditEvent

router = APIRouter(prefix="/events", tags=["events"])

EventModel = model_of(AuditEvent)
#: A comment is sent after this many silent seconds, so that proxies keep the connection.
_SILENCE_SECONDS = 15.0


@router.get("", response_model=Page[EventModel])  # type: ignore[valid-type]
def list_events(
    caller: Viewer,
    runtime: OpenRuntime,
    pipeline: Annotated[str | None, Query(max_length=300)] = None,
    kind: Annotated[list[str] | None, Query(max_length=100)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Any:
    """Events, newest first."""
    allowed = caller.pipelines(runtime)
    if pipeline is not None:
        caller.check(runtime, [pipeline])
    before = position_of(cursor, int)
    found = runtime.journal.read(
        pipeline_id=pipeline,
        pipelines=allowed,
        kinds=kind or (),
        before_event_id=None if before is None else before[0],
        most=limit + 1,
        newest_first=True,
    )
    return page(found, limit, AuditEvent.as_plain, lambda event: [event.event_id])


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def stream(
    request: Request,
    caller: Viewer,
    runtime: OpenRuntime,
    after: Annotated[int | None, Query(ge=0, description="Begin after this event.")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Server-sent events: each new event of the audit log, with its event_id.

    A client that reconnects sends `Last-Event-ID` and misses nothing.
    """
    feed: EventFeed = request.app.state.feed
    allowed = caller.pipelines(runtime)
    begin = int(last_event_id) if last_event_id and last_event_id.isdigit() else after

    async def lines() -> AsyncIterator[str]:
        position = feed.newest if begin is None else begin
        yield f"retry: 1000\n: the stream begins after event {position}\n\n"
        while not feed.closed:
            events = await feed.after(position, timeout=_SILENCE_SECONDS)
            if not events:
                yield ": silence\n\n"
            for event in events:
                position = event.event_id
                if allowed is None or event.pipeline_id in allowed:
                    body = json.dumps(event.as_plain(), default=str)
                    yield f"id: {event.event_id}\nevent: {event.kind}\ndata: {body}\n\n"
            if await request.is_disconnected():
                return
            await asyncio.sleep(0)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)
