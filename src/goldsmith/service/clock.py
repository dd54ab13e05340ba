"""Turn the clock: each due start becomes exactly one request."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Overlap, Pipeline
from goldsmith.catalog.push_schedules import PushSchedule
from goldsmith.catalog.upkeep_schedules import CheckSchedule, MaintenanceSchedule
from goldsmith.errors import GoldsmithError
from goldsmith.journal import requests, schedule_fires
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import requests as request_table
from goldsmith.journal.definitions import runs, stage_runs
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import Request, RequestStatus, RunStatus
from goldsmith.journal.tables_of_service import ScheduleFire
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.runtime import Runtime
from goldsmith.scheduling import schedules
from goldsmith.scheduling.schedules import MissedRuns, PipelineSchedule
from goldsmith.worker import upkeep

_LOG = logging.getLogger(__name__)
#: The flag that pauses a schedule: `flag_value` false.
SCHEDULE_FLAG = "schedule"
_UNFINISHED = (RequestStatus.WAITING.value, RequestStatus.RUNNING.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheduled:
    """Something with a schedule: a pipeline, a task of upkeep, a rule set."""

    subject: str
    text: str
    selection: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    pipeline: Pipeline | None = None


def scheduled(catalog_index: CatalogIndex) -> Iterator[Scheduled]:
    """Everything that has a schedule in the rows as they are now."""
    rows = catalog_index.rows
    for pipeline in rows.rows(Pipeline):
        text = (pipeline.schedule or "").strip()
        if text and text != "none" and pipeline.enabled:
            name = pipeline.pipeline_id
            yield Scheduled(
                subject=f"pipeline:{name}",
                text=text,
                selection=(f"pipeline:{name}",),
                pipeline=pipeline,
            )
    for row in rows.rows(MaintenanceSchedule):
        if row.schedule and row.enabled:
            options: dict[str, Any] = {upkeep.TASK: row.task, "dataset_id": row.dataset_id}
            if row.task == upkeep.FORGET:
                if row.keep_days is None:
                    continue  # a finding: the row does not say how many days to keep
                options = {upkeep.TASK: row.task, "keep_days": row.keep_days}
            yield Scheduled(
                subject=f"maintenance:{row.maintenance_id}",
                text=row.schedule.strip(),
                options={name: value for name, value in options.items() if value is not None},
            )
    for push in rows.rows(PushSchedule):
        if push.schedule and push.enabled:
            yield Scheduled(
                subject=f"push:{push.push_schedule_id}",
                text=push.schedule.strip(),
                options={upkeep.TASK: upkeep.PUSH, "push_schedule_id": push.push_schedule_id},
            )
    for check in rows.rows(CheckSchedule):
        if check.schedule and check.enabled:
            yield Scheduled(
                subject=f"check:{check.rule_set_id}:{check.dataset_id}",
                text=check.schedule.strip(),
                options={
                    upkeep.TASK: upkeep.CHECK,
                    "rule_set_id": check.rule_set_id,
                    "dataset_id": check.dataset_id,
                },
            )


def paused(catalog_index: CatalogIndex, subject: str, at: datetime) -> Flag | None:
    """The flag that pauses a pipeline's schedule now, if there is one."""
    kind, _, name = subject.partition(":")
    if kind != "pipeline":
        return None
    flag = catalog_index.rows.get(Flag, "pipeline", name, SCHEDULE_FLAG)
    return flag if flag is not None and not flag.flag_value and flag.holds(at) else None


