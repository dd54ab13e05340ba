"""Routes of throttles: the limits, and how fast their datasets are used now."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from goldsmith.api.access import OpenRuntime, ViewerOfAll
from goldsmith.api.models import Page
from goldsmith.api.paging import Cursor, Limit, page_by_key
from goldsmith.engine.pace.states import current_state, current_states

router = APIRouter(prefix="/throttles", tags=["throttles"])


@router.get("", response_model=Page[dict[str, Any]])
def list_throttles(
    caller: ViewerOfAll, runtime: OpenRuntime, limit: Limit = 200, cursor: Cursor = None
) -> Any:
    """Every throttle: its threshold, the rate in effect, and the use in the last minute."""
    found = [state.as_plain() for state in current_states(runtime.journal)]
    return page_by_key(found, lambda row: str(row["throttle_id"]), cursor, limit)


@router.get("/{throttle_id}")
def show_throttle(caller: ViewerOfAll, runtime: OpenRuntime, throttle_id: str) -> dict[str, Any]:
    """One throttle: its tokens, who holds some of them, and who waits for it."""
    return current_state(runtime.journal, throttle_id).as_plain()
