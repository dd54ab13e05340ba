DROP VIEW v_pipelines;

DROP VIEW v_status;

CREATE VIEW v_pipelines AS
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
      WHERE q.status = 'waiting' AND EXISTS (SELECT 1 FROM json_each(q.pipelines) WHERE value = p.pipeline_id)
      ORDER BY q.asked_at LIMIT 1) AS waiting_because,
    l.run_id AS last_run_id, l.status AS last_status,
    l.started_at AS last_started_at, l.ended_at AS last_ended_at,
    l.error_code AS last_error_code, l.error_message AS last_error_message,
    (SELECT x.ended_at FROM runs x
      WHERE x.pipeline_id = p.pipeline_id AND x.status = 'succeeded'
        AND NOT EXISTS (SELECT 1 FROM requests o WHERE o.request_id = x.request_id
        AND (CAST(o.options AS TEXT) LIKE '%"replay":%' OR CAST(o.options AS TEXT) LIKE '%"limit":%'))
      ORDER BY x.started_at DESC LIMIT 1) AS last_success_at
  FROM pipelines p
  LEFT JOIN v_stops e ON e.entity_type = 'everything'
  LEFT JOIN v_stops f ON f.set_in = 'control_flags'
    AND f.entity_type = 'pipeline' AND f.entity_id = p.pipeline_id
  LEFT JOIN v_stops r ON r.set_in = 'pipelines' AND r.entity_id = p.pipeline_id
  LEFT JOIN runs l ON l.run_id = (
    SELECT x.run_id FROM runs x WHERE x.pipeline_id = p.pipeline_id
      AND NOT EXISTS (SELECT 1 FROM requests o WHERE o.request_id = x.request_id
        AND (CAST(o.options AS TEXT) LIKE '%"replay":%' OR CAST(o.options AS TEXT) LIKE '%"limit":%'))
    ORDER BY x.started_at DESC, x.run_id DESC LIMIT 1)
) n;

CREATE VIEW v_status AS
SELECT 'running' AS part, 'pipeline:' || r.pipeline_id AS subject, r.started_at AS since,
  (SELECT coalesce(s.stage_name, 'stage ' || s.stage_order) || coalesce(': ' || s.step, '')
    FROM stage_runs s WHERE s.run_id = r.run_id AND s.status = 'running'
    ORDER BY s.started_at DESC LIMIT 1) AS because,
  r.asked_by AS who, NULL AS until, r.run_id AS id, r.worker
FROM runs r WHERE r.status = 'running'
UNION ALL
SELECT 'waiting', coalesce((SELECT group_concat(value, ', ') FROM json_each(q.selection)), (SELECT group_concat(value, ', ') FROM json_each(q.pipelines)), 'everything'), q.asked_at,
  q.because, q.asked_by, q.not_before, q.request_id, NULL
FROM requests q WHERE q.status = 'waiting'
UNION ALL
SELECT 'failed', 'pipeline:' || r.pipeline_id, r.ended_at,
  coalesce(r.error_code || coalesce(': ' || r.error_message, ''), r.because, r.status),
  r.asked_by, NULL, r.run_id, r.worker
FROM runs r
WHERE r.status IN ('failed', 'interrupted')
  AND NOT EXISTS (SELECT 1 FROM requests o WHERE o.request_id = r.request_id
        AND (CAST(o.options AS TEXT) LIKE '%"replay":%' OR CAST(o.options AS TEXT) LIKE '%"limit":%'))
  AND NOT EXISTS (
    SELECT 1 FROM runs x WHERE x.pipeline_id = r.pipeline_id AND x.started_at > r.started_at
      AND x.status IN ('succeeded', 'skipped', 'failed', 'interrupted')
      AND NOT EXISTS (SELECT 1 FROM requests o WHERE o.request_id = x.request_id
        AND (CAST(o.options AS TEXT) LIKE '%"replay":%' OR CAST(o.options AS TEXT) LIKE '%"limit":%')))
UNION ALL
SELECT 'stopped', CASE WHEN t.entity_type = 'everything' THEN 'everything'
    ELSE t.entity_type || ':' || t.entity_id END,
  t.since, t.because, t.who, t.until, t.set_in, NULL
FROM v_stops t;

