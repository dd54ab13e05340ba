"""The worker loop: take the requests that are due, run them, record how they ended.

A request is a row. A process that dies leaves its request `running`; the next tick of any worker
sees that the process is gone and requeues the request. The next run of a target settles what a
dead stage run staged there.
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
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.cancel_token import WorkerEnded
from goldsmith.engine.retry_overrides import RetryOverrides
from goldsmith.engine.run import ExecutionOptions, run_plan
from goldsmith.errors import GoldsmithError
from goldsmith.journal import requests, runs
from goldsmith.journal.errors import RequestElsewhere
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request, RequestStatus, Run
from goldsmith.planning import planner
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.history import MOST_CHECKED, HistoryCheck, refuse_partial_refresh
from goldsmith.planning.increments import Increments
from goldsmith.planning.plan import Plan, StageDecision
from goldsmith.planning.run_options import RunOptions
from goldsmith.planning.selection import select
from goldsmith.runtime import Runtime
from goldsmith.worker import computed_paths, incidents, notifications, outcome, requeue, upkeep
from goldsmith.worker.admission import admit
from goldsmith.worker.follow import Follower, live_workers
from goldsmith.worker.heartbeat import Heartbeat
from goldsmith.worker.queue_state import StageEstimates
from goldsmith.worker.reroute import NoHealthyPath, reroute
from goldsmith.worker.retry_state import RetryState
from goldsmith.worker.wait_for_path import report_missing_path, wait_for_path

#: How often `run_until_over` polls a request that waits or runs elsewhere.
_LOOK_AGAIN_SECONDS = 0.25
#: Options that repair one stage: a disabled stage stops such a request, and is not left out.
_REPAIR_OPTIONS = frozenset(("replay", "as_of"))
#: Ids of the requests that threads of this process are running.
_CLAIMED: set[str] = set()
_CLAIM_LOCK = threading.Lock()


@dataclass(eq=False, kw_only=True)
class EverythingStopped(GoldsmithError):
    """Flags or disabled pipelines stop every selected stage."""

    exit_code = 1

    because: str

    def __str__(self) -> str:
        return f"Nothing was run: {self.because}."

    @property
    def hint(self) -> str:
        return "`goldsmith why ENTITY` says more; `goldsmith release ENTITY` lets it go on."


@dataclass(eq=False, kw_only=True)
class FilesGone(GoldsmithError):
    """A full refresh would lose rows whose source files no longer exist."""

    files: tuple[str, ...]

    def __str__(self) -> str:
        listed = "".join(f"\n  {file}" for file in self.files[:20])
        more = f"\n  … and {len(self.files) - 20} more" if len(self.files) > 20 else ""
        return f"A full refresh would lose the rows of files that are gone:{listed}{more}"

    @property
    def hint(self) -> str:
        return "Put the files back, or say --yes to lose their rows. Nothing was changed."


def refuse_gone_files(runtime: Runtime, selection: Sequence[str]) -> None:
    """Raise if a full refresh would lose rows of files that no longer exist."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    increments = Increments(runtime.catalog, runtime.storage)
    gone: list[str] = []
    for name in select(catalog_index, selection):
        context = catalog_index.stages[name]
        for dataset in context.inputs:
            if dataset_kind(dataset) == "files":
                listed_paths = {file.path for file in increments.files(dataset)}
                gone += [
                    f for f in increments.loaded_files(context, dataset) if f not in listed_paths
                ]
    if gone:
        raise FilesGone(files=tuple(sorted(set(gone))))


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestOutcome:
    """One request after its attempt, with the runs of the attempt."""

    request: Request
    runs: tuple[Run, ...]

    @property
    def succeeded(self) -> bool:
        return self.request.status == RequestStatus.DONE


def submit_request(
    runtime: Runtime, selection: Sequence[str], options: dict[str, Any], asked_by: str
) -> Request:
    """Add a request to the queue."""
    request = Request(
        request_id=new_id("request"),
        selection=tuple(selection),
        options={name: value for name, value in options.items() if value},
        asked_by=asked_by,
    )
    put = requests.put(runtime.journal, request)
    faults.reach("requested")
    return put


