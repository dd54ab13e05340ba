"""Why a stage runs or does not, and what it reads: one sentence for each reason."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

#: `cli/progress.py` looks for this beginning of a sentence.
CHANGED = "its definition changed since it was last published"


class ReasonCode(StrEnum):
    """Every reason of an input selection."""

    NEW_FILES = "new_files"
    REWRITTEN_FILES = "rewritten_files"
    DEDUPLICATED_FILES = "deduplicated_files"
    NEVER_READ = "never_read"
    NEW_SNAPSHOTS = "new_snapshots"
    INPUT_RESTORED = "input_restored"
    SNAPSHOT_EXPIRED = "snapshot_expired"
    WAREHOUSE_TABLE = "warehouse_table"
    VOLATILE_SQL = "volatile_sql"
    DEFINITION_CHANGED = "definition_changed"
    TARGET_LOST = "target_lost"
    UPSTREAM = "upstream"
    FULL_REFRESH = "full_refresh"
    BACKFILL = "backfill"
    PAST_STATE = "past_state"
    REPLAY = "replay"
    # The stage does not run, and what its inputs have instead of anything new.
    NOTHING_NEW = "nothing_new"
    NO_FILE = "no_file"
    NO_NEW_FILE = "no_new_file"
    NO_ROWS = "no_rows"
    NO_NEW_SNAPSHOT = "no_new_snapshot"
    COMPACTED = "compacted"
    # Notes beside the reason.
    OLD_ROWS = "old_rows"
    RENUMBERED = "renumbered"
    REFUSED = "refused"
    DIFFERS_FROM_PLAN = "differs_from_plan"


_SENTENCES = {
    ReasonCode.NEW_FILES: "{dataset}: {files} ({megabytes:,.2f} MB)",
    ReasonCode.REWRITTEN_FILES: "{dataset}: {files} rewritten since loaded",
    ReasonCode.DEDUPLICATED_FILES: (
        "{dataset}: {files} read again, whose rows were compared with those of a rewritten file"
    ),
    ReasonCode.NEVER_READ: "{dataset}: never read; its newest snapshot is {until}",
    ReasonCode.NEW_SNAPSHOTS: "{dataset}: snapshots after {since} up to {until}",
    ReasonCode.INPUT_RESTORED: (
        "{dataset}: restored or rebuilt, so everything is read again: "
        "snapshot {since} is no part of it any more"
    ),
    ReasonCode.SNAPSHOT_EXPIRED: (
        "{dataset}: snapshot {since}, up to which it was read, has expired, "
        "so everything is read again"
    ),
    ReasonCode.WAREHOUSE_TABLE: (
        "{dataset}: a warehouse table, which is read whenever the stage runs"
    ),
    ReasonCode.VOLATILE_SQL: "its SQL asks for {functions}, so it always runs",
    ReasonCode.DEFINITION_CHANGED: CHANGED,
    ReasonCode.TARGET_LOST: "all of it is written again: {problem}",
    ReasonCode.UPSTREAM: "after {stages}, if that publishes anything new",
    ReasonCode.FULL_REFRESH: "a full refresh was asked for",
    ReasonCode.BACKFILL: "a backfill {window}",
    ReasonCode.PAST_STATE: "restored to what it was after {stage_run_id}",
    ReasonCode.REPLAY: "rows of its quarantine are sent through it again",
    ReasonCode.NOTHING_NEW: "nothing new of its inputs",
    ReasonCode.NO_FILE: "{dataset}: no files there",
    ReasonCode.NO_NEW_FILE: "{dataset}: no new files of {listed:,}",
    ReasonCode.NO_ROWS: "{dataset}: the table has no rows yet",
    ReasonCode.NO_NEW_SNAPSHOT: "{dataset}: no new snapshot",
    ReasonCode.COMPACTED: "{dataset}: no new rows: its files were only compacted",
    ReasonCode.OLD_ROWS: (
        f"{CHANGED}: only `goldsmith run --full-refresh` brings older rows in line with it"
    ),
    ReasonCode.RENUMBERED: "it goes on where stage {stage} was",
    ReasonCode.REFUSED: "a run refuses it: {error}",
    ReasonCode.DIFFERS_FROM_PLAN: "this changed since the plan, which had: {plan}",
}


class ReadReason(NamedTuple):
    """One reason of an input selection, as a code for programs and a sentence for people."""

    code: ReasonCode
    sentence: str


def reason(code: ReasonCode, **facts: object) -> ReadReason:
    """A reason with the names and numbers of this stage."""
    return ReadReason(code, _SENTENCES[code].format(**facts))
