"""The route of the services and workers: where they run, and what they run now."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from goldsmith.api.access import OpenRuntime, ViewerOfAll
from goldsmith.journal.workers import with_their_requests

router = APIRouter(prefix="/workers", tags=["workers"])


@router.get("")
def list_workers(
    caller: ViewerOfAll, runtime: OpenRuntime, all: bool = False
) -> list[dict[str, Any]]:
    """The services and workers; with `all` those that ended in the last day too."""
    return with_their_requests(runtime.journal, everything=all)
