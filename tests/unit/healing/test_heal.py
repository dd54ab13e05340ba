"""Healing decides within its budgets, and there is no way round them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.catalog.defaults import shipped
from goldsmith.catalog.incidents import SeverityLevel
from goldsmith.catalog.retries import HealingAction, HealingStep, RetryPolicy
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.healing.budget import Limits, below_floor
from goldsmith.healing.codes import codes
from goldsmith.healing.failure import DecisionKind, Failure
from goldsmith.healing.heal import HealingHistory, heal
from goldsmith.healing.pairs import Pair, all_pairs, pairs_of
from goldsmith.healing.policy import wait
from goldsmith.healing.remedy import REMEDIES
from goldsmith.healing.severity import may_age, severity_of
from goldsmith.journal.healing_tables import HealingUse, RemedyOutcome
from goldsmith.planning.integrity.remedies import loosening, needs_permission

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICY = RetryPolicy(retry_id="p", max_retries=3, backoff_sec=10, multiplier=2, max_backoff_sec=30)
LOST = Failure(code="SourceUnreachable", pipeline_id="orders", stage_order=1, request_id="r")


def pair(code: str, action: str, step: int = 1, **more: object) -> Pair:
    settings = {"settings": {}, "max_uses": 3, "success_floor": None, "enabled": True} | more
    return Pair(error_code=code, step_order=step, action=action, **settings)  # type: ignore[arg-type]


def use(
    action: str, outcome: RemedyOutcome, request: str = "other", minutes: float = 1
) -> HealingUse:
    return HealingUse(
        use_id="u",
        at=NOW - timedelta(minutes=minutes),
        error_code="SourceUnreachable",
        remedy=action,
        pipeline_id="orders",
        stage_order=1,
        request_id=request,
        outcome=outcome,
    )


def test_what_may_pass_is_tried_again_as_the_policy_says() -> None:
    made = heal(LOST, HealingHistory(pairs=[], policy=POLICY), NOW)
    assert (made.decision.do, made.after, made.pair) == (
        DecisionKind.RERUN,
        timedelta(seconds=10),
        None,
    )


@pytest.mark.parametrize(
    ("failure", "policy"),
    [
        pytest.param(LOST, None, id="no policy, no retry"),
        pytest.param(replace(LOST, attempt=4), POLICY, id="every attempt counts"),
        pytest.param(replace(LOST, code="SqlWrong"), POLICY, id="what lasts is left to a person"),
    ],
)
def test_what_is_not_tried_again_is_held(failure: Failure, policy: RetryPolicy | None) -> None:
    assert (
        heal(failure, HealingHistory(pairs=[], policy=policy), NOW).decision.do is DecisionKind.HOLD
    )


def test_remedies_are_asked_in_order_until_one_has_an_answer() -> None:
    pairs = [pair("CheckFailed", "skip_optional"), pair("CheckFailed", "open_incident", 2)]
    made = heal(replace(LOST, code="CheckFailed"), HealingHistory(pairs=pairs, policy=POLICY), NOW)
    assert (made.decision.do, made.pair) == (DecisionKind.HOLD, pairs[1])
    assert made.passed_over == ("skip_optional has no answer",)


def test_a_pair_that_is_switched_off_or_wrong_does_not_hide_the_failure() -> None:
    off = pair("SourceUnreachable", "open_incident", enabled=False)
    wrong = pair("SourceUnreachable", "retry_later", 2, settings={"nonsense": 1})
    made = heal(LOST, HealingHistory(pairs=[off, wrong], policy=POLICY), NOW)
    assert made.decision.do is DecisionKind.RERUN
    assert "nonsense" in made.passed_over[0]


def shipped_pair(code: str, remedy: str) -> Pair:
    rows = [row for row in shipped() if isinstance(row, HealingAction | HealingStep)]
    snapshot = CatalogRows(1, {t.table.name: {} for t in (HealingAction, HealingStep)})
    for row in rows:
        snapshot.tables[row.table.name][row.key] = row  # type: ignore[index]
    found = [p for p in all_pairs(snapshot) if (p.error_code, p.action) == (code, remedy)]
    return found[0]


LOOSENS = [
    ("CheckFailed", "quarantine_rows", {}),
    ("RecordMalformed", "quarantine_rows", {}),
    ("SchemaMismatch", "evolve_schema", {}),
    ("DuplicateRows", "deduplicate", {"keys": ["id"]}),
    ("FileTruncated", "quarantine_files", {}),
    ("TableBroken", "roll_back", {}),
]


@pytest.mark.parametrize(("code", "remedy", "stage"), LOOSENS)
def test_a_shipped_remedy_that_loosens_acts_only_where_the_stage_names_it(
    code: str, remedy: str, stage: dict[str, object]
) -> None:
    known = HealingHistory(pairs=[shipped_pair(code, remedy)], policy=POLICY)
    failed = replace(LOST, code=code, stage=stage, facts={"file": "s3://a/b.csv"})
    made = heal(failed, known, NOW)
    assert made.pair is None
    assert f"{remedy} is not allowed: options.remedies of the stage" in made.passed_over[0]
    named = {**stage, "options": {"remedies": [remedy]}}
    assert heal(replace(failed, stage=named), known, NOW).pair is not None
    other = {**stage, "options": {"remedies": ["another"]}}
    assert heal(replace(failed, stage=other), known, NOW).pair is None


@pytest.mark.parametrize(("code", "remedy", "stage"), LOOSENS)
def test_a_pair_that_the_user_wrote_acts_on_every_stage(
    code: str, remedy: str, stage: dict[str, object]
) -> None:
    row = HealingAction(error_code=code, action_script=remedy)
    rows = CatalogRows(1, {"healing_actions": {row.key: row}, "healing_steps": {}})
    failed = replace(LOST, code=code, stage=stage, facts={"file": "s3://a/b.csv"})
    assert heal(failed, HealingHistory(pairs=all_pairs(rows), policy=POLICY), NOW).pair is not None


def test_a_shipped_row_of_an_older_catalog_loosens_nothing_either() -> None:
    row = HealingAction(error_code="CheckFailed", action_script="quarantine_rows", is_default=True)
    assert needs_permission(row)
    assert not needs_permission(row.with_(settings={"only_where_allowed": False}))
    assert not needs_permission(row.with_(action_script="skip_optional"))


def test_every_shipped_remedy_that_loosens_asks_for_leave() -> None:
    rows = [row for row in shipped() if isinstance(row, HealingAction | HealingStep)]
    assert {row.action_script for row in rows if needs_permission(row)} == set(loosening())
    assert all(needs_permission(row) for row in rows if row.action_script in loosening())
    assert all(
        needs_permission(row.with_(is_default=False)) for row in rows if needs_permission(row)
    )


#: What an attempt may do otherwise without loosening anything.
HARMLESS = {"spark", "files_at_once", "lock", "rebuild", "at_once", "fresh", "skip", "lower_rate"}


@pytest.mark.parametrize("name", [n for n, r in REMEDIES.all() if not r.asks_outside])
def test_a_remedy_that_asks_for_no_leave_changes_nothing_that_a_row_says(name: str) -> None:
    stage = {"keys": ["id"], "read": "new", "options": {"optional": True}}
    facts = {"file": "s3://a/b.csv"}
    for code in codes():
        failed = replace(LOST, code=code, stage=stage, facts=facts)
        made = REMEDIES.get(name)(failed, {}, None)
        if made is not None and name not in loosening():
            assert set(made.adjust) <= HARMLESS
            assert made.files_aside == ()


def test_waits_grow_up_to_the_longest_and_chance_takes_away_a_share() -> None:
    assert [wait(POLICY, n, 0).total_seconds() for n in (1, 2, 3, 4)] == [10, 20, 30, 30]
    assert wait(replace(POLICY, jitter=0.5), 2, 1.0).total_seconds() == 10
    endless = RetryPolicy(retry_id="p", max_retries=9**9, backoff_sec=10**6, multiplier=1e9)
    assert wait(endless, 500, 0) < timedelta(days=365 * 101)


@pytest.mark.parametrize(
    ("uses", "why"),
    [
        pytest.param(
            [use("plan_again", RemedyOutcome.PENDING, "r")] * 3, "in this request", id="run"
        ),
        pytest.param([use("plan_again", RemedyOutcome.HELPED)] * 50, "today", id="day"),
        pytest.param([use("plan_again", RemedyOutcome.FAILED)] * 3, "breaker", id="breaker"),
    ],
)
def test_a_budget_that_is_used_up_passes_the_remedy_over(uses: list[HealingUse], why: str) -> None:
    known = HealingHistory(
        pairs=[pair("SourceUnreachable", "plan_again")], policy=POLICY, uses=uses
    )
    made = heal(LOST, known, NOW)
    assert made.pair is None
    assert why in made.passed_over[0]


def test_a_breaker_closes_again_after_its_time_and_after_a_success() -> None:
    old = [use("plan_again", RemedyOutcome.FAILED, minutes=61)] * 3
    won = [use("plan_again", RemedyOutcome.FAILED)] * 3 + [use("plan_again", RemedyOutcome.HELPED)]
    for uses in (old, won):
        known = HealingHistory(
            pairs=[pair("SourceUnreachable", "plan_again")], policy=POLICY, uses=uses
        )
        assert heal(LOST, known, NOW).pair is not None


def test_a_pipeline_that_keeps_failing_is_not_tried_again() -> None:
    known = HealingHistory(pairs=[], policy=POLICY, pipeline_failures=31)
    made = heal(LOST, known, NOW)
    assert made.decision.do is DecisionKind.HOLD
    assert "breaker" in made.decision.because


def test_a_pair_below_its_floor_is_found() -> None:
    floor = pair("SourceUnreachable", "plan_again", success_floor=0.5)
    bad = [use("plan_again", RemedyOutcome.FAILED)] * 4 + [use("plan_again", RemedyOutcome.HELPED)]
    assert below_floor(floor, bad, Limits()) == 0.2
    assert below_floor(floor, bad[1:], Limits()) is None
    assert below_floor(replace(floor, success_floor=None), bad, Limits()) is None


def test_codes_that_hand_over_in_a_circle_end() -> None:
    pairs = [
        pair("DiskFull", "spill_less", settings={"then": "StageTimeout"}),
        pair("StageTimeout", "smaller_batches", settings={"then": ["DiskFull"]}),
    ]
    assert pairs_of("DiskFull", pairs) == pairs


BUILT_IN = [name for name, remedy in REMEDIES.all() if not remedy.asks_outside]


@given(
    chosen=st.lists(
        st.tuples(st.sampled_from(list(codes())), st.sampled_from(BUILT_IN)), max_size=8
    ),
    fails_with=st.lists(st.sampled_from(list(codes())), min_size=1, max_size=4),
    retries=st.integers(0, 6),
)
def test_no_healing_goes_on_for_ever(
    chosen: list[tuple[str, str]], fails_with: list[str], retries: int
) -> None:
    pairs = [
        pair(code, action, n, settings={"then": fails_with})
        for n, (code, action) in enumerate(chosen)
    ]
    policy = RetryPolicy(retry_id="p", max_retries=retries)
    tries = 0
    for attempt in range(1, 100):
        failure = replace(LOST, code=fails_with[attempt % len(fails_with)], attempt=attempt)
        tries += 1
        if (
            heal(failure, HealingHistory(pairs=pairs, policy=policy), NOW).decision.do
            is not DecisionKind.RERUN
        ):
            break
    assert tries <= retries + 1


LEVELS = [
    SeverityLevel(severity="P1", older_than_hours=24, least_impact="revenue"),
    SeverityLevel(severity="P2", older_than_hours=4, least_impact="customer"),
    SeverityLevel(severity="P3", older_than_hours=1, least_impact="internal"),
    SeverityLevel(severity="P4", older_than_hours=0, least_impact="none"),
]


@pytest.mark.parametrize(
    ("hours", "impact", "severity"),
    [
        (25, "revenue", "P1"),
        (25, "customer", "P2"),
        (25, "internal", "P3"),
        (25, "none", "P4"),
        (5, "revenue", "P2"),
        (2, "revenue", "P3"),
        (0.5, "revenue", "P4"),
        (None, "revenue", "P1"),
    ],
)
def test_severity_is_by_age_and_impact(hours: float | None, impact: str, severity: str) -> None:
    assert severity_of(LEVELS, hours, impact) == severity


def test_how_old_data_may_get_is_the_least_age_somebody_notices() -> None:
    assert [may_age(LEVELS, impact) for impact in ("revenue", "internal", "none")] == [1, 1, None]
