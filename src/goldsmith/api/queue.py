"""The route of the queue: what waits, in the order it will start, with scores and reasons."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from goldsmith.api.access import OpenRuntime, Viewer
from goldsmith.api.models import Page
from goldsmith.api.paging import Cursor, Limit, page_by_key
from goldsmith.api.requests import pipelines_of
from goldsmith.journal import requests
from goldsmith.journal.tables import RequestStatus
from goldsmith.worker.queue_view import queue_entries

router = APIRouter(prefix="/queue", tags=["requests"])


@router.get("", response_model=Page[dict[str, Any]])
def list_queue(
    caller: Viewer, runtime: OpenRuntime, limit: Limit = 50, cursor: Cursor = None
) -> Any:
    """What waits: position, score with its terms, why it waits, when it is expected to start."""
    found = [entry.as_plain() for entry in queue_entries(runtime)]
    allowed = caller.pipelines(runtime)
    if allowed is not None:
        mine = {
            request.request_id
            for request in requests.with_status(runtime.journal, RequestStatus.WAITING)
            if (names := pipelines_of(runtime, request)) and names <= allowed
        }
        found = [entry for entry in found if entry["request_id"] in mine]
    return page_by_key(found, lambda entry: f"{entry['position']:09}", cursor, limit)
