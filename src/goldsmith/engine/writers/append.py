"""Add the rows to the ones there are."""

from __future__ import annotations

from goldsmith.engine.writers.writer import Writing


def append(writing: Writing) -> None:
    writing.table.append(writing.rows, writing.branch, writing.stage_run_id)
