"""The journal: events are written down once, in order, and read back as they were."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.journal import definitions
from goldsmith.journal.clock import later, now, read_clock, seconds
from goldsmith.journal.event_base import Event
from goldsmith.journal.events import (
    EVENTS,
    CatalogApplied,
    RunStarted,
    StageFailed,
    StageFinished,
    StageStopped,
    event_of,
)
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import AuditEvent

NOON = datetime(2025, 11, 16, 12, 0, 0, 250_000, tzinfo=UTC)


def test_a_fresh_catalog_has_every_table_of_the_journal(catalog: Catalog) -> None:
    found = sa.inspect(catalog.engine)
    for table in definitions.OBSERVED:
        columns = [column["name"] for column in found.get_columns(table.name)]
        assert columns == [column.name for column in table.columns]


def test_an_event_fills_its_columns_and_the_rest_is_facts(journal: Journal) -> None:
    journal.record(
        StageFailed(
            run_id="run-1",
            stage_run_id="try-1",
            pipeline_id="orders",
            stage_order=2,
            attempt=3,
            step="publish",
            error_code="DiskFull",
            error_message="No room is left.",
            started_at=NOON,
        ),
        at=NOON,
    )
    [row] = journal.read()
    assert row == AuditEvent(
        event_id=row.event_id,
        at=NOON,
        kind="StageFailed",
        pipeline_id="orders",
        stage_order=2,
        status="failed",
        started_at=NOON,
        error_code="DiskFull",
        error_message="No room is left.",
        run_id="run-1",
        stage_run_id="try-1",
        attempt=3,
        facts={"step": "publish"},
    )


def test_an_event_reads_back_as_it_was(journal: Journal) -> None:
    stopped = StageStopped(
        at=NOON,
        run_id="run-1",
        because="a flag",
        driver_returned_at=NOON,
        last_task_ended_at=NOON,
        zombie_tasks=0,
    )
    journal.record(stopped)
    [row] = journal.read()
    assert event_of(row) == stopped


@pytest.mark.parametrize("kind", EVENTS.values(), ids=EVENTS)
def test_every_kind_of_event_survives_the_journal(journal: Journal, kind: type[Event]) -> None:
    event = kind(at=NOON, **_needed(kind))
    journal.record(event)
    [row] = journal.read()
    assert event_of(row) == event


def _needed(kind: type[Event]) -> dict[str, Any]:
    some: dict[str, Any] = {"str": "a word", "int": 7, "bool": True, "float": 0.5, "datetime": NOON}
    return {
        field.name: some[str(field.type)]
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }


def test_every_kind_of_event_is_documented_in_one_sentence() -> None:
    for kind in EVENTS.values():
        assert kind.__doc__ is not None
        assert kind.__doc__.endswith(".")
        assert "\n" not in kind.__doc__


def test_a_kind_of_a_newer_version_is_read_as_a_row(journal: Journal) -> None:
    with journal.writing() as connection:
        connection.execute(sa.insert(definitions.audit_log).values(kind="MoonRose", at=NOON))
    [row] = journal.read()
    assert row.kind == "MoonRose"
    assert event_of(row) is None


@pytest.mark.parametrize(
    "text", ["a\x00b", "half \ud83d a pair", "x" * 20_000, "naïve 💥", "100% of %s"]
)
def test_no_message_keeps_a_failure_from_being_recorded(journal: Journal, text: str) -> None:
    journal.record(StageFailed(error_code="Odd", error_message=text, step=text))
    [row] = journal.read()
    assert row.error_message is not None
    assert len(row.error_message) <= 10_000


def test_numbers_json_cannot_say_are_left_empty(journal: Journal) -> None:
    journal.record(
        StageFinished(rows_read=1), CatalogApplied(revision=2, added=1, changed=0, removed=0)
    )
    assert [row.facts for row in journal.read()] == [
        {"rows_read": 1},
        {"revision": 2, "added": 1, "changed": 0, "removed": 0},
    ]


def test_time_is_the_databases(journal: Journal) -> None:
    with journal.reading() as connection:
        before = read_clock(connection)
    journal.record(RunStarted(run_id="run-1"))
    with journal.reading() as connection:
        after = read_clock(connection)
    [row] = journal.read()
    assert before <= row.at <= after


def test_the_databases_clock_counts_seconds(catalog: Catalog) -> None:
    with database.reading(catalog.engine) as connection:
        ahead = connection.execute(sa.select(seconds(now(), later(90.5)))).scalar_one()
    assert ahead == pytest.approx(90.5, abs=0.1)


def test_whoever_reads_on_from_the_last_event_misses_none(journal: Journal) -> None:
    def write(writer: int) -> None:
        for number in range(20):
            journal.record(RunStarted(run_id=f"run-{writer}-{number}"))

    seen: list[AuditEvent] = []
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, writer) for writer in range(4)]
        while not all(writer.done() for writer in writers):
            seen += journal.read(since_event_id=seen[-1].event_id if seen else 0)
        for writer in writers:
            writer.result()
    seen += journal.read(since_event_id=seen[-1].event_id if seen else 0)
    assert seen == journal.read()
    assert len(seen) == 80


def test_all_events_of_a_call_are_written_or_none(journal: Journal) -> None:
    class Refused(Exception):
        pass

    def record_and_fail() -> None:
        with journal.writing() as connection:
            journal.record(RunStarted(run_id="run-1"), connection=connection)
            raise Refused

    with pytest.raises(Refused):
        record_and_fail()
    assert journal.read() == []
    assert journal.newest() == 0


def test_events_are_found_by_what_they_concern(journal: Journal) -> None:
    journal.record(
        RunStarted(run_id="run-1", pipeline_id="orders", request_id="request-1"),
        RunStarted(run_id="run-2", pipeline_id="users"),
        StageFinished(run_id="run-1", pipeline_id="orders", rows_written=5),
    )
    first, second, third = journal.read()
    assert journal.read(run_id="run-1") == [first, third]
    assert journal.read(pipeline_id="users") == [second]
    assert journal.read(request_id="request-1") == [first]
    assert journal.read(kinds=["StageFinished"]) == [third]
    assert journal.read(since_event_id=first.event_id) == [second, third]
    assert journal.read(most=2) == [first, second]
    assert journal.read(most=2, newest_first=True) == [third, second]
    assert journal.newest() == third.event_id
