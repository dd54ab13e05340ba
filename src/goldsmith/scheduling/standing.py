"""Requests that must not stay where they stand: of the dead, released, waiting though stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from datetime import UTC, datetime

from goldsmith.catalog.flags import Flag
from goldsmith.journal import events, requests, runs
from goldsmith.journal.errors import AlreadyOver, RequestElsewhere
from goldsmith.journal.owners import is_gone
from goldsmith.journal.tables import Request, RequestStatus
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.planning.stops import Stops
from goldsmith.runtime import Runtime
from goldsmith.scheduling import mending
from goldsmith.scheduling.resuming import Resumed

#: Another process, or another thread of this one, has seen to it meanwhile.
_TOO_LATE = (RequestElsewhere, AlreadyOver)


def put_back_the_dead(runtime: Runtime) -> list[Request]:
    """Requests whose worker is gone wait again; their runs are written down as interrupted."""
    back = []
    for left in requests.standing(runtime.journal, RequestStatus.RUNNING):
        if is_gone(left.worker):
            with contextlib.suppress(*_TOO_LATE):
                back.append(mending.after_death(runtime, left))
    return back


def put_back_the_dropped(runtime: Runtime, worker: str, in_hand: Collection[str]) -> list[Request]:
    """Requests of this worker that nobody in it carries out: it could not write their end down."""
    journal, back = runtime.journal, []
    for left in requests.standing(journal, RequestStatus.RUNNING):
        if left.worker != worker or left.request_id in in_hand:
            continue
        because = "its worker lost it while the catalog could not be reached"
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


def put_back_the_released(runtime: Runtime) -> list[Request]:
    """Requests that were stopped wait again once no row stops what they were stopped at.

    Nor all that is left of them: such a request would be stopped again at its next turn.
    """
    journal = runtime.journal
    held = requests.standing(journal, RequestStatus.STOPPED)
    if not held:
        return []
    survey = runtime.surveyor.survey()
    stops = Stops.of(survey.rows.rows(Flag), datetime.now(UTC))
    back = []
    for request in held:
        left: tuple[str, ...] = ()
        # Of a pipeline that is gone there is nothing to put back.
        with contextlib.suppress(NothingSelected):
            left = select(survey, Resumed.of(request).selection)
        # Without a stage that was stopped it was not even begun.
        at = runs.stages_stopped(journal, request.run_ids) or left
        held_at = [survey.stages[name] for name in at if name in survey.stages]
        may_go_on = any(stops.on(survey.stages[name]) is None for name in left)
        if may_go_on and not any(stops.on(near) for near in held_at):
            back.append(requests.requeue(journal, request.request_id, "what stopped it is gone"))
    return back


def stop_what_waits(runtime: Runtime) -> list[Request]:
    """Requests that wait for a retry are stopped while they wait, where a row stops all of them."""
    journal = runtime.journal
    waiting = [
        request
        for request in requests.standing(journal, RequestStatus.WAITING)
        if request.not_before is not None
    ]
    if not waiting:
        return []
    survey = runtime.surveyor.survey()
    stops = Stops.of(survey.rows.rows(Flag), datetime.now(UTC))
    stopped = []
    for request in waiting:
        with contextlib.suppress(NothingSelected):
            names = select(survey, Resumed.of(request).selection)
            why = [stops.on(survey.stages[name]) for name in names]
            if why and None not in why:
                stopped.append(requests.stopped(journal, request.request_id, because=why[0]))
    return stopped
