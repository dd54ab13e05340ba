"""Run a plan: independent stages run in parallel, each in a Spark session of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime

from goldsmith.catalog import database
from goldsmith.engine import apply_overrides, faults, ledger, stop_stage
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.cancel_token import Stopped, WorkerEnded
from goldsmith.engine.failures import readable
from goldsmith.engine.publish import recover
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.engine.retry_overrides import RetryOverrides
from goldsmith.engine.session.cancel import end_jvm
from goldsmith.engine.session.spark_session import DISK_FULL, close_lost_files, own_session
from goldsmith.engine.stage import replay_stage, run_stage
from goldsmith.engine.stage_lease import lease_target
from goldsmith.engine.stage_record import stage_run_of
from goldsmith.engine.stage_target import destination_of
from goldsmith.engine.time_limit import time_limit
from goldsmith.errors import GoldsmithError, plain_facts
from goldsmith.journal import events, runs, stage_runs
from goldsmith.journal.event_base import RunEnded
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import LEFT_OUT, Run, RunStatus, StageRun
from goldsmith.planning.missing_sources import SOURCES_MISSING
from goldsmith.planning.plan import Plan, PlannedStage, StageDecision
from goldsmith.planning.run_options import RunOptions

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionOptions:
    """How to run a plan."""

    request_id: str | None
    run_options: RunOptions
    asked_by: str
    #: How many stages may run in parallel.
    at_once: int = 4
    #: Wait for a target that another run holds; False: fail at once.
    waits: bool = True
    attempt: int = 1
    #: Retry overrides by stage id.
    adjust: Mapping[str, RetryOverrides] = field(default_factory=dict)
    #: Called when a stage run starts and ends.
    tell: Callable[[str, PlannedStage, StageRun | None], None] = field(
        default=lambda what, stage, stage_run: None
    )


def run_plan(
    plan: Plan, resources: WorkerResources, execution_options: ExecutionOptions
) -> list[Run]:
    """Run a plan; return its runs, one per pipeline."""
    return _Walk(plan, resources, execution_options).walk()


class _Walk:
    """The state of one running plan."""

    def __init__(
        self, plan: Plan, resources: WorkerResources, execution_options: ExecutionOptions
    ) -> None:
        self.plan = plan
        self.resources = resources
        self.execution_options = execution_options
        self.stages = {stage.stage_id: stage for stage in plan.stages}
        self.before = dict(_before(plan))
        self.outcome: dict[str, StageRun] = {}
        self.runs: dict[str, Run] = {}
        self.attempts: dict[str, Attempt] = {}
        self.worker_ended: WorkerEnded | None = None
        #: The error of a stage whose target cannot tell whether the stage was published.
        self.unsettled_error: GoldsmithError | None = None

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
        with ThreadPoolExecutor(self.execution_options.at_once, thread_name_prefix="stage") as pool:
            while left or working:
                for name in [n for n in left if self._is_ready(n)]:
                    stage = self.stages[name]
                    passed = self._passed_over(stage)
                    if passed is not None:
                        self.outcome[name] = passed
                        self.execution_options.tell("ended", stage, passed)
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
                        self.execution_options.tell("ended", self.stages[name], self.outcome[name])

    def _is_ready(self, name: str) -> bool:
        return all(earlier in self.outcome for earlier in self.before[name])

    def _passed_over(self, stage: PlannedStage) -> StageRun | None:
        """Record a stage that must not start: stopped, left out or blocked; None if it may."""
        if stage.fate is StageDecision.STOPPED:
            return self._pass(stage, events.StageStopped(because=stage.because))
        if stage.fate is StageDecision.LEFT_OUT:
            return self._pass(stage, events.StageSkipped(because=stage.because), left_out=True)
        if stage.fate is StageDecision.BLOCKED:
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
        event: events.StageBlocked | events.StageSkipped | events.StageStopped,
        *,
        left_out: bool = False,
    ) -> StageRun:
        passed = stage_run_of(self._new_attempt(stage))
        if left_out:
            passed = passed.with_(facts={LEFT_OUT: True})
        return stage_runs.pass_over(self.resources.journal, passed, event)

    def _new_attempt(self, stage: PlannedStage) -> Attempt:
        adjust = self._adjust(stage)
        return Attempt(
            context=apply_overrides.context(stage.context, adjust),
            run_id=self.runs[stage.context.stage.pipeline_id].run_id,
            stage_run_id=new_id("try").replace("-", "_"),
            attempt=self.execution_options.attempt,
            run_options=self.execution_options.run_options,
            at=datetime.now(UTC),
            adjust=adjust,
        )

    def _adjust(self, stage: PlannedStage) -> RetryOverrides:
        return self.execution_options.adjust.get(stage.stage_id, RetryOverrides())

    def _stage(self, stage: PlannedStage) -> StageRun:
        attempt = self._new_attempt(stage)
        self.attempts[attempt.stage_run_id] = attempt
        try:
            with self.resources.watched(attempt), database.keeping(self.resources.journal.engine):
                return self._watched(stage, attempt)
        finally:
            del self.attempts[attempt.stage_run_id]

    def _watched(self, stage: PlannedStage, attempt: Attempt) -> StageRun:
        try:
            attempt.cancel.check()
            held_lease, planned = lease_target(
                stage, attempt, self.resources, waits=self.execution_options.waits
            )
        except Stopped as stopped:
            return self._pass(stage, stop_stage.before_it_began(stopped))
        except GoldsmithError as error:
            return self._failed_before(attempt, error)
        self.execution_options.tell("started", stage, stage_run_of(attempt))
        faults.reach("leased")
        try:
            with time_limit(attempt):
                if attempt.run_options.replay is not None:
                    return replay_stage(attempt, self.resources, held_lease)
                return run_stage(attempt, self.resources, held_lease, planned)
        except Exception as error:
            return self._ended(attempt, held_lease, error)
        finally:
            held_lease.release()
            faults.reach("lease-released")

    def _ended(self, attempt: Attempt, held_lease: HeldLease, error: Exception) -> StageRun:
        """Record how a stage ended by an exception: a stop, or an error of SQL, files or Spark."""
        match attempt.cancel.cause:
            case Stopped():
                return stop_stage.stop(
                    attempt, self.resources, held_lease, end_worker=self._end_worker
                )
            case WorkerEnded() as cause:
                # The JVM is gone; the next run of the target finds out whether this was published.
                raise cause from error
            case cause:
                _LOG.exception("stage %s failed", attempt.context.stage_id, extra=_facts(attempt))
                failure = cause or _read(error, attempt, self.resources)
                try:
                    return self._failed(attempt, failure)
                except Exception as settle_error:
                    self.unsettled_error = failure
                    raise failure from settle_error

    def _end_worker(self, attempt: Attempt, tasks: int) -> bool:
        """End the JVM because of tasks that ignore a stop; cancel all other attempts in it."""
        ended = WorkerEnded(stage=attempt.context.stage_id, tasks=tasks)
        self.worker_ended = ended
        for other in list(self.attempts.values()):
            if other is not attempt:
                other.cancel.order(ended)
        return end_jvm(self.resources.spark())

    def _failed_before(self, attempt: Attempt, error: GoldsmithError) -> StageRun:
        """Record a stage that failed before it started."""
        stage_runs.start_stage_run(self.resources.journal, stage_run_of(attempt))
        return self._failed(attempt, error)

    def _failed(self, attempt: Attempt, error: GoldsmithError) -> StageRun:
        """Remove staged rows, then record the attempt as failed, or as published if it was.

        If the target cannot be reached, nothing is recorded: the error is raised, and the next
        run of the target settles the stage run.
        """
        if recover.known(self.resources, attempt.stage_run_id) is None:
            stage_runs.start_stage_run(self.resources.journal, stage_run_of(attempt))
        else:
            with own_session(self.resources.spark()) as spark:
                destination = destination_of(spark, attempt.context, self.resources)
                settled = recover.give_up(self.resources, destination, attempt)
                if self.resources.code_of(error) == DISK_FULL:
                    close_lost_files(spark)
            if settled is not None:
                return settled
        event = events.StageFailed(
            error_code=self.resources.code_of(error),
            error_message=self.resources.hide(str(error)),
            transient=error.transient,
        )
        with self.resources.journal.writing() as connection:
            ledger.forget(connection, attempt.stage_run_id)
            return stage_runs.finish_stage_run(
                self.resources.journal,
                attempt.stage_run_id,
                event,
                facts={
                    "hint": self.resources.hide(error.hint or ""),
                    "error": self._facts_of(error),
                },
                connection=connection,
            )

    def _facts_of(self, error: GoldsmithError) -> Mapping[str, object]:
        """The facts of an error as JSON values, without secrets."""
        facts: dict[str, object] = plain_facts(error.facts, self.resources.hide)
        return facts

    def _run_of(self, stage: PlannedStage) -> None:
        pipeline = stage.context.stage.pipeline_id
        if pipeline in self.runs:
            return
        self.runs[pipeline] = runs.start_run(
            self.resources.journal,
            Run(
                run_id=new_id("run"),
                request_id=self.execution_options.request_id,
                pipeline_id=pipeline,
                asked_by=self.execution_options.asked_by,
                environment=self.plan.environment,
                catalog_revision=self.plan.revision,
                worker=str(self.resources.owner),
            ),
        )

    def _finish(self, run: Run) -> Run:
        """Record the end of a run: the status of its worst stage."""
        stage_runs_of_run = [
            stage_run for stage_run in self.outcome.values() if stage_run.run_id == run.run_id
        ]
        failed = next(
            (stage_run for stage_run in stage_runs_of_run if stage_run.status == RunStatus.FAILED),
            None,
        )
        stopped = next(
            (stage_run for stage_run in stage_runs_of_run if stage_run.status == RunStatus.STOPPED),
            None,
        )
        blocked = next(
            (stage_run for stage_run in stage_runs_of_run if stage_run.status == RunStatus.BLOCKED),
            None,
        )
        lost = next(
            (
                stage_run
                for stage_run in stage_runs_of_run
                if stage_run.status == RunStatus.INTERRUPTED
            ),
            None,
        )
        planned = [s for s in self.plan.stages if s.context.stage.pipeline_id == run.pipeline_id]
        if failed is not None:
            event: RunEnded = events.RunFailed(
                error_code=failed.error_code,
                error_message=failed.error_message,
                because=f"stage {failed.stage_order} failed",
            )
        elif stopped is not None:
            event = events.RunStopped(because=stopped.because)
        elif len(stage_runs_of_run) < len(planned):
            why = (
                "it was interrupted"
                if self.unsettled_error is None
                else f"{self.unsettled_error} [{self.unsettled_error.code}]"
            )
            event = events.RunInterrupted(because=why)
        elif lost is not None:
            event = events.RunInterrupted(because=f"stage {lost.stage_order}: {lost.because}")
        elif blocked is not None:
            event = events.RunBlocked(because=blocked.because)
        else:
            left_out = [s.because for s in planned if s.fate is StageDecision.LEFT_OUT]
            notes = [f"left out: {'; '.join(left_out)}"] if left_out else []
            for stage_run in stage_runs_of_run:
                notes += stage_run.facts.get(SOURCES_MISSING, ())
            event = events.RunFinished(because="; ".join(dict.fromkeys(notes)) or None)
        return runs.finish_run(self.resources.journal, run.run_id, event)


def _before(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each stage with its predecessors: the stages that feed it and the one before it."""
    last: dict[str, str] = {}
    for stage in plan.stages:
        pipeline = stage.context.stage.pipeline_id
        earlier = (last[pipeline],) if pipeline in last else ()
        yield stage.stage_id, (*stage.after, *earlier)
        last[pipeline] = stage.stage_id


def _facts(attempt: Attempt) -> dict[str, object]:
    return {"facts": {"run_id": attempt.run_id, "stage_run_id": attempt.stage_run_id}}


def _read(error: Exception, attempt: Attempt, resources: WorkerResources) -> GoldsmithError:
    return readable(error, attempt.context, resources.increments.listed(), resources.code_of)
