"""Row counts of a stage run that add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from goldsmith.catalog.write_modes import WRITE_MODES
from goldsmith.errors import count


@dataclass(frozen=True, kw_only=True, slots=True)
class RowCounts:
    """produced = published + quarantined + dropped + left_out."""

    #: The rows of the stage's SQL, or of its input if it has none.
    produced: int
    published: int
    quarantined: int
    dropped: int
    #: A merge leaves out rows older than the table's, and all but the newest row of a key.
    left_out: int
    #: Rows a stage wrote that keeps versions: it also rewrites those that the new ones close.
    versions: int | None = None


def row_counts(stage_run: Any) -> RowCounts | None:
    """The row counts of a published stage run; None if the produced rows were not counted."""
    if stage_run.rows_read is None or stage_run.rows_written is None:
        return None
    quarantined, dropped = stage_run.rows_quarantined or 0, stage_run.rows_dropped or 0
    good = stage_run.rows_read - quarantined - dropped
    is_history = _keeps_versions(str((stage_run.facts or {}).get("write_mode")))
    published = good if is_history else stage_run.rows_written
    return RowCounts(
        produced=stage_run.rows_read,
        published=published,
        quarantined=quarantined,
        dropped=dropped,
        left_out=good - published,
        versions=stage_run.rows_written if is_history else None,
    )


def _keeps_versions(write_mode: str) -> bool:
    # The stage run may be older than the removal of a plugged-in mode.
    return write_mode in WRITE_MODES and WRITE_MODES.get(write_mode).keeps_versions


def counts_text(stage_run: Any, *, by_sql: bool) -> str:
    """The row counts in one line."""
    counts = row_counts(stage_run)
    if counts is None:
        # Found published after its process died: only the target's own counts are known.
        kept = stage_run.rows_quarantined
        apart = f", {kept:,} quarantined" if kept else ""
        return f"{count(stage_run.rows_written or 0, 'row')} published{apart}"
    parts = [f"{count(counts.produced, 'row')} {'produced' if by_sql else 'read'}"]
    for number, what in (
        (counts.quarantined, "quarantined"),
        (counts.dropped, "dropped"),
        (counts.left_out, "left out (older or repeated)"),
    ):
        if number:
            parts.append(f"{number:,} {what}")
    parts.append(f"{counts.published:,} published")
    if counts.versions is not None:
        parts[-1] += f" ({count(counts.versions, 'version')} written)"
    return ", ".join(parts)
