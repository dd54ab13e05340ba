"""Why something runs, waits, was stopped, failed, is blocked or never ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldsmith.journal.entities import Entity, find
from goldsmith.journal.look import Look, looking
from goldsmith.journal.reason import (
    Answer,
    Reason,
    answer,
    of_event,
    of_request,
    of_run,
    of_stage_run,
    of_stop,
)

_STOP = "SELECT entity_type, entity_id, set_in, since, who, because, until FROM v_stops"
_STOPS_OF_STAGES = """
SELECT DISTINCT t.entity_type, t.entity_id, t.set_in, t.since, t.who, t.because, t.until
FROM v_stops t JOIN stages s ON s.pipeline_id = :pipeline AND (
  (t.entity_type = 'stage' AND t.entity_id = s.pipeline_id || '-' || s.stage_order)
  OR (t.entity_type = 'source' AND t.entity_id = s.source_id)
  OR (t.entity_type = 'target' AND t.entity_id = s.target_id))
"""
_STOPS_OF_STAGE = f"""
{_STOP} WHERE entity_type = 'everything'
  OR (entity_type = 'pipeline' AND entity_id = :pipeline)
  OR (entity_type = 'stage' AND entity_id = :stage)
  OR (entity_type = 'source' AND entity_id = :source)
  OR (entity_type = 'target' AND entity_id = :target)
"""
_RUN = """
SELECT run_id, request_id, pipeline_id, status, because, asked_by, started_at, ended_at,
  error_code, error_message, worker FROM runs
"""
_STAGE_RUN = """
SELECT run_id, pipeline_id, stage_order, stage_name, status, step, because, started_at, ended_at,
  error_code, error_message FROM stage_runs
"""
_REQUEST = """
SELECT request_id, pipelines, run_ids, status, because, asked_at, not_before, ended_at
FROM requests
"""
#: What happened on the way, beside the beginnings and ends of runs.
_EVENT = """
SELECT at, kind, resolution, error_code, request_id, run_id, facts FROM audit_log
WHERE kind IN ('RequestWaiting', 'RequestRequeued', 'FlagSeen', 'LeaseLost', 'RetryScheduled',
  'RemedyChosen', 'StageHeld', 'StageHealed', 'FileSetAside', 'IncidentOpened', 'CheckFailed')
