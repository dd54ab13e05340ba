"""Add the rows to the existing rows."""

from __future__ import annotations

from goldsmith.engine.write.modes.writer import ModeWrite


def append(writing: ModeWrite) -> None:
    writing.table.append(writing.rows, writing.branch, writing.stage_run_id)