class Clock:
    """Fires due schedules; all of its state is in rows."""

    def __init__(self, runtime: Runtime, service: str) -> None:
        self._runtime = runtime
        self._service = service
        self._refused: dict[str, str] = {}

    def turn(self) -> list[ScheduleFire]:
        """Fire everything that fell due since the last turn of any service."""
        runtime = self._runtime
        catalog_index = runtime.catalog_indexer.catalog_index()
        with runtime.journal.reading() as connection:
            at = read_clock(connection)
        last = schedule_fires.last(runtime.journal)
        fired: list[ScheduleFire] = []
        for entry in scheduled(catalog_index):
            try:
                schedule = schedules.parse_schedule(entry.text)
            except GoldsmithError as error:
                self._report(entry.subject, str(error))  # a finding of `catalog check` too
                continue
            before = last.get(entry.subject)
            if before is None or before.schedule != entry.text:
                self._begin(entry, at)
                continue
            fired += self._fire(catalog_index, entry, schedule, before, at)
        return fired

    def _report(self, subject: str, problem: str) -> None:
        if self._refused.get(subject) != problem:
            self._refused[subject] = problem
            _LOG.warning("the schedule of %s does not fire: %s", subject, problem)

    def _begin(self, entry: Scheduled, at: datetime) -> None:
        """A new or changed schedule counts from now on: nothing before it was missed."""
        first = ScheduleFire(
            subject=entry.subject,
            due_at=at,
            schedule=entry.text,
            fired_by=self._service,
            because="the schedule was seen first",
        )
        schedule_fires.fire(self._runtime.journal, first, None)

    def _fire(
        self,
        catalog_index: CatalogIndex,
        entry: Scheduled,
        schedule: PipelineSchedule,
        before: ScheduleFire,
        at: datetime,
    ) -> Iterator[ScheduleFire]:
        due, because = self._due(entry, schedule, before.due_at, at)
        flag = paused(catalog_index, entry.subject, at)
        for moment in due:
            left_out = None if flag is None else _pause_text(flag)
            yield from self._fire_once(entry, moment, because, left_out)

    def _due(
        self, entry: Scheduled, schedule: PipelineSchedule, since: datetime, at: datetime
    ) -> tuple[tuple[datetime, ...], str]:
        journal = self._runtime.journal
        if schedule.after_pipeline is not None:
            found = _ends(journal, runs, runs.c.pipeline_id, schedule.after_pipeline, since)
            return found[-1:], f"{schedule.after_pipeline} has run"
        if schedule.after_dataset is not None:
            dataset = schedule.after_dataset
            found = _ends(journal, stage_runs, stage_runs.c.target_id, dataset, since)
            return found[-1:], f"{dataset} was published"
        if schedule.on_arrival or not schedule.timed:
            return (), ""
        pipeline = entry.pipeline or Pipeline(pipeline_id="")
        starts = schedules.starts(
            schedule,
            since,
            at,
            missed=MissedRuns(pipeline.missed_runs),
            catch_up_limit=pipeline.catch_up_limit,
        )
        if starts.left_out and not starts.due:
            # Remember that these were looked at, so that they are counted once.
            self._leave_out(entry, at, starts.because)
        return starts.due, starts.because

    def _leave_out(self, entry: Scheduled, at: datetime, because: str) -> None:
        passed = ScheduleFire(
            subject=entry.subject,
            due_at=at,
            schedule=entry.text,
            fired_by=self._service,
            because=because,
        )
        schedule_fires.fire(self._runtime.journal, passed, None)

    def _fire_once(
        self, entry: Scheduled, due: datetime, because: str, left_out: str | None
    ) -> Iterator[ScheduleFire]:
        unfinished = self._unfinished(entry) if left_out is None else []
        overlap = entry.pipeline.overlap if entry.pipeline else Overlap.SKIP.value
        if unfinished and overlap == Overlap.SKIP:
            left_out = f"{unfinished[0].request_id} of the same schedule is not over"
        request = None
        if left_out is None:
            request = Request(
                request_id=new_id("request"),
                selection=entry.selection,
                pipelines=(entry.pipeline.pipeline_id,) if entry.pipeline else (),
                options=entry.options,
                asked_by=f"schedule:{entry.subject}",
                due_at=due,
                because=because or None,
            )
        fire = ScheduleFire(
            subject=entry.subject,
            due_at=due,
            schedule=entry.text,
            fired_by=self._service,
            request_id=None if request is None else request.request_id,
            because=left_out or because or None,
        )
        if schedule_fires.fire(self._runtime.journal, fire, request):
            if request is not None and overlap == Overlap.STOP:
                self._stop(unfinished)
            yield fire

    def _unfinished(self, entry: Scheduled) -> list[Request]:
        """Requests of the same schedule that wait or run."""
        from goldsmith.journal import row_storage

        query = sa.select(request_table).where(
            request_table.c.status.in_(_UNFINISHED),
            request_table.c.asked_by == f"schedule:{entry.subject}",
        )
        with self._runtime.journal.reading() as connection:
            return row_storage.select(connection, Request, query)

    def _stop(self, unfinished: list[Request]) -> None:
        """Cancel waiting requests of the schedule; the worker of a running one stops it."""
        for request in unfinished:
            try:
                requests.supersede(self._runtime.journal, request.request_id)
            except GoldsmithError as error:
                _LOG.info("%s", error)


def _pause_text(flag: Flag) -> str:
    who = f" by {flag.updated_by}" if flag.updated_by else ""
    why = f" ({flag.reason})" if flag.reason else ""
    return f"the schedule is paused{who}{why}"


def _ends(
    journal: Any, table: sa.Table, column: sa.Column[Any], name: str, since: datetime
) -> tuple[datetime, ...]:
    """When something succeeded after a time, in order."""
    query = (
        sa.select(table.c.ended_at)
        .where(
            column == name,
            table.c.status == RunStatus.SUCCEEDED.value,
            table.c.ended_at > since,
        )
        .order_by(table.c.ended_at)
    )
    with journal.reading() as connection:
        return tuple(connection.execute(query).scalars())