def tick(
    runtime: Runtime,
    resources: WorkerResources,
    execution_options: ExecutionOptions,
    *,
    awaited: str | None = None,
) -> list[RequestOutcome]:
    """Run one turn: requeue requests of dead workers, merge duplicates, run what is due.

    The error of a request is stored in its row. Only the error of the request `awaited` is also
    raised, because a caller waits for it.
    """
    requeue_requests(runtime, str(resources.owner))
    awaited = None if awaited is None else requests.followed(runtime.journal, awaited)
    admission = admit(runtime, StageEstimates(runtime), foreground=True)
    outcomes = [
        take_and_execute(
            runtime, resources, execution_options, due.request_id, raises=due.request_id == awaited
        )
        for due in admission.start
    ]
    return [outcome for outcome in outcomes if outcome is not None]


def requeue_requests(runtime: Runtime, worker: str) -> None:
    """Requeue requests of dead workers and of released stops; stop and merge waiting ones."""
    requeue.requeue_dead_workers_requests(runtime, worker)
    requeue.requeue_dropped_requests(runtime, worker, _CLAIMED)
    requeue.requeue_released_requests(runtime)
    requeue.stop_waiting_requests(runtime)
    requeue.merge_duplicate_requests(runtime)


def take_and_execute(
    runtime: Runtime,
    resources: WorkerResources,
    execution_options: ExecutionOptions,
    request_id: str,
    *,
    raises: bool = False,
) -> RequestOutcome | None:
    """Lease a request and execute it; None if another worker has it, or if it failed at once.

    The error of a request is in its row; with `raises` it is also raised.
    """
    with _claimed(request_id) as is_free:
        request = None
        if is_free:
            request = requests.take(runtime.journal, request_id, str(resources.owner))
        if request is None:
            return None
        faults.reach("taken")
        try:
            return execute_request(runtime, resources, execution_options, request)
        except WorkerEnded:
            raise  # this process has no Spark any more
        except RequestElsewhere:
            # This process was silent for too long, and another worker took the request over.
            return None
        except GoldsmithError:
            if raises:
                raise
    return None


@contextmanager
def _claimed(request_id: str) -> Iterator[bool]:
    """Claim a request for this thread; False if another thread of this process has it."""
    with _CLAIM_LOCK:
        is_free = request_id not in _CLAIMED
        _CLAIMED.add(request_id)
    try:
        yield is_free
    finally:
        if is_free:
            _CLAIMED.discard(request_id)


def run_until_over(
    runtime: Runtime,
    resources: WorkerResources,
    execution_options: ExecutionOptions,
    request_id: str,
    *,
    waits: bool = True,
) -> list[RequestOutcome]:
    """Tick until a request and its retries are over; return the outcomes of all requests run.

    A retry waits as a row: if this process stops waiting, the next worker runs the retry.
    """
    with Heartbeat(runtime.journal, str(resources.owner)):
        return _until_over(runtime, resources, execution_options, request_id, waits=waits)


def _until_over(
    runtime: Runtime,
    resources: WorkerResources,
    execution_options: ExecutionOptions,
    request_id: str,
    *,
    waits: bool,
) -> list[RequestOutcome]:
    outcomes: list[RequestOutcome] = []
    follower = Follower(runtime, execution_options)
    incidents.update_incidents(runtime)
    computed_paths.keep_computed(runtime)
    while True:
        # A living service runs the request; this process follows, and steps in if it dies.
        is_served = bool(live_workers(runtime))
        if not is_served:
            outcomes += tick(runtime, resources, execution_options, awaited=request_id)
            notifications.deliver(runtime)
        request_id = requests.followed(runtime.journal, request_id)
        request = requests.get(runtime.journal, request_id)
        is_mine = any(outcome.request.request_id == request_id for outcome in outcomes)
        if not is_mine:
            follower.look(request)
        is_over = request.status not in (RequestStatus.WAITING, RequestStatus.RUNNING)
        is_kept_waiting = request.not_before is not None or (
            request.status == RequestStatus.WAITING and (not is_served or request.because)
        )
        if is_over or (is_kept_waiting and not waits):
            if not is_mine:
                # Another process ran the request to its end.
                ended = runs.recent_runs(runtime.journal, request_id=request_id, most=None)
                outcomes.append(RequestOutcome(request=request, runs=tuple(ended)))
            return outcomes
        if request.status == RequestStatus.WAITING and request.because:
            execution_options.tell_wait(request.because)
        time.sleep(_LOOK_AGAIN_SECONDS)


