"""Routes of datasets: list, contents, sample, freshness, verdicts, and quarantined rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from goldsmith.api.access import OpenRuntime, ViewerOfAll
from goldsmith.api.models import Page
from goldsmith.api.paging import Cursor, Limit, page_by_key
from goldsmith.catalog.columns import plain
from goldsmith.engine.personal_data import masked, personal_of
from goldsmith.errors import BadRequest
from goldsmith.journal import health, runs, verdicts
from goldsmith.planning import dataset_info
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.stage_context import dataset_of
from goldsmith.worker.incidents import freshness

router = APIRouter(prefix="/datasets", tags=["datasets"])


@router.get("", response_model=Page[dict[str, Any]])
def list_datasets(
    caller: ViewerOfAll, runtime: OpenRuntime, limit: Limit = 200, cursor: Cursor = None
) -> Any:
    """Every dataset with its location and the stages that write and read it."""
    rows = runtime.catalog_indexer.catalog_index()
    names = [{"dataset_id": name} for name in rows.rows.dataset_ids]
    found = page_by_key(names, lambda row: str(row["dataset_id"]), cursor, limit)
    found["items"] = [dataset_info.overview(rows, str(row["dataset_id"])) for row in found["items"]]
    return found


@router.get("/freshness")
def list_freshness(
    caller: ViewerOfAll, runtime: OpenRuntime, stale: bool = False
) -> list[dict[str, Any]]:
    """When each dataset was last updated and how old it may be, the stalest first."""
    return [
        plain({**asdict(dataset), "is_stale": dataset.is_stale})
        for dataset in freshness(runtime)
        if dataset.is_stale or not stale
    ]


@router.get("/health", response_model=Page[dict[str, Any]])
def list_health(
    caller: ViewerOfAll, runtime: OpenRuntime, limit: Limit = 200, cursor: Cursor = None
) -> Any:
    """What probes found of the datasets that have another way."""
    found = [row.as_plain() for row in health.all_health(runtime.journal)]
    return page_by_key(found, lambda row: str(row["dataset_id"]), cursor, limit)


@router.get("/{dataset_id}")
def show_dataset(caller: ViewerOfAll, runtime: OpenRuntime, dataset_id: str) -> dict[str, Any]:
    """A dataset's schema, size, snapshots and last publishes."""
    rows = runtime.catalog.snapshot()
    dataset = dataset_info.find(rows, dataset_id)
    held = dataset_info.dataset_info(dataset, runtime.storage)
    last = [
        run.as_plain()
        for stage in dataset.writers
        if (run := runs.last_success(runtime.journal, stage.pipeline_id, stage.stage_order))
    ]
    overview = dataset_info.overview(runtime.catalog_indexer.catalog_index(), dataset_id)
    return {**overview, **held.as_plain(), "last_runs": last}


@router.get("/{dataset_id}/sample")
def sample(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    most: Annotated[int, Query(ge=1, le=200)] = 20,
) -> list[dict[str, Any]]:
    """Some published rows of a lake table; columns with personal data are masked."""
    rows = runtime.catalog.snapshot()
    dataset = dataset_info.find(rows, dataset_id)
    if dataset_kind(dataset) != "table":
        raise BadRequest(
            sentence=f"The service reads samples of lake tables only; {dataset_id} is none.",
            advice=f"`goldsmith datasets sample {dataset_id}` reads it with Spark.",
        )
    hide = personal_of(dataset_of(dataset_id, rows), rows)
    found = dataset_info.sample(dataset, runtime.storage, most)
    return [{name: _json(value) for name, value in masked(row, hide).items()} for row in found]


@router.get("/{dataset_id}/verdicts")
def list_verdicts(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    check: Annotated[str | None, Query(max_length=200)] = None,
    failed: bool = False,
    limit: Limit = 100,
) -> list[dict[str, Any]]:
    """The newest verdicts of the checks on a dataset."""
    dataset_info.find(runtime.catalog.snapshot(), dataset_id)
    found = verdicts.recent(
        runtime.journal, dataset_id=dataset_id, check_name=check, failed=failed, most=limit
    )
    return [verdict.as_plain() for verdict in found]


def _json(value: Any) -> Any:
    """A value of a row as JSON has it; what JSON has no type for becomes text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, dict):
        return {str(name): _json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    return str(value)
