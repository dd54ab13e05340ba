"""A row written by plain SQL stops a stage wherever it is, and a release lets it go on."""

from __future__ import annotations

import pytest

from spark.engine.stopping import LONG, Stopping
from stopping_stages import on


@on("sqlite")
@pytest.mark.parametrize(
    ("point", "scope", "entity", "begun"),
    [
        ("run-started", "stage", "@-2", False),
        ("leased", "stage", "@-2", False),
        ("inputs-listed", "everything", "*", False),
        ("read", "source", "bronze_@", True),
        ("branch-made", "target", "silver_@", True),
        ("audited", "stage", "@-2", True),
        ("before-publish", "pipeline", "@", True),
    ],
)
def test_a_flag_on_anything_stops_a_stage_between_steps(
    stopping: Stopping, point: str, scope: str, entity: str, begun: bool
) -> None:
    stopping.begin(held_at=point, selection="silver_@")
    stopping.flag(scope, entity)
    stopping.let_go()

    assert stopping.statuses() == ["stopped"]
    stopping.has_times(begun=begun)
    stopping.is_clean()
    assert stopping.silver() == []
    stopping.release()
    assert stopping.statuses() == ["stopped", "succeeded"]
    assert stopping.silver() == [(1, 10), (2, 20)]


@on("sqlite")
@pytest.mark.parametrize("when", ["before it is asked for", "while it is planned"])
def test_a_flag_set_before_anything_runs_stops_all_of_it(stopping: Stopping, when: str) -> None:
    if when == "before it is asked for":
        stopping.flag("pipeline", "@")
        stopping.begin()
    else:
        stopping.begin(held_at="taken")
        stopping.flag("pipeline", "@")
    stopping.let_go()

    requests = "SELECT status, because FROM requests WHERE selection = '[\"@\"]'"
    assert stopping.bench.sql(requests) == [
        ("stopped", f"pipeline '{stopping.bench.tag}' is switched off (paged at night)")
    ]
    assert stopping.statuses() == []
    stopping.is_clean()
    assert stopping.silver() == []
    stopping.release()
    assert stopping.bench.sql(requests)[0][0] == "done"
    assert stopping.silver() == [(1, 10), (2, 20)]


@on("sqlite")
def test_a_long_shuffle_is_stopped_with_four_times_in_the_audit_log(stopping: Stopping) -> None:
    stopping.begin(silver=LONG)
    stopping.until(stopping.works)
    stopping.flag("pipeline", "@")
    stopping.let_go()

    stopping.has_times()
    stopping.is_clean()
    assert stopping.silver() == []
    stopping.release()
    assert stopping.silver() == [(1, 10), (2, 20)]


@on("sqlite")
def test_a_stage_that_is_switched_off_in_its_row_stops(stopping: Stopping) -> None:
    stopping.begin(held_at="read")
    stopping.bench.sql(
        "UPDATE stages SET enabled = false WHERE pipeline_id = '@' AND stage_order = 2"
    )
    stopping.let_go()
    assert stopping.statuses() == ["stopped"]
    stopping.bench.sql("UPDATE stages SET enabled = true WHERE pipeline_id = '@'")
    stopping.release()
    assert stopping.silver() == [(1, 10), (2, 20)]


@on("sqlite")
def test_a_flag_during_the_publish_comes_too_late_and_all_of_it_is_there(
    stopping: Stopping,
) -> None:
    stopping.begin(held_at="published")
    stopping.flag("pipeline", "@")
    stopping.let_go()
    assert stopping.statuses() == ["succeeded"]
    assert stopping.silver() == [(1, 10), (2, 20)]


@on("sqlite")
def test_a_flag_set_twice_and_on_something_idle_does_nothing_more(stopping: Stopping) -> None:
    stopping.begin(held_at="read")
    stopping.flag("pipeline", "@")
    stopping.flag("pipeline", "@")
    stopping.flag("pipeline", "nothing_of_this_name")
    stopping.let_go()
    assert stopping.statuses() == ["stopped"]
    stopping.release()
    assert stopping.silver() == [(1, 10), (2, 20)]


@on("sqlite")
def test_a_flag_on_one_pipeline_leaves_another_alone(stopping: Stopping) -> None:
    stopping.begin(held_at="read")
    stopping.flag("pipeline", "somebody_else")
    stopping.let_go()
    assert stopping.statuses() == ["succeeded"]
