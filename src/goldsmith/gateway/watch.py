"""Run the detectors on pushed tables; open incidents for anomalies, close those that are over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from goldsmith.gateway import detectors
from goldsmith.gateway.detectors import FreshnessVerdict, VolumeVerdict
from goldsmith.gateway.table_rows import ROWS, UPDATE
from goldsmith.journal import incidents, row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import gateway_measurements, pushed_tables
from goldsmith.journal.gateway_tables import PushedTable
from goldsmith.journal.healing_tables import Incident
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal

_LEAST_TO_LEARN = 5


def judge(
    connection: sa.Connection, table: PushedTable, at: datetime
) -> tuple[FreshnessVerdict, VolumeVerdict]:
    """The results of both detectors for a table now."""
    now = at.timestamp()
    columns = gateway_measurements.c
    query = sa.select(columns.metric, columns.epoch, columns.value).where(
        columns.resource_uuid == table.resource_uuid,
        columns.full_table_id == table.full_table_id,
        columns.metric.in_((ROWS, UPDATE)),
        columns.epoch >= int(now - 42 * detectors.DAY),
    )
    updates: list[float] = []
    samples: list[tuple[float, float]] = []
    for metric, epoch, value in connection.execute(query):
        if metric == UPDATE:
            updates.append(float(epoch))
        else:
            samples.append((float(epoch), float(value)))
    last = None if table.last_seen_at is None else table.last_seen_at.timestamp()
    age = now - table.first_seen_at.timestamp() if table.first_seen_at is not None else 0.0
    return detectors.freshness(updates, last, now), detectors.volume(samples, age, now)


def watch(journal: Journal, *, at: datetime | None = None) -> int:
    """Run the detectors on every table with enough history; return how many found an anomaly."""
    columns = gateway_measurements.c
    learned = (
        sa.select(columns.resource_uuid, columns.full_table_id)
        .group_by(columns.resource_uuid, columns.full_table_id)
        .having(sa.func.count() >= _LEAST_TO_LEARN)
        .subquery()
    )
    query = (
        sa.select(pushed_tables)
        .join(
            learned,
            (pushed_tables.c.resource_uuid == learned.c.resource_uuid)
            & (pushed_tables.c.full_table_id == learned.c.full_table_id),
        )
        .where(pushed_tables.c.deleted_at.is_(None))
    )
    broken: dict[str, tuple[PushedTable, str]] = {}
    whole: list[str] = []
    with journal.reading() as connection:
        moment = at or read_clock(connection)
        for table in row_storage.select(connection, PushedTable, query):
            fresh, size = judge(connection, table, moment)
            name = f"push:{table.resource_uuid}:{table.full_table_id}"
            for detector, cause in (
                ("freshness", _late(table, fresh, moment)),
                ("volume", _unusual(table, size)),
            ):
                if cause is None:
                    whole.append(f"{name}:{detector}")
                else:
                    broken[f"{name}:{detector}"] = (table, cause)
    _record(journal, broken, whole)
    return len(broken)


def _late(table: PushedTable, verdict: FreshnessVerdict, at: datetime) -> str | None:
    if not verdict.is_broken or table.last_update is None or verdict.threshold is None:
        return None
    hours = (at - table.last_update).total_seconds() / detectors.HOUR
    return (
        f"{table.full_table_id} was last updated {hours:,.1f} hours ago; "
        f"{verdict.threshold / detectors.HOUR:,.1f} were expected at most."
    )


def _unusual(table: PushedTable, verdict: VolumeVerdict) -> str | None:
    if not verdict.is_broken or verdict.last_change is None:
        return None
    return (
        f"The rows of {table.full_table_id} changed by {verdict.last_change:+,.0f}; "
        f"{verdict.lower or 0:+,.0f} to {verdict.upper or 0:+,.0f} was expected."
    )


def _record(
    journal: Journal, broken: dict[str, tuple[PushedTable, str]], whole: Sequence[str]
) -> None:
    with journal.writing() as connection:
        for start in range(0, len(whole), 500):
            for healed in incidents.open_about(
                list(whole[start : start + 500]), connection=connection
            ):
                incidents.close(
                    journal,
                    healed.incident_id,
                    "goldsmith",
                    "the detector finds nothing unusual any more",
                    connection=connection,
                )
        for about, (table, cause) in broken.items():
            detector = about.rpartition(":")[2]
            incidents.report(
                journal,
                Incident(
                    incident_id=new_id("inc"),
                    severity="P3",
                    about=about,
                    dataset_id=table.full_table_id,
                    error_code="TableLate" if detector == "freshness" else "VolumeUnusual",
                    cause=cause,
                    runbook="Look at what loads the table; getTable shows the thresholds.",
                ),
                connection=connection,
            )
