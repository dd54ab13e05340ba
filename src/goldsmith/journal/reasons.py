"""Why something runs, waits, was stopped, failed, is blocked or never ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldsmith.journal.entities import Entity, find
from goldsmith.journal.reason import (
    Answer,
    Reason,
    answer,
    is_throttled,
    of_event,
    of_request,
    of_run,
    of_stage_run,
    of_stop,
    of_warning,
)
from goldsmith.journal.status_query import (
    IS_SPECIAL,
    SPECIAL_RUNS,
    StatusConnection,
    open_status_connection,
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
#: Events that explain a state, apart from the start and end of runs.
_EVENT = """
SELECT at, kind, resolution, error_code, request_id, run_id, facts FROM audit_log
WHERE kind IN ('RequestWaiting', 'RequestRequeued', 'FlagSeen', 'LeaseLost', 'RetryScheduled',
  'RemedyChosen', 'RemedyFailed', 'RemedyDidNotHelp', 'StageHeld', 'StageHealed', 'FileSetAside',
  'IncidentOpened', 'CheckFailed')
"""
#: Failed checks of a run's published stage runs: they only warned.
_WARNING = """
SELECT v.at, v.check_name, v.severity, v.message, v.run_id
FROM stage_runs s JOIN verdicts v ON v.stage_run_id = s.stage_run_id
WHERE s.status = 'succeeded' AND NOT v.passed AND v.severity <> 'info' AND s.run_id = :run
"""
#: Leaves out finished special runs, which do not count for the state of their pipeline.
_REGULAR = f"""
AND (status = 'running' OR NOT EXISTS (
  SELECT 1 FROM runs r JOIN requests q ON q.request_id = r.request_id
  WHERE r.run_id = {{of}}.run_id AND {IS_SPECIAL}))
