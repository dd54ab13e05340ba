"""Routes of healing: the pairs of error code and remedy with their success rates, and uses."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from goldsmith.api.access import OpenRuntime, ViewerOfAll
from goldsmith.api.paging import Limit
from goldsmith.healing.codes import code, codes
from goldsmith.healing.pair_rates import pair_rates
from goldsmith.journal import healing

router = APIRouter(tags=["healing"])


@router.get("/healing/pairs")
def pairs(caller: ViewerOfAll, runtime: OpenRuntime) -> list[dict[str, Any]]:
    """Every pair of error code and remedy, with how often it was used and helped."""
    return pair_rates(runtime.catalog.snapshot(), healing.uses(runtime.journal))


@router.get("/healing/uses")
def uses(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    pipeline: Annotated[str | None, Query(max_length=300)] = None,
    limit: Limit = 50,
) -> list[dict[str, Any]]:
    """The remedies that were used, newest first, and whether they helped."""
    found = healing.uses(runtime.journal, pipeline_id=pipeline, most=limit)
    return [use.as_plain() for use in found]


@router.get("/errors")
def list_errors(caller: ViewerOfAll) -> list[dict[str, Any]]:
    """Every error code, its meaning and what to do."""
    return [known.as_plain() for known in codes().values()]


@router.get("/errors/{name}")
def explain_error(caller: ViewerOfAll, name: str) -> dict[str, Any]:
    """One error code, its meaning and what to do."""
    return code(name).as_plain()
