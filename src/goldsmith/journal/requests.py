"""Requests for runs: they wait with a reason, one worker takes each, and they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from goldsmith.journal import events, row_storage
from goldsmith.journal.clock import later, moment, now
from goldsmith.journal.definitions import requests
from goldsmith.journal.errors import RequestElsewhere, UnknownRequest
from goldsmith.journal.journal import Journal
from goldsmith.journal.leases import SECONDS
from goldsmith.journal.tables import Request, RequestStatus

#: The option in which a request names the request it joined.
JOINED = "joined"
#: The option of a running request that its worker has to stop for a newer start.
SUPERSEDED = "superseded"
_NEXT_TOKEN = requests.c.token + 1
_FREE = (
    sa.select(requests.c.request_id)
    .where(
        requests.c.request_id == sa.bindparam("request_id"),
        requests.c.status == RequestStatus.WAITING.value,
    )
    .with_for_update(skip_locked=True)
)


def put(
    journal: Journal,
    request: Request,
    *,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> Request:
    """Store a new request, which waits for a worker."""
    with journal.writing(connection) as writing:
        kept = row_storage.insert(
            writing,
            request,
            status=RequestStatus.WAITING.value,
            asked_at=request.asked_at or moment(at),
        )
        happened = events.RunRequested(
            actor=kept.asked_by,
            request_id=kept.request_id,
            pipeline_id=_only(kept.pipelines),
            selection=kept.selection,
            pipelines=kept.pipelines,
            options=kept.options,
            attempt=kept.attempt,
            after_run_id=kept.after_run_id,
            not_before=kept.not_before,
            because=kept.because,
        )
        journal.record(happened, at=at, connection=writing)
    return kept


def get(journal: Journal, request_id: str) -> Request:
    """One request by its id."""
    with journal.reading() as connection:
        return _get(connection, request_id)


def due(journal: Journal, at: datetime | None = None, *, most: int | None = None) -> list[Request]:
    """Waiting requests whose `not_before` has passed, oldest first."""
    query = (
        sa.select(requests)
        .where(
            requests.c.status == RequestStatus.WAITING.value,
            sa.or_(requests.c.not_before.is_(None), requests.c.not_before <= moment(at)),
        )
        .order_by(requests.c.asked_at, requests.c.request_id)
        .limit(most)
    )
    with journal.reading() as connection:
        return row_storage.select(connection, Request, query)


def with_status(
    journal: Journal, status: RequestStatus, *, most: int | None = None
) -> list[Request]:
    """Requests with this status, oldest first."""
    query = (
        sa.select(requests)
        .where(requests.c.status == status.value)
        .order_by(requests.c.asked_at, requests.c.request_id)
        .limit(most)
    )
    with journal.reading() as connection:
        return row_storage.select(connection, Request, query)


def expired(journal: Journal) -> list[Request]:
    """Running requests whose worker sent no heartbeat for the duration of a lease."""
    query = sa.select(requests).where(
        requests.c.status == RequestStatus.RUNNING.value, requests.c.expires_at <= now()
    )
    with journal.reading() as connection:
        return row_storage.select(connection, Request, query)


def of_backfill(journal: Journal, backfill_id: str) -> list[Request]:
    """The requests of a backfill in the order they were put."""
    query = (
        sa.select(requests)
        .where(requests.c.backfill_id == backfill_id)
        .order_by(requests.c.asked_at, requests.c.request_id)
    )
    with journal.reading() as connection:
        return row_storage.select(connection, Request, query)


def wait(
    journal: Journal,
    request_id: str,
    because: str,
    *,
    not_before: datetime | None = None,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> Request:
    """Record why a request has to wait; the same reason again is not recorded."""
    with journal.writing(connection) as writing:
        before = _get(writing, request_id)
        if before.status == RequestStatus.WAITING.value and (
            (before.because, before.not_before) == (because, not_before or before.not_before)
        ):
            return before
        values: dict[str, Any] = {"because": because}
        if not_before is not None:
            values["not_before"] = not_before
        waits = _move(writing, request_id, (RequestStatus.WAITING,), "kept waiting", **values)
        happened = events.RequestWaiting(
            request_id=request_id,
            pipeline_id=_only(waits.pipelines),
            because=because,
            not_before=waits.not_before,
        )
        journal.record(happened, at=at, connection=writing)
    return waits


def take(
    journal: Journal,
    request_id: str,
    worker: str,
    *,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> Request | None:
    """Lease a waiting request to a worker; None if it no longer waits, or if it is locked.

    The lease lasts `leases.SECONDS` unless `workers.renew_requests` extends it.
    """
    with journal.writing(connection) as writing:
        # Nobody waits here for a row that somebody's own transaction has locked.
        if writing.execute(_FREE, {"request_id": request_id}).first() is None:
            return None
        taken = row_storage.update(
            writing,
            Request,
            {"request_id": request_id, "status": RequestStatus.WAITING.value},
            status=RequestStatus.RUNNING.value,
            worker=worker,
            because=None,
            token=_NEXT_TOKEN,
            expires_at=later(SECONDS),
        )
        if taken is None:
            return None
        happened = events.RequestTaken(
            actor=worker,
            request_id=request_id,
            pipeline_id=_only(taken.pipelines),
            worker=worker,
            attempt=taken.attempt,
        )
        journal.record(happened, at=at, connection=writing)
    return taken


class RequestEnd(TypedDict, total=False):
    """How a request ended."""

    because: str | None
    run_ids: Sequence[str]
    #: End it only if this worker still has it: a worker that was silent too long may have lost it.
    worker: str | None
    actor: str | None
    at: datetime | None
    connection: sa.Connection | None


def done(journal: Journal, request_id: str, **how: Unpack[RequestEnd]) -> Request:
    """End a request that succeeded."""
    return _end(journal, request_id, RequestStatus.DONE, (RequestStatus.RUNNING,), how)


def failed(journal: Journal, request_id: str, **how: Unpack[RequestEnd]) -> Request:
    """End a request that failed."""
    return _end(journal, request_id, RequestStatus.FAILED, (RequestStatus.RUNNING,), how)


def stopped(journal: Journal, request_id: str, **how: Unpack[RequestEnd]) -> Request:
    """End a request that was stopped; releasing the stop puts it back with `requeue`."""
    where = (RequestStatus.RUNNING, RequestStatus.WAITING)
    return _end(journal, request_id, RequestStatus.STOPPED, where, how)


def cancel(journal: Journal, request_id: str, **how: Unpack[RequestEnd]) -> Request:
    """Cancel a request that does not run; a running one has to be stopped instead."""
    where = (RequestStatus.WAITING, RequestStatus.FAILED, RequestStatus.STOPPED)
    return _end(journal, request_id, RequestStatus.CANCELLED, where, how)


def join(journal: Journal, request_id: str, other: str) -> Request:
    """End a waiting request because another waiting request asks for the same."""
    with journal.writing() as writing:
        options = {**_get(writing, request_id).options, JOINED: other}
        row_storage.update(
            writing,
            Request,
            {"request_id": request_id, "status": RequestStatus.WAITING.value},
            options=options,
        )
        because = f"it joins {other}, which waits and asks for the same"
        how = RequestEnd(because=because, connection=writing)
        return _end(journal, request_id, RequestStatus.CANCELLED, (RequestStatus.WAITING,), how)


def supersede(journal: Journal, request_id: str) -> Request:
    """Cancel a waiting request of a schedule, or mark a running one for its worker to stop."""
    because = "a newer start of its schedule is due"
    with journal.writing() as writing:
        found = _get(writing, request_id)
        if found.status == RequestStatus.WAITING.value:
            return cancel(journal, request_id, because=because, connection=writing)
        options = {**found.options, SUPERSEDED: True}
        return _move(writing, request_id, (RequestStatus.RUNNING,), "superseded", options=options)


def followed(journal: Journal, request_id: str) -> str:
    """The request that is really run: this one, or the one it joined."""
    while (other := get(journal, request_id).options.get(JOINED)) is not None:
        request_id = str(other)
    return request_id


def requeue(
    journal: Journal,
    request_id: str,
    because: str,
    *,
    not_before: datetime | None = None,
    attempt: int | None = None,
    after_run_id: str | None = None,
    options: Mapping[str, Any] | None = None,
    pipelines: Sequence[str] | None = None,
    run_ids: Sequence[str] = (),
    worker: str | None = None,
    actor: str | None = None,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> Request:
    """Requeue a request: its worker died, it is to be retried, or a stop was released."""
    where = (RequestStatus.RUNNING, RequestStatus.FAILED, RequestStatus.STOPPED)
    values: dict[str, Any] = {"because": because, "not_before": not_before}
    if attempt is not None:
        values["attempt"] = attempt
    if after_run_id is not None:
        values["after_run_id"] = after_run_id
    if options is not None:
        values["options"] = dict(options)
    if pipelines is not None:
        values["pipelines"] = list(pipelines)
    with journal.writing(connection) as writing:
        if run_ids:
            led_to = dict.fromkeys([*_get(writing, request_id).run_ids, *run_ids])
            values["run_ids"] = list(led_to)
        waits = _move(
            writing,
            request_id,
            where,
            "put back",
            held_by=worker,
            status=RequestStatus.WAITING.value,
            worker=None,
            ended_at=None,
            expires_at=None,
            **values,
        )
        happened = events.RequestRequeued(
            actor=actor,
            request_id=request_id,
            pipeline_id=_only(waits.pipelines),
            because=because,
            not_before=not_before,
            attempt=waits.attempt,
        )
        journal.record(happened, at=at, connection=writing)
    return waits


def _end(
    journal: Journal,
    request_id: str,
    status: RequestStatus,
    where: Sequence[RequestStatus],
    how: RequestEnd,
) -> Request:
    at = how.get("at")
    with journal.writing(how.get("connection")) as writing:
        led_to = dict.fromkeys([*_get(writing, request_id).run_ids, *how.get("run_ids", ())])
        ended = _move(
            writing,
            request_id,
            where,
            status.value,
            held_by=how.get("worker"),
            status=status.value,
            because=how.get("because"),
            run_ids=list(led_to),
            ended_at=moment(at),
        )
        happened = events.RequestEnded(
            actor=how.get("actor"),
            status=status.value,
            request_id=request_id,
            pipeline_id=_only(ended.pipelines),
            because=ended.because,
            run_ids=ended.run_ids,
        )
        journal.record(happened, at=at, connection=writing)
    return ended


def _move(
    connection: sa.Connection,
    request_id: str,
    where: Sequence[RequestStatus],
    wanted: str,
    *,
    held_by: str | None = None,
    **values: Any,
) -> Request:
    """Update a request whose status (and worker) allows it, in one statement."""
    matches: dict[str, Any] = {
        "request_id": request_id,
        "status": [status.value for status in where],
    }
    if held_by is not None:
        matches["worker"] = held_by
    moved = row_storage.update(connection, Request, matches, **values)
    if moved is None:
        found = _get(connection, request_id)
        raise RequestElsewhere(
            request_id=request_id, wanted=wanted, status=found.status, worker=found.worker
        )
    return moved


def _get(connection: sa.Connection, request_id: str) -> Request:
    query = sa.select(requests).where(requests.c.request_id == request_id)
    found = row_storage.select(connection, Request, query)
    if not found:
        raise UnknownRequest(request_id=request_id)
    return found[0]


def _only(pipelines: Sequence[str]) -> str | None:
    """The pipeline if a request has only one; an event has one `pipeline_id`."""
    return pipelines[0] if len(pipelines) == 1 else None
