"""Views of the current state: changes, stops, each pipeline, the status screen."""

from __future__ import annotations

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.journal.status_query import SPECIAL_RUNS
from goldsmith.journal.view import View, docs


def _counts(run: str) -> str:
    """A run that counts for its pipeline: no replay of quarantined rows and no trial run."""
    special = " OR ".join(
        f"CAST(o.options AS TEXT) LIKE '{like}'" for like in SPECIAL_RUNS.values()
    )
    return (
        f"NOT EXISTS (SELECT 1 FROM requests o WHERE o.request_id = {run}.request_id"
        f"\n        AND ({special}))"
    )


V_CHANGES = View(
    name="v_changes",
    purpose="One row a change of a declared row: who, when, why.",
    columns={
        "change_id": "Rises with every change of a row.",
        "revision": "The catalog's revision the change belongs to.",
        "at": "When.",
        "actor": "Who; `direct` for plain SQL on SQLite.",
        "reason": "Why, if somebody gave a reason.",
        "table_name": "The table.",
        "row_key": "The row's key, as a JSON list.",
        "operation": "insert, update or delete.",
    },
    select="""
SELECT change_id, revision, at, actor, reason, table_name, row_key, operation FROM changes
""",
)


def _switched_off(table: str, key: str, column: str) -> str:
    """The newest change that set the column to false; later edits of other columns do not count."""
    return f"""(
  SELECT max(x.change_id) FROM changes x
  WHERE x.table_name = '{table}' AND x.row_key = KEY({key})
    AND SAYS_FALSE(x."after", {column})
    AND (x."before" IS NULL OR NOT SAYS_FALSE(x."before", {column})))"""


V_STOPS = View(
    name="v_stops",
    purpose="What is stopped at this moment, by which row, by whom, why and until when.",
    columns={
        "entity_type": "everything, pipeline, stage, source or target.",
        "entity_id": "Its id; a stage is `pipeline_id-stage_order`, everything is `*`.",
        "set_in": "The table whose row stops it: control_flags, pipelines or stages.",
        "since": "When it was switched off.",
        "who": "Who did it.",
        "because": "Why, if somebody gave a reason.",
        "until": "When the stop ends; empty: when somebody releases it.",
    },
    select=f"""
SELECT f.entity_type, f.entity_id, 'control_flags' AS set_in,
  coalesce(c.at, f.updated_at) AS since,
  coalesce(CASE WHEN c.actor <> 'direct' THEN c.actor END, f.updated_by, c.actor) AS who,
  coalesce(f.reason, c.reason) AS because,
  f.ends_at AS until
FROM control_flags f
LEFT JOIN changes c ON c.change_id = {
        _switched_off("control_flags", "f.entity_type, f.entity_id, f.flag_name", "flag_value")
    }
WHERE f.flag_name = 'enabled' AND NOT f.flag_value
  AND (f.entity_type <> 'everything' OR f.entity_id = '*')
  AND (f.starts_at IS NULL OR IS_PAST(f.starts_at))
  AND (f.ends_at IS NULL OR NOT IS_PAST(f.ends_at))
UNION ALL
SELECT 'pipeline', p.pipeline_id, 'pipelines', c.at, c.actor, c.reason, NULL
FROM pipelines p
LEFT JOIN changes c ON c.change_id = {_switched_off("pipelines", "p.pipeline_id", "enabled")}
WHERE NOT p.enabled
UNION ALL
SELECT 'stage', s.pipeline_id || '-' || s.stage_order, 'stages', c.at, c.actor, c.reason, NULL
FROM stages s
LEFT JOIN changes c ON c.change_id = {
        _switched_off("stages", "s.pipeline_id, s.stage_order", "enabled")
    }
WHERE NOT s.enabled
""",
)

