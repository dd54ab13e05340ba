"""Replace every row, or with `options.overwrite: partitions` the partitions the rows fall into."""

from __future__ import annotations

from goldsmith.engine.write.modes.writer import ModeWrite


def overwrite(writing: ModeWrite) -> None:
    if writing.options.get("overwrite") == "partitions":
        writing.table.overwrite_partitions(writing.rows, writing.branch, writing.stage_run_id)
    else:
        writing.table.overwrite(writing.rows, writing.branch, writing.stage_run_id)
