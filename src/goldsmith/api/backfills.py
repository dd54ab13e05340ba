"""Routes of backfills: which there are, and how far each of them is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from goldsmith.api.access import OpenRuntime, Viewer
from goldsmith.api.models import Page
from goldsmith.api.paging import Cursor, Limit, page, position_of
from goldsmith.worker import backfills
from goldsmith.worker.backfills import Backfill

router = APIRouter(prefix="/backfills", tags=["backfills"])


@router.get("", response_model=Page[dict[str, Any]])
def list_backfills(
    caller: Viewer, runtime: OpenRuntime, limit: Limit = 50, cursor: Cursor = None
) -> Any:
    """Backfills, newest first, each with its windows by status."""
    before = position_of(cursor, str)
    allowed = caller.pipelines(runtime)
    found = [
        each
        for each in backfills.backfills(runtime.journal)
        if (before is None or each.backfill_id < before[0])
        and (allowed is None or set(each.pipelines) <= allowed)
    ]
    return page(found[: limit + 1], limit, Backfill.as_plain, lambda each: [each.backfill_id])


@router.get("/{backfill_id}")
def show_backfill(caller: Viewer, runtime: OpenRuntime, backfill_id: str) -> dict[str, Any]:
    """One backfill: how many of its windows have which status."""
    found = backfills.backfill(runtime.journal, backfill_id)
    caller.check(runtime, found.pipelines or [None])
    return found.as_plain()
