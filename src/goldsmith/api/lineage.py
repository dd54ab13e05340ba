"""Routes of the lineage: up, down, columns, impact, hotspots, ways, rehearsed outages, export."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from goldsmith.api.access import OpenRuntime, ViewerOfAll
from goldsmith.api.models import Page
from goldsmith.api.paging import Cursor, Limit, page_by_key
from goldsmith.worker import lineage_view, path_view
from goldsmith.worker.drill import rehearse_now

router = APIRouter(tags=["lineage"])

Depth = Annotated[int | None, Query(ge=1, le=10_000, description="At most so many steps away.")]
Layers = Annotated[
    list[str] | None, Query(max_length=50, description="Only datasets of these layers.")
]
Downs = Annotated[list[str] | None, Query(max_length=100, description="Datasets that are down.")]


class ExportFormat(StrEnum):
    """A format that the lineage is exported in."""

    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"
    CYPHER = "cypher"
    GREMLIN = "gremlin"
    HTML = "html"


class ImpactPage(Page[dict[str, Any]]):
    """A page of the datasets that a loss reaches, those that are lost first, each nearest first."""

    dataset_id: str
    lost: int = Field(description="How many datasets cannot be made without it.")
    other: int = Field(description="How many datasets another way still makes.")


_MEDIA_TYPES: Mapping[ExportFormat, str] = {
    ExportFormat.JSON: "application/json",
    ExportFormat.GRAPHML: "application/xml",
    ExportFormat.HTML: "text/html",
}


@router.get("/lineage/hotspots")
def list_hotspots(
    caller: ViewerOfAll, runtime: OpenRuntime, most: Annotated[int, Query(ge=1, le=1000)] = 20
) -> list[dict[str, Any]]:
    """The datasets with the most and most valuable dependants."""
    return lineage_view.ranked_hotspots(runtime, most)


@router.get(
    "/lineage/export",
    response_class=Response,
    responses={200: {"description": "The lineage as a file.", "content": {"text/plain": {}}}},
)
def export_lineage(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    format: ExportFormat = ExportFormat.JSON,
    dataset: Annotated[str | None, Query(max_length=600)] = None,
    depth: Depth = None,
) -> Response:
    """The lineage, of one dataset or of all, as a file for another tool."""
    text, _number = lineage_view.exported(runtime, format.value, dataset, depth)
    # A download: the page's policy would not let the script of the HTML file run.
    return Response(
        text,
        media_type=_MEDIA_TYPES.get(format, "text/plain"),
        headers={"Content-Disposition": f'attachment; filename="lineage.{format.value}"'},
    )


@router.get("/lineage/{dataset_id}/up", response_model=Page[dict[str, Any]])
def list_upstream(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    depth: Depth = None,
    layer: Layers = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Any:
    """The datasets that feed a dataset, nearest first."""
    graph = lineage_view.current_graph(runtime)
    found = lineage_view.around(
        runtime, graph, dataset_id, is_up=True, depth=depth, layers=layer or ()
    )
    return page_by_key(found, _nearest_first, cursor, limit)


@router.get("/lineage/{dataset_id}/down", response_model=Page[dict[str, Any]])
def list_downstream(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    depth: Depth = None,
    layer: Layers = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Any:
    """The datasets that a dataset feeds, nearest first."""
    graph = lineage_view.current_graph(runtime)
    found = lineage_view.around(
        runtime, graph, dataset_id, is_up=False, depth=depth, layers=layer or ()
    )
    return page_by_key(found, _nearest_first, cursor, limit)


@router.get("/lineage/{dataset_id}/columns", response_model=Page[dict[str, Any]])
def list_columns(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    column: Annotated[str | None, Query(max_length=600)] = None,
    down: Annotated[bool, Query(description="What the columns feed, not their sources.")] = False,
    depth: Depth = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Any:
    """Which columns a dataset's columns are made of, as `column_lineage` declares it."""
    steps = lineage_view.column_steps(runtime, dataset_id, column, is_down=down, depth=depth)
    return page_by_key(
        [step.as_plain() for step in steps],
        lambda step: "\n".join(str(value) for value in step.values()),
        cursor,
        limit,
    )


@router.get("/lineage/{dataset_id}/impact", response_model=ImpactPage)
def show_impact(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    also: Downs = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> Any:
    """What cannot be made without a dataset, and what another way still makes."""
    found = lineage_view.impact_of(runtime, dataset_id, also or ())
    rows = [("lost", name) for name in found.lost] + [("other_way", n) for n in found.rerouted]
    items = [
        {"position": position, "dataset_id": name, "outcome": outcome}
        for position, (outcome, name) in enumerate(rows)
    ]
    counts = {"dataset_id": found.dataset, "lost": len(found.lost), "other": len(found.rerouted)}
    return counts | page_by_key(items, lambda row: f"{row['position']:09}", cursor, limit)


@router.get("/datasets/{dataset_id}/paths")
def show_paths(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    most: Annotated[int, Query(ge=1, le=100, description="How many ways to list.")] = 10,
    down: Downs = None,
    probe: Annotated[
        bool, Query(description="Look at the datasets the ways begin at; this takes longer.")
    ] = False,
) -> dict[str, Any]:
    """How many ways lead to a dataset, the cheapest, and whether they are healthy."""
    found = path_view.ways_to(runtime, dataset_id, most=most, downs=down or (), probes=probe)
    return found.as_plain()


@router.get("/drill")
def rehearse(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    down: Annotated[list[str], Query(min_length=1, max_length=100)],
) -> dict[str, Any]:
    """What is served while datasets are down, how, how stale, and what not. Nothing runs."""
    return {**rehearse_now(runtime, down).as_plain(), "live": False}


def _nearest_first(row: dict[str, Any]) -> str:
    return f"{row['distance']:09}/{row['dataset_id']}"