"""
_NEWEST = "ORDER BY started_at DESC, run_id DESC LIMIT 5"
_STAGE = "SELECT pipeline_id, stage_order, source_id, target_id FROM stages"

Rows = Sequence[dict[str, Any]]


def why(url: str, word: str) -> Answer:
    """The answer for a pipeline, stage, dataset, run or request, or for everything."""
    with looking(url) as look:
        entity = find(look, word)
        match entity.kind:
            case "pipeline":
                return _pipeline(look, entity)
            case "stage":
                return _stage(look, entity)
            case "dataset":
                return _dataset(look, entity)
            case "run":
                return _run(look, entity)
            case "request":
                return _request(look, entity)
            case _:
                return _everything(look, entity)


def _everything(look: Look, entity: Entity) -> Answer:
    stops = [of_stop(row) for row in look.rows(f"{_STOP} WHERE entity_type = 'everything'")]
    if stops:
        return answer(str(entity), "stopped", stops[0].says, stops)
    parts = [of_stop(row) for row in look.rows(f"{_STOP} ORDER BY since DESC LIMIT 20")]
    return answer(str(entity), "enabled", "No flag stops everything.", parts)


def _pipeline(look: Look, entity: Entity) -> Answer:
    mine = {"pipeline": entity.id}
    stops = look.rows(
        f"{_STOP} WHERE entity_type = 'everything'"
        " OR (entity_type = 'pipeline' AND entity_id = :pipeline)",
        **mine,
    )
    runs = look.rows(f"{_RUN} WHERE pipeline_id = :pipeline {_NEWEST}", **mine)
    tries: Rows = []
    if runs:
        tries = look.rows(
            f"{_STAGE_RUN} WHERE run_id = :run AND status NOT IN ('succeeded', 'skipped')"
            " ORDER BY stage_order DESC",
            run=runs[0]["run_id"],
        )
    waiting = _waiting(look, entity.id)
    events = look.rows(
        f"{_EVENT} AND pipeline_id = :pipeline ORDER BY event_id DESC LIMIT 10", **mine
    )
    reasons = [
        *map(of_stop, stops),
        *map(of_stop, look.rows(_STOPS_OF_STAGES, **mine)),
        *map(of_run, runs),
        *map(of_stage_run, tries),
        *map(of_request, waiting),
        *map(of_event, events),
    ]
    state, because = _standing(stops, waiting, runs, [of_run(row) for row in runs])
    return answer(str(entity), state, because or _never_ran(look, entity.id), reasons)


def _stage(look: Look, entity: Entity) -> Answer:
    row = look.row(f"{_STAGE} WHERE pipeline_id || '-' || stage_order = :id", id=entity.id) or {}
    mine = {"pipeline": row["pipeline_id"], "place": row["stage_order"]}
    stops = look.rows(
        _STOPS_OF_STAGE,
        pipeline=row["pipeline_id"],
        stage=entity.id,
        source=row["source_id"],
        target=row["target_id"],
    )
    tries = look.rows(
        f"{_STAGE_RUN} WHERE pipeline_id = :pipeline AND stage_order = :place {_NEWEST}", **mine
    )
    events = look.rows(
        f"{_EVENT} AND pipeline_id = :pipeline AND stage_order = :place"
        " ORDER BY event_id DESC LIMIT 10",
        **mine,
    )
    waiting = _waiting(look, row["pipeline_id"])
    told = [of_stage_run(each) for each in tries]
    reasons = [*map(of_stop, stops), *told, *map(of_request, waiting), *map(of_event, events)]
    state, because = _standing(stops, waiting, tries, told)
    return answer(str(entity), state, because or _never_ran(look, row["pipeline_id"]), reasons)


def _dataset(look: Look, entity: Entity) -> Answer:
    writers = look.rows(
        f"{_STAGE} WHERE target_id = :id ORDER BY pipeline_id, stage_order", id=entity.id
    )
    stops = look.rows(
        f"{_STOP} WHERE entity_id = :id AND entity_type IN ('source', 'target')", id=entity.id
    )
    if writers:
        answers = [
            _stage(look, Entity(kind="stage", id=f"{row['pipeline_id']}-{row['stage_order']}"))
            for row in writers
        ]
        reasons = [reason for one in answers for reason in one.reasons]
        because = f"{answers[0].subject} writes it. {answers[0].because}"
        stopped = [*map(of_stop, stops), *reasons]
        return answer(str(entity), answers[0].state, because, stopped)
    if stops:
        told = [of_stop(row) for row in stops]
        return answer(str(entity), "stopped", told[0].says, told)
    readers = look.rows(f"{_STAGE} WHERE source_id = :id", id=entity.id)
    read_by = ", ".join(f"stage:{row['pipeline_id']}-{row['stage_order']}" for row in readers)
    because = f"No stage writes it; {f'it is read by {read_by}' if read_by else 'none reads it'}."
    return answer(str(entity), "not written", because, ())


def _run(look: Look, entity: Entity) -> Answer:
    run = look.rows(f"{_RUN} WHERE run_id = :id", id=entity.id)[0]
    tries = look.rows(f"{_STAGE_RUN} WHERE run_id = :id ORDER BY stage_order", id=entity.id)
    asked = look.rows(f"{_REQUEST} WHERE request_id = :id", id=run["request_id"])
    events = look.rows(f"{_EVENT} AND run_id = :id ORDER BY event_id DESC LIMIT 20", id=entity.id)
    told = of_run(run)
    reasons = [
        told,
        *map(of_stage_run, tries),
        *map(of_request, asked),
        *map(of_event, events),
    ]
    return answer(str(entity), run["status"], told.says, reasons)


def _request(look: Look, entity: Entity) -> Answer:
    request = look.rows(f"{_REQUEST} WHERE request_id = :id", id=entity.id)[0]
    runs = look.rows(f"{_RUN} WHERE request_id = :id {_NEWEST}", id=entity.id)
    events = look.rows(
        f"{_EVENT} AND request_id = :id ORDER BY event_id DESC LIMIT 20", id=entity.id
    )
    told = of_request(request)
    reasons = [told, *map(of_run, runs), *map(of_event, events)]
    return answer(str(entity), request["status"], told.says, reasons)


def _standing(
    stops: Rows, waiting: Rows, tries: Rows, told: Sequence[Reason]
) -> tuple[str, str | None]:
    """How something stands: what holds it back now comes before how it went last time."""
    running = [reason for row, reason in zip(tries, told, strict=True) if not _is_over(row)]
    if stops:
        return "stopping" if running else "stopped", of_stop(stops[0]).says
    if running:
        return "running", running[0].says
    if waiting:
        return "waiting", of_request(waiting[0]).says
    if tries:
        return tries[0]["status"], told[0].says
    return "never ran", None


def _is_over(row: dict[str, Any]) -> bool:
    return row["status"] not in ("running", "waiting")


def _waiting(look: Look, pipeline: str) -> Rows:
    # Which pipelines a request means is a list in the row; few wait at any time.
    waiting = look.rows(f"{_REQUEST} WHERE status = 'waiting' ORDER BY asked_at DESC")
    return [row for row in waiting if pipeline in (row["pipelines"] or ())]


def _never_ran(look: Look, pipeline: str) -> str:
    row = look.row("SELECT schedule FROM pipelines WHERE pipeline_id = :id", id=pipeline)
    schedule = row["schedule"] if row else None
    if schedule:
        return f"It never ran: its schedule is '{schedule}', and it has not come up yet."
    return "It never ran: nobody asked for it, and it has no schedule."
