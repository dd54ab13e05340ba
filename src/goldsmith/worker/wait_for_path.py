"""Let a request wait while no healthy path leads to its target, and open an incident."""

from __future__ import annotations

from datetime import timedelta

from goldsmith.journal import incidents, requests
from goldsmith.journal.clock import read_clock
from goldsmith.journal.healing_tables import Incident
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request
from goldsmith.runtime import Runtime
from goldsmith.worker.incidents import downstream
from goldsmith.worker.reroute import NoHealthyPath

#: How long a request waits before its paths are probed again.
WAIT = timedelta(seconds=30)


def wait_for_path(runtime: Runtime, request: Request, error: NoHealthyPath, worker: str) -> Request:
    """Requeue a request until a path may be healthy again; its attempts do not rise."""
    incident = _incident(runtime, request, error)
    with runtime.journal.writing() as connection:
        incidents.report(runtime.journal, incident, connection=connection)
        return requests.requeue(
            runtime.journal,
            request.request_id,
            str(incident.cause),
            not_before=read_clock(connection) + WAIT,
            worker=worker,
            connection=connection,
        )


def report_missing_path(runtime: Runtime, request: Request, error: NoHealthyPath) -> None:
    """Open an incident for a dataset that a run leaves out because its readers take other paths."""
    incident = _incident(runtime, request, error)
    with runtime.journal.writing() as connection:
        incidents.report(runtime.journal, incident, connection=connection)


def _incident(runtime: Runtime, request: Request, error: NoHealthyPath) -> Incident:
    index = runtime.catalog_indexer.catalog_index()
    return Incident(
        incident_id=new_id("incident"),
        about=f"dataset:{error.target}",
        pipeline_id=error.stage.rpartition("-")[0],
        dataset_id=error.target,
        error_code=error.code,
        cause=runtime.secrets.redact(str(error)),
        runbook=error.hint,
        affected=tuple(downstream(index, error.target)),
        request_id=request.request_id,
    )
