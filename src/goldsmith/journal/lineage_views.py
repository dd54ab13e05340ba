"""The view of the ways to obtain each dataset, written by people or computed."""

from __future__ import annotations

from goldsmith.journal.view import View

V_RECOVERY_PATHS = View(
    name="v_recovery_paths",
    purpose="Every known way to obtain a dataset, in order of preference: those of people first.",
    columns={
        "dataset_id": "The dataset wanted.",
        "preference": "1 for the way that is tried first, then 2, 3 …",
        "written_by": "`people`: a row of dataset_recovery_paths; `computed`: found by search.",
        "path_order": "Its order among the rows of the same table.",
        "path_sequence": "Comma list of datasets from the origin to the one wanted.",
        "cost": "What the path costs.",
    },
    select="""
SELECT dataset_id,
  row_number() OVER (PARTITION BY dataset_id ORDER BY rank, path_order) AS preference,
  CASE rank WHEN 0 THEN 'people' ELSE 'computed' END AS written_by,
  path_order, path_sequence, cost
FROM (
  SELECT dataset_id, path_order, path_sequence, cost, 0 AS rank FROM dataset_recovery_paths
  UNION ALL
  SELECT c.dataset_id, c.path_order, c.path_sequence, c.cost, 1 AS rank
  FROM computed_recovery_paths c
  WHERE NOT EXISTS (
    SELECT 1 FROM dataset_recovery_paths d
    WHERE d.dataset_id = c.dataset_id AND replace(d.path_sequence, ' ', '') = c.path_sequence)
) ways
""",
)

OF_LINEAGE_VIEWS: tuple[View, ...] = (V_RECOVERY_PATHS,)
