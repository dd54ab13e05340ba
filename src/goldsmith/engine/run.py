"""Walk a plan: stages that do not depend on each other at once, each in a session of its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime

from goldsmith.catalog import database
from goldsmith.engine import adjusting, faults, ledger, recover, stopping
from goldsmith.engine.adjust import Adjust
from goldsmith.engine.cancel import end_jvm
from goldsmith.engine.ending import Stopped, WorkerEnded
from goldsmith.engine.failures import readable
from goldsmith.engine.leasing import Held, TargetBusy
from goldsmith.engine.limits import limit
from goldsmith.engine.session import DISK_FULL, close_lost_files, own_session
from goldsmith.engine.stage import destination_of, resource_of, run_stage, stage_run_of
from goldsmith.engine.work import Asked, Tools, Work
from goldsmith.errors import GoldsmithError
from goldsmith.journal import events, leases, runs, stage_runs
from goldsmith.journal.event import RunEnded
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import LEFT_OUT, Run, RunStatus, StageRun
from goldsmith.planning.plan import Fate, Plan, PlannedStage

_LOG = logging.getLogger(__name__)
#: How often a place that somebody else writes is asked for again.
_ASK_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Orders:
    """How a plan is to be carried out."""

    request_id: str | None
    asked: Asked
    asked_by: str
    #: Stages at once.
    at_once: int = 4
    #: Wait for a place that another run writes, or fail at once.
    waits: bool = True
    attempt: int = 1
    #: What stages do otherwise, because they failed before.
    adjust: Mapping[str, Adjust] = field(default_factory=dict)
    #: Told of every stage run that begins and ends.
    tell: Callable[[str, PlannedStage, StageRun | None], None] = field(
        default=lambda what, stage, stage_run: None
    )


def run_plan(plan: Plan, tools: Tools, orders: Orders) -> list[Run]:
    """Carry a plan out; the runs it led to, one a pipeline."""
    return _Walk(plan, tools, orders).walk()


class _Walk:
    """One plan being carried out."""

    def __init__(self, plan: Plan, tools: Tools, orders: Orders) -> None:
        self.plan = plan
        self.tools = tools
        self.orders = orders
        self.stages = {stage.stage_id: stage for stage in plan.stages}
        self.before = dict(_before(plan))
        self.outcome: dict[str, StageRun] = {}
        self.runs: dict[str, Run] = {}
        self.works: dict[str, Work] = {}
        self.worker_ended: WorkerEnded | None = None
        #: Why a stage ended of which nobody can say whether it was published.
        self.broke: GoldsmithError | None = None

    def walk(self) -> list[Run]:
        for stage in self.plan.stages:
            self._run_of(stage)
        faults.reach("run-started")
        try:
            self._carry_out()
        finally:
            ended = [self._finish(run) for run in self.runs.values()]
        faults.reach("run-finished")
        if self.worker_ended is not None:
            self.worker_ended.ended = tuple(ended)
            raise self.worker_ended
        return ended

    def _carry_out(self) -> None:
        left = list(self.stages)
        working: dict[Future[StageRun], str] = {}
        with ThreadPoolExecutor(self.orders.at_once, thread_name_prefix="stage") as pool:
            while left or working:
                for name in [n for n in left if self._is_ready(n)]:
                    stage = self.stages[name]
                    passed = self._passed_over(stage)
                    if passed is not None:
                        self.outcome[name] = passed
                        self.orders.tell("ended", stage, passed)
                    elif self.worker_ended is None:
                        working[pool.submit(self._stage, stage)] = name
                    elif not working:
                        raise self.worker_ended
                    else:
                        continue
                    left.remove(name)
                if working:
                    done, _rest = wait(working, return_when=FIRST_COMPLETED)
                    for future in done:
                        name = working.pop(future)
                        self.outcome[name] = future.result()
                        self.orders.tell("ended", self.stages[name], self.outcome[name])

    def _is_ready(self, name: str) -> bool:
        return all(earlier in self.outcome for earlier in self.before[name])

    def _passed_over(self, stage: PlannedStage) -> StageRun | None:
        """Write down that a stage is not begun: stopped, blocked, or fed by a failed one."""
        if stage.fate is Fate.STOPPED:
            return self._pass(stage, events.StageStopped(because=stage.because))
        if stage.fate is Fate.BLOCKED:
            return self._pass(stage, events.StageBlocked(because=stage.because))
        skip = self._adjust(stage).skip
        if skip is not None:
            return self._pass(stage, events.StageSkipped(because=skip), left_out=True)
        for earlier in stage.after:
            status = self.outcome[earlier].status
            if status not in (RunStatus.SUCCEEDED, RunStatus.SKIPPED):
                why = f"reads what {earlier} writes, and that is {status}"
                return self._pass(stage, events.StageBlocked(because=why))
        return None

    def _pass(
        self,
        stage: PlannedStage,
        happened: events.StageBlocked | events.StageSkipped | events.StageStopped,
        *,
        left_out: bool = False,
    ) -> StageRun:
        passed = stage_run_of(self._work(stage))
        if left_out:
            passed = passed.with_(facts={LEFT_OUT: True})
        return stage_runs.pass_over(self.tools.journal, passed, happened)

    def _work(self, stage: PlannedStage) -> Work:
        adjust = self._adjust(stage)
        return Work(
            near=adjusting.near(stage.near, adjust),
            run_id=self.runs[stage.near.stage.pipeline_id].run_id,
            stage_run_id=new_id("try").replace("-", "_"),
            attempt=self.orders.attempt,
            asked=self.orders.asked,
            at=datetime.now(UTC),
            adjust=adjust,
        )

    def _adjust(self, stage: PlannedStage) -> Adjust:
        return self.orders.adjust.get(stage.stage_id, Adjust())

    def _stage(self, stage: PlannedStage) -> StageRun:
        work = self._work(stage)
        self.works[work.stage_run_id] = work
        try:
            with self.tools.watched(work), database.keeping(self.tools.journal.engine):
                return self._watched(stage, work)
        finally:
            del self.works[work.stage_run_id]

    def _watched(self, stage: PlannedStage, work: Work) -> StageRun:
        try:
            work.ended.check()
            held = self._lease(work)
        except Stopped as stopped:
            return self._pass(stage, stopping.before_it_began(stopped))
        except GoldsmithError as error:
            return self._failed_before(work, error)
        self.orders.tell("started", stage, stage_run_of(work))
        faults.reach("leased")
        try:
            with limit(work):
                return run_stage(work, self.tools, held)
        except Exception as error:
            return self._ended(work, held, error)
        finally:
            held.let_go()
            faults.reach("lease-released")

    def _ended(self, work: Work, held: Held, error: Exception) -> StageRun:
        """The door around everything a stage can meet: a stop, user's SQL, files, Spark itself."""
        match work.ended.cause:
            case Stopped():
                return stopping.stop(work, self.tools, held, end_worker=self._end_worker)
            case WorkerEnded() as cause:
                # Its JVM is gone: the next process asks the target what became of it.
                raise cause from error
            case cause:
                _LOG.exception("stage %s failed", work.near.stage_id, extra=_facts(work))
                told = cause or _read(error, work, self.tools)
                try:
                    return self._failed(work, told)
                except Exception as unasked:
                    self.broke = told
                    raise told from unasked

    def _end_worker(self, work: Work, tasks: int) -> bool:
        """End the JVM for tasks that will not die; everything else in it waits again."""
        ended = WorkerEnded(stage=work.near.stage_id, tasks=tasks)
        self.worker_ended = ended
        for other in list(self.works.values()):
            if other is not work:
                other.ended.order(ended)
        return end_jvm(self.tools.spark())

    def _lease(self, work: Work) -> Held:
        """Take the place the stage writes, after whoever writes it now."""
        resource = resource_of(work.near)
        while True:
            lease = leases.acquire(
                self.tools.journal,
                resource,
                self.tools.owner,
                run_id=work.run_id,
                stage_run_id=work.stage_run_id,
            )
            if lease is not None:
                return Held(self.tools.journal, lease)
            if not self.orders.waits:
                holder = leases.holder(self.tools.journal, resource)
                raise TargetBusy(resource=resource, holder=str(holder and holder.owner))
            work.ended.wait(_ASK_AGAIN_SECONDS)
            work.ended.check()

    def _failed_before(self, work: Work, error: GoldsmithError) -> StageRun:
        """The stage could not even begin."""
        stage_runs.start_stage_run(self.tools.journal, stage_run_of(work))
        return self._failed(work, error)

    def _failed(self, work: Work, error: GoldsmithError) -> StageRun:
        """Take away what lies aside, ask whether it was published all the same, write down which.

        Where the target cannot be asked nobody may say that it failed: the error goes on, and
        the next run of the target settles it.
        """
        if recover.known(self.tools, work.stage_run_id) is None:
            stage_runs.start_stage_run(self.tools.journal, stage_run_of(work))
        else:
            with own_session(self.tools.spark()) as spark:
                destination = destination_of(spark, work.near, self.tools)
                settled = recover.give_up(self.tools, destination, work)
                if self.tools.code_of(error) == DISK_FULL:
                    close_lost_files(spark)
            if settled is not None:
                return settled
        happened = events.StageFailed(
            error_code=self.tools.code_of(error),
            error_message=self.tools.hide(str(error)),
            transient=error.transient,
        )
        with self.tools.journal.writing() as connection:
            ledger.forget(connection, work.stage_run_id)
            return stage_runs.finish_stage_run(
                self.tools.journal,
                work.stage_run_id,
                happened,
                facts={"hint": self.tools.hide(error.hint or ""), "error": self._facts_of(error)},
                connection=connection,
            )

    def _facts_of(self, error: GoldsmithError) -> Mapping[str, object]:
        """What a program may want to know of an error, as JSON says it and without secrets."""
        told: dict[str, object] = json.loads(
            self.tools.hide(json.dumps(dict(error.facts), default=str))
        )
        return told

    def _run_of(self, stage: PlannedStage) -> None:
        pipeline = stage.near.stage.pipeline_id
        if pipeline in self.runs:
            return
        self.runs[pipeline] = runs.start_run(
            self.tools.journal,
            Run(
                run_id=new_id("run"),
                request_id=self.orders.request_id,
                pipeline_id=pipeline,
                asked_by=self.orders.asked_by,
                environment=self.plan.environment,
                catalog_revision=self.plan.revision,
                worker=str(self.tools.owner),
            ),
        )

    def _finish(self, run: Run) -> Run:
        """How a run ended is how its worst stage did."""
        mine = [out for out in self.outcome.values() if out.run_id == run.run_id]
        failed = next((out for out in mine if out.status == RunStatus.FAILED), None)
        stopped = next((out for out in mine if out.status == RunStatus.STOPPED), None)
        blocked = next((out for out in mine if out.status == RunStatus.BLOCKED), None)
        lost = next((out for out in mine if out.status == RunStatus.INTERRUPTED), None)
        planned = [s for s in self.plan.stages if s.near.stage.pipeline_id == run.pipeline_id]
        if failed is not None:
            happened: RunEnded = events.RunFailed(
                error_code=failed.error_code,
                error_message=failed.error_message,
                because=f"stage {failed.stage_order} failed",
            )
        elif stopped is not None:
            happened = events.RunStopped(because=stopped.because)
        elif len(mine) < len(planned):
            why = (
                "it was interrupted" if self.broke is None else f"{self.broke} [{self.broke.code}]"
            )
            happened = events.RunInterrupted(because=why)
        elif lost is not None:
            happened = events.RunInterrupted(because=f"stage {lost.stage_order}: {lost.because}")
        elif blocked is not None:
            happened = events.RunBlocked(because=blocked.because)
        else:
            happened = events.RunFinished()
        return runs.finish_run(self.tools.journal, run.run_id, happened)


def _before(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The stages each comes after: what it reads from, and its pipeline's stage before it."""
    last: dict[str, str] = {}
    for stage in plan.stages:
        pipeline = stage.near.stage.pipeline_id
        earlier = (last[pipeline],) if pipeline in last else ()
        yield stage.stage_id, (*stage.after, *earlier)
        last[pipeline] = stage.stage_id


def _facts(work: Work) -> dict[str, object]:
    return {"facts": {"run_id": work.run_id, "stage_run_id": work.stage_run_id}}


def _read(error: Exception, work: Work, tools: Tools) -> GoldsmithError:
    return readable(error, work.near, tools.increments.listed(), tools.code_of)