V_PIPELINES = View(
    name="v_pipelines",
    purpose="One row a pipeline: whether it may run, how its last run went, and the reason.",
    columns={
        **docs(
            Pipeline,
            *("pipeline_id", "description", "owner", "criticality", "impact", "schedule"),
        ),
        "sla_minutes": docs(Pipeline)["sla_minutes"],
        "enabled": "Not stopped by its row, its flag or the flag for everything.",
        "stopped_by": "Who stopped it.",
        "stopped_because": "Why.",
        "stopped_since": "Since when.",
        "stopped_until": "Until when; empty: until somebody releases it.",
        "running": "How many of its runs are under way.",
        "waiting_because": "Why a request for it waits.",
        "last_run_id": "Its newest run; replays and trial runs do not count.",
        "last_status": "The status of its newest run.",
        "last_started_at": "When its newest run began.",
        "last_ended_at": "When its newest run ended.",
        "last_error_code": "The error code of its newest run.",
        "last_error_message": "The error of its newest run in one sentence.",
        "last_success_at": "When a run of it last succeeded.",
        "reason": "Why it runs, waits, was stopped or failed, in one line.",
    },
    select=f"""
SELECT n.*,
  CASE
    WHEN NOT n.enabled THEN
      CASE WHEN n.running > 0 THEN 'being stopped by ' ELSE 'stopped by ' END
      || coalesce(n.stopped_by, 'somebody') || coalesce(': ' || n.stopped_because, '')
    WHEN n.running > 0 THEN 'running'
    WHEN n.waiting_because IS NOT NULL THEN 'waiting: ' || n.waiting_because
    WHEN n.last_status IS NULL THEN 'never ran'
    WHEN n.last_error_code IS NOT NULL THEN
      n.last_status || ': ' || n.last_error_code || coalesce(': ' || n.last_error_message, '')
    ELSE n.last_status
  END AS reason
FROM (
  SELECT p.pipeline_id, p.description, p.owner, p.criticality, p.impact, p.schedule,
    p.sla_minutes,
    p.enabled AND e.set_in IS NULL AND f.set_in IS NULL AS enabled,
    CASE WHEN e.set_in IS NOT NULL THEN e.who
         WHEN f.set_in IS NOT NULL THEN f.who ELSE r.who END AS stopped_by,
    CASE WHEN e.set_in IS NOT NULL THEN e.because
         WHEN f.set_in IS NOT NULL THEN f.because ELSE r.because END AS stopped_because,
    CASE WHEN e.set_in IS NOT NULL THEN e.since
         WHEN f.set_in IS NOT NULL THEN f.since ELSE r.since END AS stopped_since,
    CASE WHEN e.set_in IS NOT NULL THEN e.until
         WHEN f.set_in IS NOT NULL THEN f.until END AS stopped_until,
    (SELECT count(*) FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'running') AS running,
    (SELECT coalesce(q.because, 'its turn has not come') FROM requests q
      WHERE q.status = 'waiting' AND HOLDS(q.pipelines, p.pipeline_id)
      ORDER BY q.asked_at LIMIT 1) AS waiting_because,
    l.run_id AS last_run_id, l.status AS last_status,
    l.started_at AS last_started_at, l.ended_at AS last_ended_at,
    l.error_code AS last_error_code, l.error_message AS last_error_message,
    (SELECT x.ended_at FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'succeeded'
        AND {_counts("x")}
      ORDER BY x.started_at DESC LIMIT 1) AS last_success_at
  FROM pipelines p
  LEFT JOIN v_stops e ON e.entity_type = 'everything'
  LEFT JOIN v_stops f ON f.set_in = 'control_flags'
    AND f.entity_type = 'pipeline' AND f.entity_id = p.pipeline_id
  LEFT JOIN v_stops r ON r.set_in = 'pipelines' AND r.entity_id = p.pipeline_id
  LEFT JOIN runs l ON l.run_id = (
    SELECT x.run_id FROM runs x WHERE x.pipeline_id = p.pipeline_id
      AND {_counts("x")}
    ORDER BY x.started_at DESC, x.run_id DESC LIMIT 1)
) n
""",
)

V_STATUS = View(
    name="v_status",
    purpose="What `goldsmith status` shows: what runs, waits, failed last and is stopped.",
    columns={
        "part": "running, waiting, failed or stopped.",
        "subject": "The pipeline, the request's selection, or what is stopped.",
        "since": "Since when.",
        "because": "The stage and step it is in, why it waits, the error, or why it was stopped.",
        "who": "Who asked for it, or who stopped it.",
        "until": "Not before then, or stopped until then.",
        "id": "The run, the request, or the table whose row stops it.",
        "worker": "The process that runs it.",
    },
    select=f"""
SELECT 'running' AS part, 'pipeline:' || r.pipeline_id AS subject, r.started_at AS since,
  (SELECT coalesce(s.stage_name, 'stage ' || s.stage_order) || coalesce(': ' || s.step, '')
    FROM stage_runs s WHERE s.run_id = r.run_id AND s.status = 'running'
    ORDER BY s.started_at DESC LIMIT 1) AS because,
  r.asked_by AS who, NULL AS until, r.run_id AS id, r.worker
FROM runs r WHERE r.status = 'running'
UNION ALL
SELECT 'waiting', coalesce(LISTED(q.selection), LISTED(q.pipelines), 'everything'), q.asked_at,
  q.because, q.asked_by, q.not_before, q.request_id, NULL
FROM requests q WHERE q.status = 'waiting'
UNION ALL
SELECT 'failed', 'pipeline:' || r.pipeline_id, r.ended_at,
  coalesce(r.error_code || coalesce(': ' || r.error_message, ''), r.because, r.status),
  r.asked_by, NULL, r.run_id, r.worker
FROM runs r
WHERE r.status IN ('failed', 'interrupted')
  AND {_counts("r")}
  AND NOT EXISTS (
    SELECT 1 FROM runs x WHERE x.pipeline_id = r.pipeline_id AND x.started_at > r.started_at
      AND x.status IN ('succeeded', 'skipped', 'failed', 'interrupted')
      AND {_counts("x")})
UNION ALL
SELECT 'stopped', CASE WHEN t.entity_type = 'everything' THEN 'everything'
    ELSE t.entity_type || ':' || t.entity_id END,
  t.since, t.because, t.who, t.until, t.set_in, NULL
FROM v_stops t
""",
)

OF_NOW = (V_CHANGES, V_STOPS, V_PIPELINES, V_STATUS)
