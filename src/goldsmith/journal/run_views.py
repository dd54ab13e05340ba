"""Views of runs, stage runs, checks, requests and leases."""

from __future__ import annotations

from goldsmith.catalog.rows import Row
from goldsmith.journal.tables import Lease, Request, Run, StageRun, Verdict
from goldsmith.journal.view import View, docs


def _all(row: type[Row], alias: str) -> str:
    return ", ".join(f"{alias}.{name}" for name in docs(row))


V_RUNS = View(
    name="v_runs",
    purpose="One row a run: its status, duration, number of stage runs, and rows.",
    columns={
        **docs(Run),
        "duration_sec": "How long it took, or has taken so far.",
        "stages": "Its stage runs.",
        "stages_succeeded": "Stage runs that published.",
        "stages_skipped": "Stage runs with nothing to do.",
        "stages_failed": "Stage runs that failed or were interrupted.",
        "stages_stopped": "Stage runs that were stopped.",
        "stages_blocked": "Stage runs that could not begin.",
        "stages_running": "Stage runs that have not ended.",
        "rows_read": "Rows read by all its stage runs.",
        "rows_written": "Rows published by all its stage runs.",
        "rows_quarantined": "Rows quarantined by all its stage runs.",
        "rows_dropped": "Rows dropped by checks in all its stage runs.",
        "bytes_read": "Bytes read by all its stage runs.",
        "bytes_written": "Bytes written by all its stage runs.",
    },
    select=f"""
SELECT {_all(Run, "r")},
  LASTED(r.started_at, r.ended_at) AS duration_sec,
  coalesce(s.stages, 0) AS stages,
  coalesce(s.succeeded, 0) AS stages_succeeded,
  coalesce(s.skipped, 0) AS stages_skipped,
  coalesce(s.failed, 0) AS stages_failed,
  coalesce(s.stopped, 0) AS stages_stopped,
  coalesce(s.blocked, 0) AS stages_blocked,
  coalesce(s.running, 0) AS stages_running,
  s.rows_read, s.rows_written, s.rows_quarantined, s.rows_dropped, s.bytes_read, s.bytes_written
FROM runs r
LEFT JOIN (
  SELECT run_id,
    count(*) AS stages,
    sum(CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END) AS succeeded,
    sum(CASE WHEN status = 'skipped' THEN 1 ELSE 0 END) AS skipped,
    sum(CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END) AS failed,
    sum(CASE WHEN status = 'stopped' THEN 1 ELSE 0 END) AS stopped,
    sum(CASE WHEN status = 'blocked' THEN 1 ELSE 0 END) AS blocked,
    sum(CASE WHEN status IN ('running', 'waiting') THEN 1 ELSE 0 END) AS running,
    CAST(sum(rows_read) AS BIGINT) AS rows_read,
    CAST(sum(rows_written) AS BIGINT) AS rows_written,
    CAST(sum(rows_quarantined) AS BIGINT) AS rows_quarantined,
    CAST(sum(rows_dropped) AS BIGINT) AS rows_dropped,
    CAST(sum(bytes_read) AS BIGINT) AS bytes_read,
    CAST(sum(bytes_written) AS BIGINT) AS bytes_written
  FROM stage_runs GROUP BY run_id
) s ON s.run_id = r.run_id
""",
)

V_STAGE_RUNS = View(
    name="v_stage_runs",
    purpose="One row an attempt at a stage: its status, duration, what it read and wrote.",
    columns={
        **docs(StageRun),
        "duration_sec": "How long it took, or has taken so far.",
        "layer": "The stage's layer, if its row has one.",
        "source_id": "The dataset the stage reads.",
        "owner": "Who owns the pipeline.",
        "criticality": "How much the pipeline matters.",
        "environment": "The environment it ran in.",
        "asked_by": "Who asked for the run.",
    },
    select=f"""
SELECT {_all(StageRun, "s")},
  LASTED(s.started_at, s.ended_at) AS duration_sec,
  d.layer, d.source_id, p.owner, p.criticality, r.environment, r.asked_by
FROM stage_runs s
LEFT JOIN runs r ON r.run_id = s.run_id
LEFT JOIN pipelines p ON p.pipeline_id = s.pipeline_id
LEFT JOIN stages d ON d.pipeline_id = s.pipeline_id AND d.stage_order = s.stage_order
""",
)

V_CHECKS = View(
    name="v_checks",
    purpose="One row a verdict: the result of one check of one dataset, in one stage run.",
    columns={
        **docs(Verdict),
        "stage_name": "The stage's name.",
        "stage_status": "The status of the stage run.",
        "owner": "Who owns the pipeline.",
    },
    select=f"""
SELECT {_all(Verdict, "v")}, s.stage_name, s.status AS stage_status, p.owner
FROM verdicts v
LEFT JOIN stage_runs s ON s.stage_run_id = v.stage_run_id
LEFT JOIN pipelines p ON p.pipeline_id = v.pipeline_id
""",
)

V_REQUESTS = View(
    name="v_requests",
    purpose="One row a request: what was asked for, its status and the reason.",
    columns={
        **docs(Request),
        "is_due": "It waits, and its `not_before` has passed.",
        "age_sec": "How long ago it was asked for, or how long it took.",
    },
    select=f"""
SELECT {_all(Request, "q")},
  q.status = 'waiting' AND (q.not_before IS NULL OR IS_PAST(q.not_before)) AS is_due,
  LASTED(q.asked_at, q.ended_at) AS age_sec
FROM requests q
""",
)

V_LEASES = View(
    name="v_leases",
    purpose="One row a target location that was ever written: who may write it, and until when.",
    columns={
        **docs(Lease),
        "held": "Somebody holds it and it has not expired.",
        "left_sec": "Seconds until it expires without a heartbeat.",
        "pipeline_id": "The pipeline it is held for.",
        "stage_order": "The stage it is held for.",
    },
    select=f"""
SELECT {_all(Lease, "l")},
  l.owner IS NOT NULL AND NOT IS_PAST(l.expires_at) AS held,
  SECONDS_TO(l.expires_at) AS left_sec,
  coalesce(s.pipeline_id, r.pipeline_id) AS pipeline_id,
  s.stage_order
FROM leases l
LEFT JOIN runs r ON r.run_id = l.run_id
LEFT JOIN stage_runs s ON s.stage_run_id = l.stage_run_id
""",
)

OF_RUNS = (V_RUNS, V_STAGE_RUNS, V_CHECKS, V_REQUESTS, V_LEASES)
