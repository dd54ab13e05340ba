"""The documented views: they exist on both databases, with the documented columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.journal import leases, requests, runs, stage_runs
from goldsmith.journal.events import (
    RunFailed,
    RunFinished,
    StageBlocked,
    StageFailed,
    StageFinished,
)
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.journal.tables import Request, Run, StageRun
from goldsmith.journal.view import View
from goldsmith.journal.views import VIEWS
from plain_sql import PlainSql

NOON = datetime(2025, 11, 16, 12, tzinfo=UTC)


def seen(catalog: Catalog, view: str) -> list[dict[str, Any]]:
    with database.reading(catalog.engine) as connection:
        found = connection.execute(sa.text(f"SELECT * FROM {view}"))
        return [dict(row) for row in found.mappings()]


def stage_run(order: int) -> StageRun:
    return StageRun(
        stage_run_id=f"try-{order}",
        run_id="run-1",
        pipeline_id="orders",
        stage_order=order,
        stage_name=f"stage {order}",
    )


def declare(catalog: Catalog) -> None:
    with catalog.change(actor="ann", reason="first") as change:
        change.put([Pipeline(pipeline_id="orders", owner="shop"), Pipeline(pipeline_id="users")])
        change.put([Stage(pipeline_id="orders", stage_order=1, layer="bronze", source_id="raw")])


def fail_a_run(journal: Journal) -> None:
    """A run of orders: one stage published, the next failed, the last blocked."""
    runs.start_run(journal, Run(run_id="run-1", pipeline_id="orders", asked_by="ann"), at=NOON)
    for order in (1, 2):
        stage_runs.start_stage_run(journal, stage_run(order), at=NOON)
    later = NOON + timedelta(seconds=90)
    finished = StageFinished(rows_read=10, rows_written=9, rows_quarantined=1)
    stage_runs.finish_stage_run(journal, "try-1", finished, at=later)
    failed = StageFailed(error_code="DiskFull", error_message="No room is left.")
    stage_runs.finish_stage_run(journal, "try-2", failed, at=later)
    stage_runs.pass_over(journal, stage_run(3), StageBlocked(because="orders-2 failed"), at=later)
    ended = RunFailed(error_code="DiskFull", error_message="No room is left.")
    runs.finish_run(journal, "run-1", ended, at=later)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_has_the_documented_columns(catalog: Catalog, view: View) -> None:
    with database.reading(catalog.engine) as connection:
        found = connection.execute(sa.text(f"SELECT * FROM {view.name}"))
        assert list(found.keys()) == list(view.columns)
    assert all(view.columns.values())


def test_a_run_is_seen_with_its_stages_and_rows_counted(catalog: Catalog, journal: Journal) -> None:
    fail_a_run(journal)
    [run] = seen(catalog, "v_runs")
    assert (run["stages"], run["stages_succeeded"], run["stages_failed"]) == (3, 1, 1)
    assert (run["stages_blocked"], run["rows_written"], run["rows_quarantined"]) == (1, 9, 1)
    assert run["duration_sec"] == pytest.approx(90, abs=0.001)


def test_a_stage_run_is_seen_with_its_stage_and_pipeline(
    catalog: Catalog, journal: Journal
) -> None:
    declare(catalog)
    fail_a_run(journal)
    first, *_ = sorted(seen(catalog, "v_stage_runs"), key=lambda row: row["stage_order"])
    assert (first["layer"], first["source_id"], first["owner"]) == ("bronze", "raw", "shop")
    assert (first["asked_by"], first["rows_read"]) == ("ann", 10)
    assert first["duration_sec"] == pytest.approx(90, abs=0.001)


def test_requests_and_leases_are_seen_as_they_stand(catalog: Catalog, journal: Journal) -> None:
    far = datetime(2999, 1, 1, tzinfo=UTC)
    requests.put(journal, Request(request_id="now"))
    requests.put(journal, Request(request_id="some day", not_before=far))
    due = {row["request_id"]: bool(row["is_due"]) for row in seen(catalog, "v_requests")}
    assert due == {"now": True, "some day": False}
    owner = Owner(host="elsewhere", pid=1)
    leases.acquire(journal, "held", owner, seconds=600)
    leases.acquire(journal, "expired", owner, seconds=-1)
    held = {row["resource"]: bool(row["held"]) for row in seen(catalog, "v_leases")}
    assert held == {"held": True, "expired": False}


def test_every_way_to_stop_is_seen_with_who_and_why(catalog: Catalog) -> None:
    declare(catalog)
    with catalog.change(actor="bob", reason="vendor outage") as change:
        change.put(
            [
                Flag(entity_type="source", entity_id="raw", flag_name="enabled"),
                Pipeline(pipeline_id="users", enabled=False),
                Stage(pipeline_id="orders", stage_order=1, enabled=False),
            ]
        )
    stops = {(row["entity_type"], row["entity_id"]): row for row in seen(catalog, "v_stops")}
    assert set(stops) == {("source", "raw"), ("pipeline", "users"), ("stage", "orders-1")}
    assert {row["who"] for row in stops.values()} == {"bob"}
    assert {row["because"] for row in stops.values()} == {"vendor outage"}
    assert all(row["since"] for row in stops.values())


def test_a_later_edit_of_a_row_does_not_change_who_stopped_it(catalog: Catalog) -> None:
    declare(catalog)
    with catalog.change(actor="bob", reason="vendor outage") as change:
        change.put([Pipeline(pipeline_id="users", enabled=False)])
    with catalog.change(actor="cy", reason="a typo") as change:
        change.put([Pipeline(pipeline_id="users", enabled=False, description="Users")])
    [stop] = seen(catalog, "v_stops")
    assert (stop["who"], stop["because"]) == ("bob", "vendor outage")


@pytest.mark.parametrize(
    ("starts", "ends", "stops"),
    [
        pytest.param(None, None, True, id="a flag without times holds"),
        pytest.param("2001-01-01", "2999-01-01", True, id="a flag holds between its times"),
        pytest.param("2999-01-01", None, False, id="a flag that has not begun stops nothing"),
        pytest.param(None, "2001-01-01", False, id="a flag that has ended stops nothing"),
    ],
)
def test_a_flag_holds_within_its_times(
    catalog: Catalog, plain: PlainSql, starts: str | None, ends: str | None, stops: bool
) -> None:
    plain.run(
        "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value, starts_at,"
        " ends_at) VALUES ('everything', '*', 'enabled', FALSE, ?, ?)",
        starts,
        ends,
    )
    assert bool(seen(catalog, "v_stops")) is stops


def test_a_pipeline_is_seen_with_its_reason(catalog: Catalog, journal: Journal) -> None:
    declare(catalog)

    def reasons() -> dict[str, str]:
        return {row["pipeline_id"]: row["reason"] for row in seen(catalog, "v_pipelines")}

    assert reasons() == {"orders": "never ran", "users": "never ran"}
    fail_a_run(journal)
    assert reasons()["orders"] == "failed: DiskFull: No room is left."
    requests.put(journal, Request(request_id="request-1", pipelines=("orders",)))
    requests.wait(journal, "request-1", "3 of 3 slots are taken")
    assert reasons()["orders"] == "waiting: 3 of 3 slots are taken"
    runs.start_run(journal, Run(run_id="run-2", pipeline_id="orders"))
    assert reasons()["orders"] == "running"
    with catalog.change(actor="bob") as change:
        change.put(
            [
                Flag(
                    entity_type="everything",
                    entity_id="*",
                    flag_name="enabled",
                    reason="vendor outage",
                )
            ]
        )
    assert reasons() == {
        "orders": "being stopped by bob: vendor outage",
        "users": "stopped by bob: vendor outage",
    }
    assert not any(row["enabled"] for row in seen(catalog, "v_pipelines"))


def test_status_shows_a_failure_until_the_pipeline_succeeds(
    catalog: Catalog, journal: Journal
) -> None:
    fail_a_run(journal)
    [row] = seen(catalog, "v_status")
    assert (row["part"], row["subject"], row["id"]) == ("failed", "pipeline:orders", "run-1")
    assert row["because"] == "DiskFull: No room is left."
    runs.start_run(journal, Run(run_id="run-2", pipeline_id="orders"))
    assert {row["part"] for row in seen(catalog, "v_status")} == {"failed", "running"}
    runs.finish_run(journal, "run-2")
    assert seen(catalog, "v_status") == []


@pytest.mark.parametrize(
    "options", [{"replay": {"sql": None}}, {"limit": 10}], ids=["a replay", "a trial run"]
)
def test_a_run_that_does_not_count_hides_no_failure_and_is_none(
    catalog: Catalog, journal: Journal, options: dict[str, Any]
) -> None:
    declare(catalog)
    fail_a_run(journal)
    for number, ended in enumerate((RunFinished(), RunFailed(error_code="Other"))):
        requests.put(journal, Request(request_id=f"special-{number}", options=options))
        special = Run(
            run_id=f"special-{number}", pipeline_id="orders", request_id=f"special-{number}"
        )
        later = NOON + timedelta(hours=number + 1)
        runs.start_run(journal, special, at=later)
        runs.finish_run(journal, special.run_id, ended, at=later)
        [failed] = [row for row in seen(catalog, "v_status") if row["part"] == "failed"]
        assert failed["id"] == "run-1"
        [orders] = [row for row in seen(catalog, "v_pipelines") if row["pipeline_id"] == "orders"]
        assert (orders["last_run_id"], orders["last_error_code"]) == ("run-1", "DiskFull")
        assert orders["last_success_at"] is None
