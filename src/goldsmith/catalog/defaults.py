"""The rows of a new catalog: marked as shipped, and as editable as any other row."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.context import begin_change, end_change
from goldsmith.catalog.definitions import changes_table, storable, table_of
from goldsmith.catalog.incidents import SeverityLevel
from goldsmith.catalog.profiles import Profile, ProfileSetting
from goldsmith.catalog.retries import HealingAction, HealingLimit, HealingStep, RetryPolicy
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

#: Error code → remedies in order. The first goes to healing_actions, the others to healing_steps.
_REMEDIES: dict[str, tuple[str, ...]] = {
    "SourceUnreachable": ("reroute", "retry_later"),
    "SourceThrottled": ("slow_down", "retry_later"),
    "FileVanished": ("reread_files",),
    "FileTruncated": ("retry_later", "quarantine_files"),
    "FileUnreadable": ("quarantine_files",),
    "FileDoesNotFit": ("quarantine_files",),
    "RecordMalformed": ("quarantine_rows", "quarantine_files"),
    "SchemaMismatch": ("evolve_schema", "open_incident"),
    "DuplicateRows": ("deduplicate", "open_incident"),
    "CheckFailed": ("quarantine_rows", "skip_optional", "open_incident"),
    "ExecutorOutOfMemory": ("smaller_batches", "more_partitions", "open_incident"),
    "DriverOutOfMemory": ("new_session", "smaller_batches", "open_incident"),
    "PythonWorkerOutOfMemory": ("smaller_batches", "more_partitions", "open_incident"),
    "PythonWorkerLost": ("retry_later", "more_partitions"),
    "ContainerKilled": ("more_partitions", "retry_later"),
    "BroadcastTooLarge": ("more_partitions", "open_incident"),
    "ResultTooLarge": ("smaller_batches", "open_incident"),
    "DiskFull": ("spill_less", "open_incident"),
    "ShuffleLost": ("retry_later", "more_partitions"),
    "ExecutorLost": ("retry_later",),
    "SparkLost": ("new_session",),
    "CredentialsExpired": ("refresh_credentials", "open_incident"),
    "CommitConflict": ("plan_again",),
    "BranchBroken": ("rebuild_branch",),
    "TableBroken": ("roll_back", "open_incident"),
    "SerializationConflict": ("serialise_on_target",),
    "Deadlock": ("serialise_on_target",),
    "LockTimeout": ("wait_for_lock",),
    "WarehouseBusy": ("wait_for_warehouse",),
    "TooManyConnections": ("wait_for_warehouse",),
    "WarehouseOutOfMemory": ("wait_for_warehouse", "smaller_batches"),
    "WarehouseReadOnly": ("wait_for_warehouse",),
    "WarehouseUnreachable": ("retry_later",),
    "StageTimeout": ("smaller_batches", "open_incident"),
    "WorkerLost": ("retry_later",),
    "Unclassified": ("skip_optional", "open_incident"),
}
_LIMITS = {
    "uses_per_day": 50,
    "breaker_failures": 3,
    "breaker_minutes": 60,
    "pipeline_failures_per_day": 30,
    "floor_least_uses": 5,
    "worker_deaths": 3,
}
_SEVERITIES = (
    ("P1", 24, "revenue", "Data older than 24 hours, revenue-impacting."),
    ("P2", 4, "customer", "Data older than 4 hours, customer-facing dashboards affected."),
    ("P3", 1, "internal", "Data older than 1 hour, internal reports delayed."),
    ("P4", 0, "none", "Non-critical pipeline, no business impact."),
)

_RULE_SETS = (
    ("not_empty", "There is at least one row.", [{"type": "row_count", "min": 1}]),
    ("row_count_gt0", "There is at least one row.", [{"type": "row_count", "min": 1}]),
    (
        "schema_match",
        "The columns are the ones there were.",
        [{"type": "schema_evolution", "allow_nullable_addition": False}],
    ),
)


#: Shipped rows of these remedies apply only to stages that name them in `options.remedies`.
_NEED_LEAVE = frozenset(
    ("deduplicate", "evolve_schema", "quarantine_files", "quarantine_rows", "roll_back")
)


def remedies_of(error_code: str) -> tuple[str, ...]:
    """The shipped remedies of an error code, in order."""
    return _REMEDIES.get(error_code, ())


def shipped() -> tuple[Row, ...]:
    """Every row of a new catalog."""
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
    rows += [
        HealingLimit(limit_name=name, limit_value=value, is_default=True)
        for name, value in _LIMITS.items()
    ]
    rows += [
        SeverityLevel(
            severity=name,
            older_than_hours=hours,
            least_impact=impact,
            description=says,
            is_default=True,
        )
        for name, hours, impact, says in _SEVERITIES
    ]
    for code, remedies in _REMEDIES.items():
        rows.append(
            HealingAction(
                error_code=code,
                action_script=remedies[0],
                settings=_settings(remedies[0]),
                is_default=True,
            )
        )
        rows += [
            HealingStep(
                error_code=code,
                step_order=position,
                action_script=remedy,
                settings=_settings(remedy),
                is_default=True,
            )
            for position, remedy in enumerate(remedies[1:], start=2)
        ]
    return tuple(rows)


def _settings(remedy: str) -> dict[str, Any]:
    return {"only_where_allowed": True} if remedy in _NEED_LEAVE else {}


def insert_missing(connection: sa.Connection) -> None:
    """Insert shipped rows that were never inserted; a deleted row stays deleted."""
    known = {
        (table, tuple(json.loads(key)))
        for table, key in connection.execute(
            sa.select(changes_table.c.table_name, changes_table.c.row_key).distinct()
        )
    }
    there = set(sa.inspect(connection).get_table_names())
    missing = [
        row
        for row in shipped()
        if row.table.name in there and (row.table.name, row.key) not in known
    ]
    if not missing:
        return
    begin_change(connection, actor="goldsmith", reason="shipped default")
    for row in missing:
        connection.execute(sa.insert(table_of(type(row))), storable(row))
    end_change(connection)
