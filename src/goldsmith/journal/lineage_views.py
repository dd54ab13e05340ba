"""Views of lineage: every path to a dataset in order of preference."""

from __future__ import annotations

from goldsmith.journal.view import View

V_RECOVERY_PATHS = View(
    name="v_recovery_paths",
    purpose="One row for each path to a dataset: declared paths, then computed ones.",
    columns={
        "dataset_id": "The dataset wanted.",
        "preference": "1, 2, 3 … in order of preference.",
        "origin": "written (dataset_recovery_paths) or computed (computed_paths).",
        "path_order": "The order in the table it comes from.",
        "path_sequence": "Comma list of datasets from the origin to the one wanted.",
        "cost": "What the path costs.",
        "latency_sec": "How long its slowest chain of steps takes, if known.",
        "can_run": "Whether stages run every step of it; empty: a person wrote it.",
        "computed_at": "When it was computed.",
        "revision": "The catalog revision it was computed from.",
    },
    select="""
SELECT w.dataset_id,
  row_number() OVER (PARTITION BY w.dataset_id ORDER BY w.origin DESC, w.path_order) AS preference,
  w.origin, w.path_order, w.path_sequence, w.cost, w.latency_sec, w.can_run, w.computed_at,
  w.revision
FROM (
  SELECT dataset_id, 'written' AS origin, path_order, path_sequence, cost,
    CAST(NULL AS double precision) AS latency_sec, CAST(NULL AS boolean) AS can_run,
    computed_at, revision
  FROM dataset_recovery_paths
  UNION ALL
  SELECT c.dataset_id, 'computed' AS origin, c.path_order, c.path_sequence, c.cost,
    c.latency_sec, c.can_run, c.computed_at, c.revision
  FROM computed_paths c
  WHERE NOT EXISTS (
    SELECT 1 FROM dataset_recovery_paths d WHERE d.dataset_id = c.dataset_id
      AND replace(d.path_sequence, ' ', '') = c.path_sequence)
) w
""",
)

OF_LINEAGE_VIEWS: tuple[View, ...] = (V_RECOVERY_PATHS,)
