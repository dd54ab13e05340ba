"""The tick: one turn of the platform. Take what is due, carry it out, write down how it ended.

A request is a row. A process that dies leaves it as `running`; whoever turns next sees that its
worker is gone and puts it back, and what its stages left aside is settled by whoever writes
their targets next.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from goldsmith.engine import faults
from goldsmith.engine.adjust import Adjust
from goldsmith.engine.ending import WorkerEnded
from goldsmith.engine.run import Orders, run_plan
from goldsmith.engine.work import Asked, Tools
from goldsmith.errors import GoldsmithError
from goldsmith.journal import requests, runs
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request, RequestStatus, Run
from goldsmith.planning import planner
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.increments import Increments
from goldsmith.planning.plan import Fate
from goldsmith.planning.selection import select
from goldsmith.runtime import Runtime
from goldsmith.scheduling import incidents, mending, notifying, standing
from goldsmith.scheduling.resuming import Resumed

#: How often a request that waits is looked at by whoever waits for it.
_LOOK_AGAIN_SECONDS = 0.25
#: Requests that this process carries out right now, in whichever thread.
_IN_HAND: set[str] = set()
_HANDS = threading.Lock()


@dataclass(eq=False, kw_only=True)
class EverythingStopped(GoldsmithError):
    """What was asked for is stopped by a row."""

    exit_code = 1

    because: str

    def __str__(self) -> str:
        return f"Nothing was run: {self.because}."

    @property
    def hint(self) -> str:
        return "`goldsmith why ENTITY` says more; `goldsmith release ENTITY` lets it go on."


@dataclass(eq=False, kw_only=True)
class FilesGone(GoldsmithError):
    """A full refresh would lose rows whose files are not there any more."""

    files: tuple[str, ...]

    def __str__(self) -> str:
        listed = "".join(f"\n  {file}" for file in self.files[:20])
        more = f"\n  … and {len(self.files) - 20} more" if len(self.files) > 20 else ""
        return f"Files that were loaded before are gone, and their rows with them:{listed}{more}"

    @property
    def hint(self) -> str:
        return "Put them back, or say --yes to refresh without them."


def refuse_gone_files(runtime: Runtime, selection: Sequence[str]) -> None:
    """Raises where a full refresh would lose rows that nobody could read again."""
    survey = runtime.surveyor.survey()
    increments = Increments(runtime.catalog, runtime.places)
    gone: list[str] = []
    for name in select(survey, selection):
        near = survey.stages[name]
        for dataset in near.inputs:
            if dataset_kind(dataset) == "files":
                there = {file.path for file in increments.files(dataset)}
                gone += [f for f in increments.known_files(near, dataset) if f not in there]
    if gone:
        raise FilesGone(files=tuple(sorted(set(gone))))


@dataclass(frozen=True, kw_only=True, slots=True)
class Turned:
    """What came of one request."""

    request: Request
    runs: tuple[Run, ...]

    @property
    def succeeded(self) -> bool:
        return self.request.status == RequestStatus.DONE


def ask(
    runtime: Runtime, selection: Sequence[str], options: dict[str, Any], asked_by: str
) -> Request:
    """Put a request into the inbox."""
    request = Request(
        request_id=new_id("request"),
        selection=tuple(selection),
        options={name: value for name, value in options.items() if value},
        asked_by=asked_by,
    )
    put = requests.put(runtime.journal, request)
    faults.reach("asked")
    return put


def tick(
    runtime: Runtime, tools: Tools, orders: Orders, *, mine: str | None = None
) -> list[Turned]:
    """One turn: put back what dead workers left, then carry out everything that is due.

    What is wrong with a request is written down with it; only of `mine` it is raised, because
    somebody waits for that one.
    """
    standing.put_back_the_dead(runtime)
    standing.put_back_the_dropped(runtime, str(tools.owner), _IN_HAND)
    standing.put_back_the_released(runtime)
    standing.stop_what_waits(runtime)
    turned = []
    for due in requests.due(runtime.journal):
        with _in_hand(due.request_id) as is_free:
            taken = None
            if is_free:
                taken = requests.take(runtime.journal, due.request_id, str(tools.owner))
            if taken is None:
                continue
            faults.reach("taken")
            try:
                turned.append(carry_out(runtime, tools, orders, taken))
            except WorkerEnded:
                raise  # there is no Spark left here for anybody
            except GoldsmithError:
                if taken.request_id == mine:
                    raise
    return turned


@contextmanager
def _in_hand(request_id: str) -> Iterator[bool]:
    """Have a request in hand, unless another thread of this process has it."""
    with _HANDS:
        is_free = request_id not in _IN_HAND
        _IN_HAND.add(request_id)
    try:
        yield is_free
    finally:
        if is_free:
            _IN_HAND.discard(request_id)


def see_through(
    runtime: Runtime, tools: Tools, orders: Orders, request_id: str, *, waits: bool = True
) -> list[Turned]:
    """Turn until a request is over, its retries included; all that was carried out meanwhile.

    The waits of retries are rows: whoever gives up waiting leaves them to the next worker.
    """
    turned: list[Turned] = []
    incidents.keep_up(runtime)
    while True:
        turned += tick(runtime, tools, orders, mine=request_id)
        notifying.deliver(runtime)
        asked = requests.get(runtime.journal, request_id)
        is_over = asked.status not in (RequestStatus.WAITING, RequestStatus.RUNNING)
        if is_over or (asked.not_before is not None and not waits):
            if not any(turn.request.request_id == request_id for turn in turned):
                # Another process took it, and it has ended there.
                ended = runs.recent_runs(runtime.journal, request_id=request_id, most=None)
                turned.append(Turned(request=asked, runs=tuple(ended)))
            return turned
        if asked.not_before is not None or asked.status == RequestStatus.RUNNING:
            time.sleep(_LOOK_AGAIN_SECONDS)


def carry_out(runtime: Runtime, tools: Tools, orders: Orders, request: Request) -> Turned:
    """Plan a request from the rows as they are now, run the plan, write down how it ended."""
    journal, worker = runtime.journal, str(tools.owner)
    try:
        ended = _run(runtime, tools, orders, request)
    except EverythingStopped as error:
        requests.stopped(journal, request.request_id, because=error.because, worker=worker)
        raise
    except WorkerEnded as error:
        if error.ended:
            mending.settle(runtime, request, error.ended, worker=worker)
        else:
            requests.requeue(journal, request.request_id, str(error), worker=worker)
        raise
    except GoldsmithError as error:
        again = mending.after_error(runtime, request, tools.code_of(error), error, worker=worker)
        if again is not None:
            return Turned(request=again, runs=())
        because = tools.hide(f"{error} [{error.code}]")
        requests.failed(journal, request.request_id, because=because, worker=worker)
        raise
    except BaseException:
        # Interrupted: the next turn finds it waiting and goes on.
        requests.requeue(journal, request.request_id, "it was interrupted", worker=worker)
        raise
    done = mending.settle(runtime, request, ended, worker=worker)
    faults.reach("request-done")
    return Turned(request=done, runs=tuple(ended))


def _run(runtime: Runtime, tools: Tools, orders: Orders, request: Request) -> list[Run]:
    resumed = Resumed.of(request)
    if resumed.fresh:
        tools.renew()
    tools.increments.look_anew()
    plan = planner.plan(
        runtime.surveyor.survey(),
        resumed.selection,
        now=datetime.now(UTC),
        environment=runtime.settings.environment,
    )
    stopped = plan.of(Fate.STOPPED, Fate.BLOCKED)
    if plan.stages and len(stopped) == len(plan.stages):
        raise EverythingStopped(because=stopped[0].because)
    mine = replace(
        orders,
        request_id=request.request_id,
        asked=Asked.of(request.options),
        asked_by=request.asked_by or orders.asked_by,
        attempt=request.attempt,
        at_once=resumed.at_once or orders.at_once,
        adjust={name: Adjust.of(said) for name, said in resumed.adjust.items()},
    )
    return run_plan(plan, tools, mine)
