"""What a stage run reads, by what was asked for: what is new, a window, all, a past state."""

from __future__ import annotations

from goldsmith.engine import as_of, backfill
from goldsmith.engine.inputs import Chosen, choose
from goldsmith.engine.work import Asked, Tools, Work
from goldsmith.planning.definition import CHANGED, reruns, says_changed


def choose_for(work: Work, tools: Tools) -> Chosen:
    """Which files and snapshots a stage run reads, and why."""
    asked = work.asked
    if asked.as_of is not None:
        return as_of.choose(work, tools, asked.as_of)
    if asked.window is not None:
        return backfill.choose(work, tools, asked.window)
    if asked.full_refresh:
        return choose(work, tools, all_because="a full refresh was asked for")
    if reruns(work.near) and tools.increments.definition_changed(work.near):
        return choose(work, tools, all_because=CHANGED)
    return choose(work, tools)


def note_on(work: Work, tools: Tools) -> str | None:
    """What whoever asked should know of a stage that does not read everything again."""
    if work.asked != Asked() or not tools.increments.definition_changed(work.near):
        return None
    return says_changed(work.near)
