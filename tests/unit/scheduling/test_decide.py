"""One decision: order, limits, yields and sentences."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from goldsmith.scheduling.profiles import (
    UnknownSchedulingSetting,
    decide,
    is_critical,
    score,
    score_terms,
    settings_from_rows,
)
from goldsmith.scheduling.values import ProfileSettings, QueuedStage, RunningStage, SchedulerState


def stage(key: str, seconds: float, **more: object) -> QueuedStage:
    made = QueuedStage(key, key, key, 0.0, 0.0, seconds, seconds, seconds)
    return replace(made, **more)  # type: ignore[arg-type]


BOTH = {"balanced": ProfileSettings(), "focus": settings_from_rows("focus", {})}


def started(slots: int, *waiting: QueuedStage, **settings: ProfileSettings) -> list[str]:
    state = SchedulerState(slots, waiting, ())
    return [start.stage.key for start in decide(state, {**BOTH, **settings}, 1.0).start]


def test_the_shortest_goes_first() -> None:
    assert started(2, stage("a", 300), stage("b", 10), stage("c", 100)) == ["b", "c"]


def test_one_changed_weight_reorders_the_queue() -> None:
    low, normal = stage("low", 10, criticality="low"), stage("normal", 15, criticality="normal")
    assert started(1, low, normal) == ["normal"]
    heavy = settings_from_rows("balanced", {"priority_weight_noncritical": 8})
    assert started(1, low, normal, balanced=heavy) == ["low"]


def test_a_profile_runs_no_more_than_its_limit() -> None:
    limited = settings_from_rows("balanced", {"max_concurrent_tasks": 1})
    state = SchedulerState(4, (stage("a", 5), stage("b", 6)), ())
    decided = decide(state, {"balanced": limited}, 1.0)
    assert [start.stage.key for start in decided.start] == ["a"]
    assert decided.wait[0].because == "Its profile already runs max_concurrent_tasks = 1 stages."


def test_others_yield_to_critical_work_and_stop_after_grace() -> None:
    running = RunningStage(stage("long", 900), 0.0, 20.0)
    alert = stage("alert", 60, profile="focus")
    decided = decide(SchedulerState(1, (alert,), (running,)), BOTH, 12.0)
    assert [(each.running.stage.key, each.stop_at) for each in decided.yields] == [("long", 30.0)]
    assert decided.start == ()


def test_a_stage_that_yields_to_critical_work_goes_on_doing_so() -> None:
    first = RunningStage(stage("first", 5), 0.0, 20.0, yielding_since=11.0)
    second = RunningStage(stage("second", 900), 0.0, 30.0)
    alert = stage("alert", 60, profile="focus")
    decided = decide(SchedulerState(2, (alert,), (first, second)), BOTH, 12.0)
    assert [each.running.stage.key for each in decided.yields] == ["first"]


def test_critical_never_preempts_critical() -> None:
    running = RunningStage(stage("first", 900, profile="focus"), 0.0, 20.0)
    decided = decide(
        SchedulerState(1, (stage("second", 1, profile="focus"),), (running,)), BOTH, 5.0
    )
    assert decided.yields == ()


def test_the_floor_keeps_slots_for_others() -> None:
    floor = settings_from_rows("focus", {"noncritical_floor": 0.5})
    alerts = [stage(f"alert_{n}", 5, profile="focus") for n in range(4)]
    assert started(4, stage("other", 50), *alerts, focus=floor) == ["alert_0", "alert_1", "other"]


def test_an_explicit_criticality_wins_over_the_profile() -> None:
    assert is_critical(stage("a", 1, profile="focus"))
    assert not is_critical(stage("a", 1, profile="focus", criticality="low"))


def test_a_hot_target_takes_one_stage_and_says_why_the_other_waits() -> None:
    first, second = (
        stage(name, 600, target="hot", bytes_per_second=1e6) for name in ("first", "second")
    )
    elsewhere = stage("elsewhere", 5000, target="cold", bytes_per_second=1e6)
    decided = decide(SchedulerState(4, (first, second, elsewhere), ()), BOTH, 1.0)
    assert [start.stage.key for start in decided.start] == ["first", "elsewhere"]
    assert decided.wait[0].because == "More load now would make a hotspot of target hot."


def test_starts_are_packed_apart_within_their_slack_unless_the_row_says_no() -> None:
    first, second = (
        stage(name, 600, target="hot", bytes_per_second=1e6) for name in ("first", "second")
    )
    other = stage("other", 5000, target="cold", bytes_per_second=1e6)
    assert started(4, first, second, other) == ["first", "other"]
    no_slack = replace(second, start_by=1.0)
    assert started(4, first, no_slack, other) == ["first", "second", "other"]
    at_once = settings_from_rows("balanced", {"spread_starts": 0})
    assert started(4, first, second, other, balanced=at_once) == ["first", "second", "other"]


def test_delay_tolerant_work_waits_for_a_cheaper_hour() -> None:
    dear = settings_from_rows("balanced", {"price_hour_0": 5})
    assert started(4, stage("report", 7200, criticality="low"), balanced=dear) == []
    assert started(4, stage("sales", 7200, criticality="normal"), balanced=dear) == ["sales"]


def test_the_score_is_the_product_of_its_terms() -> None:
    item = stage("a", 40, arrived=-5000.0, dependants=3, backfill=True)
    state = SchedulerState(2, (item,), ())
    terms = score_terms(item, ProfileSettings(), state, 100.0)
    assert prod(term.value for term in terms) == pytest.approx(
        score(item, ProfileSettings(), state, 100.0)
    )
    assert all(term.because for term in terms)


def test_an_unknown_setting_is_refused_with_the_closest_name() -> None:
    with pytest.raises(UnknownSchedulingSetting) as refused:
        settings_from_rows("balanced", {"aging_minuts": 3})
    assert "aging_minutes" in refused.value.hint


def test_stages_past_their_estimate_stop_no_decision() -> None:
    over = RunningStage(stage("over", 0, target="t"), 0.0, 5.0)
    state = SchedulerState(2, (stage("next", 0, target="t"),), (over,))
    assert [start.stage.key for start in decide(state, BOTH, 9.0).start] == ["next"]
