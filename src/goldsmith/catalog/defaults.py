"""The rows a fresh catalog has: marked as shipped, and as editable as any other."""

from __future__ import annotations

import json

import sqlalchemy as sa

from goldsmith.catalog.context import begin_change, end_change
from goldsmith.catalog.definitions import changes_table, storable, table_of
from goldsmith.catalog.profiles import Profile, ProfileSetting
from goldsmith.catalog.retries import HealingAction, HealingStep, RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet

_BALANCED = {
    "priority_weight_critical": 4,
    "priority_weight_normal": 2,
    "priority_weight_noncritical": 1,
    "max_concurrent_tasks": 8,
    "aging_minutes": 30,
    "preempt": 0,
    "spread_starts": 1,
    "peak_to_mean": 1.5,
}
_FOCUS = {
    "priority_weight_critical": 100,
    "priority_weight_normal": 1,
    "priority_weight_noncritical": 0,
    "max_concurrent_tasks": 8,
    "preempt": 1,
    "preempt_grace_sec": 10,
    "noncritical_floor": 0,
    "spread_starts": 0,
}

#: error code → remedies in order. The first stands in healing_actions, as in the seed's table.
_REMEDIES: dict[str, tuple[str, ...]] = {
    "SourceUnreachable": ("retry_later",),
    "SourceThrottled": ("slow_down", "retry_later"),
    "FileVanished": ("reread_files",),
    "FileTruncated": ("quarantine_files",),
    "RecordMalformed": ("quarantine_rows",),
    "SchemaMismatch": ("evolve_schema", "open_incident"),
    "DuplicateRows": ("deduplicate",),
    "CheckFailed": ("quarantine_rows", "open_incident"),
    "ExecutorOutOfMemory": ("smaller_batches", "more_partitions"),
    "DriverOutOfMemory": ("smaller_batches",),
    "PythonWorkerOutOfMemory": ("smaller_batches", "more_partitions"),
    "DiskFull": ("spill_less", "open_incident"),
    "ShuffleLost": ("retry_later", "more_partitions"),
    "CredentialsExpired": ("refresh_credentials",),
    "CommitConflict": ("plan_again",),
    "BranchBroken": ("rebuild_branch",),
    "SerializationConflict": ("serialise_on_target",),
    "LockTimeout": ("wait_for_lock",),
    "WarehouseBusy": ("wait_for_warehouse",),
    "WarehouseUnreachable": ("retry_later",),
    "StageTimeout": ("smaller_batches", "open_incident"),
    "WorkerLost": ("retry_later",),
}

_RULE_SETS = (
    ("not_empty", "There is at least one row.", [{"type": "row_count", "min": 1}]),
    ("row_count_gt0", "There is at least one row.", [{"type": "row_count", "min": 1}]),
    (
        "schema_match",
        "The columns are the ones there were.",
        [{"type": "schema_evolution", "allow_nullable_addition": False}],
    ),
)


def shipped() -> tuple[Row, ...]:
    """Every row a fresh catalog has."""
    rows: list[Row] = [
        Profile(
            profile_id="balanced",
            description="Low mean latency and cost, with a flat load on every source and target.",
            is_default=True,
        ),
        Profile(
            profile_id="focus",
            description="Critical pipelines get every slot and token they can use.",
            is_default=True,
        ),
        RetryPolicy(retry_id="std_retry", max_retries=3, backoff_sec=300, is_default=True),
    ]
    rows += [
        ProfileSetting(profile_id=profile, setting_key=name, setting_value=value, is_default=True)
        for profile, settings in (("balanced", _BALANCED), ("focus", _FOCUS))
        for name, value in settings.items()
    ]
    rows += [
        RuleSet(rule_set_id=name, description=says, check_def=tuple(checks), is_default=True)
        for name, says, checks in _RULE_SETS
    ]
    for code, remedies in _REMEDIES.items():
        rows.append(HealingAction(error_code=code, action_script=remedies[0], is_default=True))
        rows += [
            HealingStep(error_code=code, step_order=place, action_script=remedy, is_default=True)
            for place, remedy in enumerate(remedies[1:], start=2)
        ]
    return tuple(rows)


def insert_missing(connection: sa.Connection) -> None:
    """Insert shipped rows that were never there; one that was deleted stays deleted."""
    known = {
        (table, tuple(json.loads(key)))
        for table, key in connection.execute(
            sa.select(changes_table.c.table_name, changes_table.c.row_key).distinct()
        )
    }
    missing = [row for row in shipped() if (row.table.name, row.key) not in known]
    if not missing:
        return
    begin_change(connection, actor="goldsmith", reason="shipped default")
    for row in missing:
        connection.execute(sa.insert(table_of(type(row))), storable(row))
    end_change(connection)
