"""Requeue requests whose worker died or whose stop was lifted; stop and merge waiting ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection
from datetime import UTC, datetime

from goldsmith.catalog.flags import Flag
from goldsmith.journal import events, requests, runs
from goldsmith.journal.errors import AlreadyOver, RequestElsewhere
from goldsmith.journal.owners import is_gone
from goldsmith.journal.tables import Request, RequestStatus
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.planning.stopped import Stops
from goldsmith.runtime import Runtime
from goldsmith.worker import outcome
from goldsmith.worker.retry_state import HEALING, RetryState

#: Another worker or thread has already handled the request.
_TOO_LATE = (RequestElsewhere, AlreadyOver)


def requeue_dead_workers_requests(runtime: Runtime, worker: str | None = None) -> list[Request]:
    """Requeue requests whose worker died or fell silent; record their runs as interrupted.

    A worker that was only frozen does no harm when it wakes: it no longer holds the request or
    the lease of its target. `worker` is this process; its own requests are never requeued here.
    """
    back = []
    silent = {request.request_id for request in requests.expired(runtime.journal)}
    for left in requests.with_status(runtime.journal, RequestStatus.RUNNING):
        if left.worker != worker and (is_gone(left.worker) or left.request_id in silent):
            with contextlib.suppress(*_TOO_LATE):
                if outcome.record_unrecorded(runtime, left) is None:
                    back.append(outcome.after_death(runtime, left))
    return back


def requeue_dropped_requests(
    runtime: Runtime, worker: str, claimed: Collection[str]
) -> list[Request]:
    """Requeue requests of this worker that no thread runs: their end could not be recorded."""
    journal, back = runtime.journal, []
    for left in requests.with_status(journal, RequestStatus.RUNNING):
        if left.worker != worker or left.request_id in claimed:
            continue
        because = "its worker lost it while the catalog could not be reached"
        with contextlib.suppress(*_TOO_LATE):
            if outcome.record_unrecorded(runtime, left) is not None:
                continue
        with contextlib.suppress(*_TOO_LATE), journal.writing() as connection:
            for run in runs.recent_runs(journal, request_id=left.request_id, most=None):
                if run.ended_at is None:
                    ended = events.RunInterrupted(because=because)
                    runs.finish_run(journal, run.run_id, ended, connection=connection)
            back.append(
                requests.requeue(
                    journal, left.request_id, because, worker=worker, connection=connection
                )
            )
    return back


def requeue_released_requests(runtime: Runtime) -> list[Request]:
    """Requeue stopped requests once nothing stops the stages at which they were stopped.

    At least one remaining stage must be free to run: otherwise the next tick would stop the
    request again.
    """
    journal = runtime.journal
    stopped_requests = [
        request
        for request in requests.with_status(journal, RequestStatus.STOPPED)
        if requests.SUPERSEDED not in request.options
    ]
    if not stopped_requests:
        return []
    catalog_index = runtime.catalog_indexer.catalog_index()
    stops = Stops.of(catalog_index.rows.rows(Flag), datetime.now(UTC))
    back = []
    for request in stopped_requests:
        left: tuple[str, ...] = ()
        # A deleted pipeline leaves nothing to requeue.
        with contextlib.suppress(NothingSelected):
            left = select(catalog_index, RetryState.of(request).selection)
        # No stopped stage run: the request was stopped before it started. A disabled stage
        # blocks only a request that had started that stage.
        stages_begun = runs.stages_stopped(journal, request.run_ids)
        held_at = [
            catalog_index.stages[name]
            for name in stages_begun or left
            if name in catalog_index.stages
        ]
        held_at = [context for context in held_at if stages_begun or not stops.leaves_out(context)]
        may_go_on = any(stops.on(catalog_index.stages[name]) is None for name in left)
        if may_go_on and not any(stops.on(context) for context in held_at):
            back.append(requests.requeue(journal, request.request_id, "what stopped it is gone"))
    return back


def stop_waiting_requests(runtime: Runtime) -> list[Request]:
    """Stop requests that wait for a retry if all of their stages are stopped."""
    journal = runtime.journal
    waiting = [
        request
        for request in requests.with_status(journal, RequestStatus.WAITING)
        if request.not_before is not None
    ]
    if not waiting:
        return []
    catalog_index = runtime.catalog_indexer.catalog_index()
    stops = Stops.of(catalog_index.rows.rows(Flag), datetime.now(UTC))
    stopped = []
    for request in waiting:
        with contextlib.suppress(NothingSelected):
            names = select(catalog_index, RetryState.of(request).selection)
            why = [stops.on(catalog_index.stages[name]) for name in names]
            if why and None not in why:
                stopped.append(requests.stopped(journal, request.request_id, because=why[0]))
    return stopped


def merge_duplicate_requests(runtime: Runtime) -> list[Request]:
    """Merge waiting requests that have the same selection, options and due time; run them once.

    The window of a backfill is one of the options. A request that retries only some of its
    stages is never merged.
    """
    first: dict[str, str] = {}
    joined = []
    for request in requests.with_status(runtime.journal, RequestStatus.WAITING):
        if RetryState.of(request).stages:
            continue
        options = {name: value for name, value in request.options.items() if name != HEALING}
        content = [request.selection, options, request.not_before]
        same = first.setdefault(
            json.dumps(content, sort_keys=True, default=str), request.request_id
        )
        if same != request.request_id:
            with contextlib.suppress(*_TOO_LATE):
                joined.append(requests.join(runtime.journal, request.request_id, same))
    return joined