"""
_NEWEST = "ORDER BY started_at DESC, run_id DESC LIMIT 5"
_STAGE = "SELECT pipeline_id, stage_order, source_id, target_id FROM stages"

Rows = Sequence[dict[str, Any]]


def why(url: str, text: str) -> Answer:
    """Explain the state of a pipeline, stage, dataset, run or request, or of everything."""
    with open_status_connection(url) as look:
        entity = find(look, text)
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


def _everything(look: StatusConnection, entity: Entity) -> Answer:
    stops = [of_stop(row) for row in look.rows(f"{_STOP} WHERE entity_type = 'everything'")]
    if stops:
        return answer(str(entity), "stopped", stops[0].says, stops)
    parts = [of_stop(row) for row in look.rows(f"{_STOP} ORDER BY since DESC LIMIT 20")]
    return answer(str(entity), "enabled", "No flag stops everything.", parts)


def _pipeline(look: StatusConnection, entity: Entity) -> Answer:
    mine = {"pipeline": entity.id}
    stops = look.rows(
        f"{_STOP} WHERE entity_type = 'everything'"
        " OR (entity_type = 'pipeline' AND entity_id = :pipeline)",
        **mine,
    )
    runs = look.rows(f"{_RUN} WHERE pipeline_id = :pipeline {_NEWEST}", **mine)
    own = look.rows(
        f"{_RUN} WHERE pipeline_id = :pipeline {_REGULAR.format(of='runs')} {_NEWEST}",
        **mine,
        **SPECIAL_RUNS,
    )
    tries: Rows = []
    warnings: Rows = []
    if own:
        warnings = look.rows(_WARNING, run=own[0]["run_id"])
        tries = look.rows(
            f"{_STAGE_RUN} WHERE run_id = :run AND status NOT IN ('succeeded', 'skipped')"
            " ORDER BY stage_order DESC",
            run=own[0]["run_id"],
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
        *map(of_warning, warnings),
        *map(of_request, waiting),
        *map(of_event, events),
    ]
    state, because = _stage_state(stops, waiting, own, [of_run(row) for row in own])
    if state == "running":
        because = _throttled(tries) or because
    return answer(str(entity), state, because or _never_ran(look, entity.id), reasons)


def _throttled(tries: Rows) -> str | None:
    """The sentence of a stage run that waits for tokens of a throttle."""
    return next((of_stage_run(row).says for row in tries if is_throttled(row)), None)


def _stage(look: StatusConnection, entity: Entity) -> Answer:
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
        f"{_STAGE_RUN} WHERE pipeline_id = :pipeline AND stage_order = :place"
        f" {_REGULAR.format(of='stage_runs')} {_NEWEST}",
        **mine,
        **SPECIAL_RUNS,
    )
    events = look.rows(
        f"{_EVENT} AND pipeline_id = :pipeline AND stage_order = :place"
        " ORDER BY event_id DESC LIMIT 10",
        **mine,
    )
    waiting = _waiting(look, row["pipeline_id"])
    attempts = [of_stage_run(each) for each in tries]
    warnings: Rows = []
    if tries:
        newest = {"run": tries[0]["run_id"], "place": row["stage_order"]}
        warnings = look.rows(f"{_WARNING} AND s.stage_order = :place", **newest)
    reasons = [
        *map(of_stop, stops),
        *attempts,
        *map(of_warning, warnings),
        *map(of_request, waiting),
        *map(of_event, events),
    ]
    state, because = _stage_state(stops, waiting, tries, attempts)
    return answer(str(entity), state, because or _never_ran(look, row["pipeline_id"]), reasons)


def _dataset(look: StatusConnection, entity: Entity) -> Answer:
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
        reasons = [reason for found in answers for reason in found.reasons]
        because = f"{answers[0].subject} writes it. {answers[0].because}"
        stopped = [*map(of_stop, stops), *reasons]
        return answer(str(entity), answers[0].state, because, stopped)
    if stops:
        stop_reasons = [of_stop(row) for row in stops]
        return answer(str(entity), "stopped", stop_reasons[0].says, stop_reasons)
    readers = look.rows(f"{_STAGE} WHERE source_id = :id", id=entity.id)
    read_by = ", ".join(f"stage:{row['pipeline_id']}-{row['stage_order']}" for row in readers)
    because = f"No stage writes it; {f'it is read by {read_by}' if read_by else 'none reads it'}."
    return answer(str(entity), "not written", because, ())


def _run(look: StatusConnection, entity: Entity) -> Answer:
    run = look.rows(f"{_RUN} WHERE run_id = :id", id=entity.id)[0]
    tries = look.rows(f"{_STAGE_RUN} WHERE run_id = :id ORDER BY stage_order", id=entity.id)
    requested = look.rows(f"{_REQUEST} WHERE request_id = :id", id=run["request_id"])
    events = look.rows(f"{_EVENT} AND run_id = :id ORDER BY event_id DESC LIMIT 20", id=entity.id)
    reason = of_run(run)
    reasons = [
        reason,
        *map(of_stage_run, tries),
        *map(of_warning, look.rows(_WARNING, run=entity.id)),
        *map(of_request, requested),
        *map(of_event, events),
    ]
    because = _throttled(tries) or reason.says
    return answer(str(entity), run["status"], because, reasons)


def _request(look: StatusConnection, entity: Entity) -> Answer:
    request = look.rows(f"{_REQUEST} WHERE request_id = :id", id=entity.id)[0]
    runs = look.rows(f"{_RUN} WHERE request_id = :id {_NEWEST}", id=entity.id)
    events = look.rows(
        f"{_EVENT} AND request_id = :id ORDER BY event_id DESC LIMIT 20", id=entity.id
    )
    reason = of_request(request)
    reasons = [reason, *map(of_run, runs), *map(of_event, events)]
    return answer(str(entity), request["status"], reason.says, reasons)


def _stage_state(
    stops: Rows, waiting: Rows, tries: Rows, attempts: Sequence[Reason]
) -> tuple[str, str | None]:
    """The state and its reason: a stop or a wait now comes before the last run's result."""
    running = [reason for row, reason in zip(tries, attempts, strict=True) if not _is_over(row)]
    if stops:
        return "stopping" if running else "stopped", of_stop(stops[0]).says
    if running:
        return "running", running[0].says
    if waiting:
        return "waiting", of_request(waiting[0]).says
    if tries:
        return tries[0]["status"], attempts[0].says
    return "never ran", None


def _is_over(row: dict[str, Any]) -> bool:
    return row["status"] not in ("running", "waiting")


def _waiting(look: StatusConnection, pipeline: str) -> Rows:
    # `pipelines` is a JSON list, so it is filtered here; few requests wait at any time.
    waiting = look.rows(f"{_REQUEST} WHERE status = 'waiting' ORDER BY asked_at DESC")
    return [row for row in waiting if pipeline in (row["pipelines"] or ())]


def _never_ran(look: StatusConnection, pipeline: str) -> str:
    row = look.row("SELECT schedule FROM pipelines WHERE pipeline_id = :id", id=pipeline)
    schedule = row["schedule"] if row else None
    if schedule:
        return f"It never ran: its schedule is '{schedule}', and it has not come up yet."
    return "It never ran: nobody asked for it, and it has no schedule."
