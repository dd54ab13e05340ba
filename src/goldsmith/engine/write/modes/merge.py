"""Update the row of each known key and insert new keys; an older row never replaces a newer."""

from __future__ import annotations

from goldsmith.engine.names import name
from goldsmith.engine.shape.latest_per_key import latest_per_key
from goldsmith.engine.shape.watermarks import not_older
from goldsmith.engine.write.modes.writer import ModeWrite

_VIEW = "goldsmith_merged"


def merge(writing: ModeWrite) -> None:
    rows = latest_per_key(writing.rows, keys=writing.keys, newest_by=writing.watermark)
    rows.createOrReplaceTempView(_VIEW)
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in writing.keys)
    newer = ""
    if writing.watermark is not None:
        mark = name(writing.watermark)
        # A NULL watermark is older than any other value.
        newer = f" AND (t.{mark} IS NULL OR {not_older(rows, writing.watermark)})"
    columns = [name(column) for column in rows.columns]
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    writing.table.merge(
        f"MERGE INTO {writing.table.branch_name(writing.branch)} t USING {_VIEW} s ON {same}"
        f" WHEN MATCHED{newer} THEN UPDATE SET {updates}"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})",
        writing.stage_run_id,
    )