def execute_request(
    runtime: Runtime,
    resources: WorkerResources,
    execution_options: ExecutionOptions,
    request: Request,
) -> RequestOutcome:
    """Plan a request from the current catalog rows, run the plan, record the outcome."""
    journal, worker = runtime.journal, str(resources.owner)
    if upkeep.TASK in request.options:
        return RequestOutcome(request=upkeep.execute(runtime, resources, request), runs=())
    try:
        ended = _run(runtime, resources, execution_options, request)
    except EverythingStopped as error:
        requests.stopped(journal, request.request_id, because=error.because, worker=worker)
        raise
    except NoHealthyPath as error:
        return RequestOutcome(request=wait_for_path(runtime, request, error, worker), runs=())
    except WorkerEnded as error:
        if error.ended:
            outcome.record_outcome(runtime, request, error.ended, worker=worker)
        else:
            requests.requeue(journal, request.request_id, str(error), worker=worker)
        raise
    except GoldsmithError as error:
        again = outcome.after_error(
            runtime, request, resources.code_of(error), error, worker=worker
        )
        if again is not None:
            return RequestOutcome(request=again, runs=())
        because = resources.hide(f"{error} [{error.code}]")
        requests.failed(journal, request.request_id, because=because, worker=worker)
        raise
    except BaseException:
        # Interrupted: the next tick runs the request again.
        requests.requeue(journal, request.request_id, "it was interrupted", worker=worker)
        raise
    done = outcome.record_outcome(runtime, request, ended, worker=worker)
    faults.reach("request-done")
    return RequestOutcome(request=done, runs=tuple(ended))


def _run(
    runtime: Runtime, resources: WorkerResources, defaults: ExecutionOptions, request: Request
) -> list[Run]:
    retry_state = RetryState.of(request)
    if retry_state.fresh:
        resources.renew()
    resources.increments.look_anew()
    plan = planner.plan(
        runtime.catalog_indexer.catalog_index(),
        retry_state.selection,
        now=datetime.now(UTC),
        environment=runtime.settings.environment,
        leaves_out=not retry_state.stages and _REPAIR_OPTIONS.isdisjoint(request.options),
    )
    if RunOptions.of(request.options) == RunOptions():
        # A full refresh or a backfill from a copy would replace what came from the default.
        plan, without = reroute(plan, runtime.catalog_indexer.catalog_index(), resources)
        for missing in without:
            report_missing_path(runtime, request, missing)
    _refuse_lost_history(runtime, resources, plan, RunOptions.of(request.options))
    stopped = plan.of(StageDecision.STOPPED, StageDecision.BLOCKED)
    if stopped and len(stopped) + len(plan.of(StageDecision.LEFT_OUT)) == len(plan.stages):
        raise EverythingStopped(because=stopped[0].because)
    execution_options = replace(
        defaults,
        request_id=request.request_id,
        run_options=RunOptions.of(request.options),
        asked_by=request.asked_by or defaults.asked_by,
        attempt=request.attempt,
        at_once=retry_state.at_once or defaults.at_once,
        adjust={
            name: RetryOverrides.of(overrides) for name, overrides in retry_state.adjust.items()
        },
    )
    return run_plan(plan, resources, execution_options)


def _refuse_lost_history(
    runtime: Runtime, resources: WorkerResources, plan: Plan, run_options: RunOptions
) -> None:
    """Raise, before any stage runs, if a target lost rows that its ledger counts as loaded."""
    ready = [stage.context for stage in plan.of(StageDecision.READY)]
    if run_options.full_refresh:
        refuse_partial_refresh(ready)
    if run_options.full_refresh or run_options.as_of is not None:
        return
    check = HistoryCheck(
        catalog=runtime.catalog,
        increments=resources.increments,
        storage=runtime.storage,
        warehouse=resources.warehouse if len(ready) <= MOST_CHECKED else None,
    )
    for context in ready:
        check.refuse_lost(context)
