"""Routes of incidents: list, show, acknowledge, close."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from goldsmith.api.access import OpenRuntime, Operator, Viewer
from goldsmith.api.models import RequestBody
from goldsmith.api.repeats import ActOnce
from goldsmith.journal import incidents

router = APIRouter(prefix="/incidents", tags=["incidents"])


class Closing(RequestBody):
    """Why an incident is closed."""

    reason: str = Field(min_length=1, max_length=2000, description="What it was and was done.")


@router.get("")
def list_incidents(
    caller: Viewer, runtime: OpenRuntime, closed: bool = False
) -> list[dict[str, Any]]:
    """Incidents by severity, then newest first."""
    allowed = caller.pipelines(runtime)
    return [
        incident.as_plain()
        for incident in incidents.listed(runtime.journal, closed=closed, most=1000)
        if allowed is None or incident.pipeline_id in allowed
    ]


@router.get("/{incident_id}")
def show_incident(caller: Viewer, runtime: OpenRuntime, incident_id: str) -> dict[str, Any]:
    """One incident: cause, remedies tried, affected datasets, what to do."""
    found = incidents.get(runtime.journal, incident_id)
    caller.check(runtime, [found.pipeline_id])
    return found.as_plain()


@router.post("/{incident_id}/acknowledge")
def acknowledge(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, incident_id: str
) -> dict[str, Any]:
    """Record that the caller works on an incident."""
    caller.check(runtime, [incidents.get(runtime.journal, incident_id).pipeline_id])
    return once(
        caller,
        lambda: incidents.acknowledge(runtime.journal, incident_id, caller.owner).as_plain(),
    )


@router.post("/{incident_id}/close")
def close(
    caller: Operator, runtime: OpenRuntime, once: ActOnce, incident_id: str, body: Closing
) -> dict[str, Any]:
    """Close an incident."""
    caller.check(runtime, [incidents.get(runtime.journal, incident_id).pipeline_id])
    return once(
        caller,
        lambda: incidents.close(runtime.journal, incident_id, caller.owner, body.reason).as_plain(),
    )
