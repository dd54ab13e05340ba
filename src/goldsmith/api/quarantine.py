"""Routes of quarantined rows: list, show, replay, discard."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from goldsmith.api.access import EditorOfAll, OpenRuntime, OperatorOfAll, ViewerOfAll
from goldsmith.api.models import RequestBody
from goldsmith.api.repeats import ActOnce
from goldsmith.engine.quarantine import quarantine_store
from goldsmith.planning import dataset_info
from goldsmith.worker import loop, quarantine

router = APIRouter(prefix="/quarantine", tags=["quarantine"])


class ReplayOrder(RequestBody):
    """How to correct the rows."""

    sql: str | None = Field(
        default=None,
        max_length=100_000,
        description="A SELECT over `quarantined` that corrects the rows and keeps _id.",
    )
    run_id: str | None = Field(default=None, description="Only rows this run quarantined.")
    stage: str | None = Field(default=None, description="The stage, if several write it.")


class Discard(RequestBody):
    """Which rows to remove for good, and why."""

    ids: list[str] = Field(default_factory=list, max_length=10_000)
    run_id: str | None = None
    unpublished: bool = False
    reason: str = Field(min_length=1, max_length=2000)


@router.get("")
def list_quarantined(caller: ViewerOfAll, runtime: OpenRuntime) -> list[dict[str, Any]]:
    """The datasets with quarantined rows, and how many."""
    names = sorted(runtime.catalog.snapshot().dataset_ids)
    found = quarantine_store.quarantined_rows(
        runtime.storage,
        runtime.journal,
        names,
        quarantine.histories(runtime),
        are_declared=True,
    )
    return [quarantined.as_plain() for quarantined in found]


@router.get("/{dataset_id}")
def show_quarantined(
    caller: ViewerOfAll,
    runtime: OpenRuntime,
    dataset_id: str,
    run_id: Annotated[str | None, Query(max_length=200)] = None,
    unpublished: bool = False,
    most: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> list[dict[str, Any]]:
    """Quarantined rows of a dataset, with the checks they failed."""
    dataset_info.find(runtime.catalog.snapshot(), dataset_id)
    return quarantine.quarantined_rows(
        runtime, dataset_id, run_id=run_id, most=most, unpublished=unpublished
    )


@router.post("/{dataset_id}/replay", status_code=202)
def replay(
    caller: OperatorOfAll, runtime: OpenRuntime, once: ActOnce, dataset_id: str, body: ReplayOrder
) -> dict[str, Any]:
    """Run quarantined rows through their stage again, each once; a worker carries it out."""
    stage = body.stage or quarantine.only_writer(runtime, dataset_id)
    if reason := quarantine.nothing_to_replay(runtime, dataset_id, body.run_id):
        return {"requested": False, "because": reason}
    selection = {"sql": body.sql, "file": None, "run_id": body.run_id}

    def act() -> dict[str, Any]:
        request = loop.submit_request(
            runtime, [f"stage:{stage}"], {"replay": selection}, caller.owner
        )
        return {"requested": True, **request.as_plain()}

    return once(caller, act, status=202)


@router.post("/{dataset_id}/discard")
def discard(
    caller: EditorOfAll, runtime: OpenRuntime, once: ActOnce, dataset_id: str, body: Discard
) -> dict[str, Any]:
    """Remove quarantined rows for good; the audit log records who, why and how many."""
    dataset_info.find(runtime.catalog.snapshot(), dataset_id)

    def act() -> dict[str, Any]:
        gone = quarantine.discard_rows(
            runtime,
            dataset_id,
            run_id=body.run_id,
            ids=body.ids,
            unpublished=body.unpublished,
            actor=caller.owner,
            because=body.reason,
        )
        return {"dataset": dataset_id, "discarded": gone}

    return once(caller, act)
