"""Replace the row of each key, add the keys that are new; an older row never replaces a newer."""

from __future__ import annotations

from goldsmith.engine.names import name
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.writers.writer import Writing

_VIEW = "goldsmith_merged"


def merge(writing: Writing) -> None:
    rows = latest_per_key(writing.rows, keys=writing.keys, newest_by=writing.watermark)
    rows.createOrReplaceTempView(_VIEW)
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in writing.keys)
    newer = ""
    if writing.watermark is not None:
        mark = name(writing.watermark)
        # A time that is not known is older than any that is.
        newer = f" AND (t.{mark} IS NULL OR s.{mark} >= t.{mark})"
    columns = [name(column) for column in rows.columns]
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    writing.table.merge(
        f"MERGE INTO {writing.table.branch_name(writing.branch)} t USING {_VIEW} s ON {same}"
        f" WHEN MATCHED{newer} THEN UPDATE SET {updates}"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})",
        writing.stage_run_id,
    )
