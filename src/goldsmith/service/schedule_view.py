"""Schedules for people: when each starts next, and pausing one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.errors import BadRequest, GoldsmithError
from goldsmith.journal import schedule_fires
from goldsmith.registry import UnknownName
from goldsmith.runtime import Runtime
from goldsmith.scheduling import schedules as rules
from goldsmith.service.clock import SCHEDULE_FLAG, paused, scheduled

_FAR = timedelta(days=4 * 366)


def listed_schedules(runtime: Runtime) -> list[dict[str, Any]]:
    """Every schedule: its next start, its last, and whether it is paused."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    last, now = schedule_fires.last(runtime.journal), datetime.now(UTC)
    found: list[dict[str, Any]] = []
    for entry in scheduled(catalog_index):
        flag = paused(catalog_index, entry.subject, now)
        starts, problem = _next(entry.text, now, 1)
        fire = last.get(entry.subject)
        found.append(
            {
                "subject": entry.subject,
                "schedule": entry.text,
                "next": starts[0].isoformat() if starts else None,
                "last_due": fire.due_at.isoformat() if fire and fire.request_id else None,
                "paused": flag is not None,
                "problem": problem,
            }
        )
    return found


def next_starts(runtime: Runtime, pipeline: str, most: int) -> tuple[str, list[datetime]]:
    """The schedule of a pipeline and its next starts; none if it starts after another."""
    schedule = _pipeline(runtime, pipeline).schedule
    if not schedule:
        raise BadRequest(
            sentence=f"Pipeline '{pipeline}' has no schedule.",
            advice="Set pipelines.schedule; `goldsmith run` starts it now.",
        )
    starts, problem = _next(schedule, datetime.now(UTC), most)
    if problem is not None:
        raise BadRequest(sentence=problem, advice="Correct pipelines.schedule.")
    return schedule, starts


def set_paused(
    runtime: Runtime, pipeline: str, is_paused: bool, *, actor: str, reason: str | None
) -> dict[str, Any]:
    """Pause or resume the schedule of a pipeline; starts left out are not caught up."""
    _pipeline(runtime, pipeline)
    flag = Flag(
        entity_type="pipeline",
        entity_id=pipeline,
        flag_name=SCHEDULE_FLAG,
        flag_value=not is_paused,
        updated_at=datetime.now(UTC),
        updated_by=actor,
        reason=reason,
    )
    with runtime.catalog.change(actor=actor, reason=reason) as change:
        change.put([flag])
    return {"pipeline_id": pipeline, "paused": is_paused}


def _pipeline(runtime: Runtime, name: str) -> Pipeline:
    rows = runtime.catalog.snapshot()
    found = rows.get(Pipeline, name)
    if found is None:
        raise UnknownName(noun="pipeline", name=name, known=tuple(rows.pipeline_ids))
    return found


def _next(text: str, now: datetime, most: int) -> tuple[list[datetime], str | None]:
    try:
        schedule = rules.parse_schedule(text)
        return list(islice(rules.due_times(schedule, now, now + _FAR), most)), None
    except GoldsmithError as error:
        return [], str(error)
