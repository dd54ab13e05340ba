"""Rows into a plan: the order across pipelines, and why each stage will or will not run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from goldsmith.journal.runs import Expected
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.lake import TableHistory, TableSnapshot
from goldsmith.planning.observed import (
    Observed,
    SeenFiles,
    SeenInput,
    SeenTable,
    SeenWarehouseTable,
)
from goldsmith.planning.plan import Plan, StageDecision
from goldsmith.planning.planner import CatalogHasErrors, Observe, plan
from goldsmith.planning.sql import SqlReader
from goldsmith.planning.stage_context import Dataset
from goldsmith.storage.files import ListedFile
from unit.planning.rows import rows_of, snapshot

NOW = datetime(2026, 1, 31, 8, tzinfo=UTC)
LOAD, CLEAN, SUM = "orders-1", "orders-2", "sales-1"

#: raw → bronze → silver in `orders`, silver → gold in `sales`, whose name sorts later.
SHOP: dict[str, list[dict[str, Any]]] = {
    "pipelines": [{"pipeline_id": "orders"}, {"pipeline_id": "sales"}],
    "stages": [
        {"pipeline_id": "orders", "stage_order": 1, "source_id": "raw", "target_id": "bronze"},
        {"pipeline_id": "orders", "stage_order": 2, "source_id": "bronze", "target_id": "silver"},
        {"pipeline_id": "sales", "stage_order": 1, "source_id": "silver", "target_id": "gold"},
    ],
    "sources": [{"source_id": "raw", "s3_path": "s3://shop/raw/", "file_format": "csv"}],
    "targets": [
        {"target_id": "bronze", "location": "s3://shop/bronze/", "type": "s3"},
        {"target_id": "silver", "location": "s3://shop/silver/", "type": "s3"},
        {"target_id": "gold", "location": "shop.gold", "type": "redshift"},
    ],
}


def shop(**more: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The shop with rows put over the ones of the same keys, or beside them."""
    return {table: [*SHOP.get(table, []), *more.get(table, [])] for table in {**SHOP, **more}}


def survey_of(tables: Mapping[str, list[dict[str, Any]]]) -> CatalogIndex:
    rows = snapshot(rows_of(tables))
    return CatalogIndex(rows, SqlReader(rows.dataset_ids))


def planned(
    tables: Mapping[str, list[dict[str, Any]]],
    *selection: str,
    now: datetime = NOW,
    look: Observe | None = None,
    expected: Mapping[str, Expected] | None = None,
    leaves_out: bool = True,
) -> Plan:
    return plan(
        survey_of(tables),
        selection,
        now=now,
        environment="test",
        observe=look,
        expected=expected,
        leaves_out=leaves_out,
    )


def fates(made: Plan) -> dict[str, str]:
    return {stage.stage_id: stage.fate.value for stage in made.stages}


def because(made: Plan, stage_id: str) -> str:
    [found] = [stage.because for stage in made.stages if stage.stage_id == stage_id]
    return found


def test_a_plan_says_what_it_was_made_from() -> None:
    made = planned(SHOP, "orders")
    assert (made.revision, made.environment, made.made_at) == (1, "test", NOW)
    assert made.selection == ("orders",)


def test_a_pipeline_that_reads_anothers_dataset_comes_after_it() -> None:
    stage = {"pipeline_id": "a", "stage_order": 1, "source_id": "gold", "target_id": "mart"}
    first = [{**stage, "layer": "gold"}]
    target = [{"target_id": "mart", "location": "shop.mart", "type": "redshift"}]
    made = planned(shop(pipelines=[{"pipeline_id": "a"}], stages=first, targets=target))
    assert list(fates(made)) == [LOAD, CLEAN, SUM, "a-1"]
    assert {stage.stage_id: stage.after for stage in made.stages} == {
        LOAD: (),
        CLEAN: (LOAD,),
        SUM: (CLEAN,),
        "a-1": (SUM,),
    }


def test_a_stage_comes_after_what_its_sql_reads() -> None:
    made = planned(
        shop(
            pipelines=[{"pipeline_id": "a"}],
            stages=[
                {
                    "pipeline_id": "a",
                    "stage_order": 1,
                    "source_id": "raw",
                    "target_id": "wide",
                    "transform_sql": "SELECT raw.id FROM raw JOIN silver USING (id)",
                }
            ],
            targets=[{"target_id": "wide", "location": "s3://shop/wide/", "type": "s3"}],
        )
    )
    assert list(fates(made)).index("a-1") > list(fates(made)).index(CLEAN)


def test_stages_of_a_pipeline_keep_their_order_though_they_share_nothing() -> None:
    made = planned(
        {
            "pipelines": [{"pipeline_id": "p"}],
            "stages": [
                {"pipeline_id": "p", "stage_order": n, "source_id": "raw", "target_id": f"t{n}"}
                for n in (10, 9, 2, 1)
            ],
            "sources": SHOP["sources"],
            "targets": [
                {"target_id": f"t{n}", "location": f"s3://shop/t{n}/", "type": "s3"}
                for n in (10, 9, 2, 1)
            ],
        }
    )
    assert list(fates(made)) == ["p-1", "p-2", "p-9", "p-10"]


def test_without_looking_every_stage_that_nothing_stops_is_ready() -> None:
    made = planned(SHOP)
    assert fates(made) == {LOAD: "ready", CLEAN: "ready", SUM: "ready"}


@pytest.mark.parametrize(
    ("more", "stopped", "says"),
    [
        pytest.param(
            {"pipelines": [{"pipeline_id": "orders", "enabled": False}]},
            {LOAD, CLEAN},
            "pipeline 'orders' is not enabled",
            id="the pipeline's row says so",
        ),
    ],
)
def test_a_pipeline_that_is_not_enabled_stops(
    more: dict[str, Any], stopped: set[str], says: str
) -> None:
    made = planned(shop(**more))
    assert {stage.stage_id for stage in made.of(StageDecision.STOPPED)} == stopped
    assert because(made, LOAD) == says


OFF = {
    "stages": [
        {
            "pipeline_id": "orders",
            "stage_order": 1,
            "source_id": "raw",
            "target_id": "bronze",
            "enabled": False,
        }
    ]
}


def test_a_stage_that_is_not_enabled_is_left_out_and_what_reads_it_runs() -> None:
    made = planned(shop(**OFF))
    assert fates(made) == {LOAD: "left_out", CLEAN: "ready", SUM: "ready"}
    assert because(made, LOAD) == "stage 'orders-1' is not enabled"


def test_a_stage_that_is_not_enabled_stops_a_request_that_is_under_way() -> None:
    made = planned(shop(**OFF), leaves_out=False)
    assert fates(made) == {LOAD: "stopped", CLEAN: "blocked", SUM: "blocked"}


def test_a_flag_stops_a_stage_that_is_not_enabled_as_well() -> None:
    made = planned(shop(**OFF, control_flags=[flag("stage", LOAD)]))
    assert fates(made) == {LOAD: "stopped", CLEAN: "blocked", SUM: "blocked"}


def flag(scope: str, name: str, **more: Any) -> dict[str, Any]:
    row = {"entity_type": scope, "entity_id": name, "flag_name": "enabled", "flag_value": False}
    return {**row, **more}


@pytest.mark.parametrize(
    ("scope", "name", "stopped"),
    [
        ("everything", "*", {LOAD, CLEAN, SUM}),
        ("pipeline", "orders", {LOAD, CLEAN}),
        ("stage", "orders-2", {CLEAN}),
        ("source", "raw", {LOAD}),
        ("source", "silver", {SUM}),
        ("target", "silver", {CLEAN}),
        ("pipeline", "elsewhere", set()),
        ("target", "raw", set()),
    ],
)
def test_a_flag_stops_what_it_stands_on(scope: str, name: str, stopped: set[str]) -> None:
    made = planned(shop(control_flags=[flag(scope, name)]))
    assert {stage.stage_id for stage in made.of(StageDecision.STOPPED)} == stopped


def test_a_flag_says_who_set_it_why_and_until_when() -> None:
    stop = flag("pipeline", "orders", updated_by="ann", reason="a broken feed")
    made = planned(shop(control_flags=[stop | {"ends_at": "2026-02-01 09:30"}]))
    assert because(made, LOAD) == (
        "pipeline 'orders' is switched off by ann until 2026-02-01 09:30 UTC (a broken feed)"
    )


@pytest.mark.parametrize(
    ("starts", "ends", "stops"),
    [
        pytest.param(None, None, True, id="no times: it holds"),
        pytest.param(timedelta(0), None, True, id="from its start on"),
        pytest.param(timedelta(seconds=1), None, False, id="not before its start"),
        pytest.param(None, timedelta(seconds=1), True, id="until its end"),
        pytest.param(None, timedelta(0), False, id="not at its end"),
        pytest.param(timedelta(hours=-2), timedelta(hours=-1), False, id="over"),
        pytest.param(timedelta(hours=-1), timedelta(hours=1), True, id="between"),
    ],
)
def test_a_flag_holds_from_its_start_to_its_end(
    starts: timedelta | None, ends: timedelta | None, stops: bool
) -> None:
    times = {"starts_at": starts, "ends_at": ends}
    period = {name: (NOW + when).isoformat() for name, when in times.items() if when is not None}
    made = planned(shop(control_flags=[flag("everything", "*", **period)]))
    assert bool(made.of(StageDecision.STOPPED)) is stops


@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param({"flag_value": True}, id="a flag that says yes"),
        pytest.param({"flag_name": "paused"}, id="a flag of another name"),
    ],
)
def test_only_an_enabled_flag_that_says_no_stops(harmless: dict[str, Any]) -> None:
    made = planned(shop(control_flags=[flag("pipeline", "orders") | harmless]))
    assert made.of(StageDecision.STOPPED) == []


def test_any_one_place_saying_no_stops() -> None:
    yes = flag("pipeline", "orders", flag_value=True)
    made = planned(
        shop(pipelines=[{"pipeline_id": "orders", "enabled": False}], control_flags=[yes])
    )
    assert fates(made)[LOAD] == "stopped"


def test_what_reads_a_stopped_stages_target_is_blocked_and_so_is_what_reads_that() -> None:
    made = planned(shop(control_flags=[flag("stage", "orders-1")]))
    assert fates(made) == {LOAD: "stopped", CLEAN: "blocked", SUM: "blocked"}
    assert because(made, CLEAN) == "reads what orders-1 writes, and that is stopped"
    assert because(made, SUM) == "reads what orders-2 writes, and that is blocked"


def test_a_stage_is_not_blocked_by_one_that_was_not_asked_for() -> None:
    made = planned(shop(control_flags=[flag("stage", "orders-1")]), "sales")
    assert fates(made) == {SUM: "ready"}
    assert made.stages[0].after == ()


FILES = [
    ListedFile(path=f"s3://shop/raw/{n}.csv", size=100_000, etag=str(n), modified_at=NOW)
    for n in range(3)
]
ONE_SNAPSHOT = TableHistory("1", {"1": TableSnapshot(parent=None, operation="append")})


def look(**empty: bool | None) -> Observe:
    """Observes inputs as they are said to be: new rows, nothing new, or not known yet."""

    def seen(dataset: Dataset) -> SeenInput:
        is_empty = empty[dataset.dataset_id]
        if is_empty is None:
            return SeenWarehouseTable(dataset=dataset)
        if dataset.source is not None:
            return SeenFiles(dataset=dataset, listed=FILES, new=[] if is_empty else FILES)
        return SeenTable(
            dataset=dataset, history=ONE_SNAPSHOT, read_up_to="1" if is_empty else None
        )

    return lambda context: Observed(inputs=tuple(seen(dataset) for dataset in context.inputs))


def test_a_stage_with_something_new_runs_and_what_it_feeds_runs_after_it() -> None:
    made = planned(SHOP, look=look(raw=False, bronze=True, silver=True))
    assert fates(made) == {LOAD: "run", CLEAN: "run", SUM: "run"}
    assert because(made, LOAD) == "raw: 3 new files (0.30 MB)"
    assert because(made, CLEAN) == "after orders-1, if that publishes anything new"


def test_a_stage_with_nothing_new_is_skipped_and_so_is_what_it_feeds() -> None:
    made = planned(SHOP, look=look(raw=True, bronze=True, silver=True))
    assert fates(made) == {LOAD: "skip", CLEAN: "skip", SUM: "skip"}
    assert because(made, LOAD) == "nothing new of its inputs (raw: no new files of 3)"


def test_a_later_stage_runs_for_what_is_left_over_of_an_earlier_time() -> None:
    made = planned(SHOP, look=look(raw=True, bronze=True, silver=False))
    assert fates(made) == {LOAD: "skip", CLEAN: "skip", SUM: "run"}


def test_sql_that_asks_for_the_time_always_runs() -> None:
    stage = {**SHOP["stages"][2], "transform_sql": "SELECT *, current_date AS day FROM silver"}
    made = planned(shop(stages=[stage]), "sales", look=look(silver=True))
    assert fates(made) == {SUM: "run"}
    assert because(made, SUM) == "its SQL asks for current_date, so it always runs"


def test_what_cannot_be_known_before_is_ready() -> None:
    made = planned(SHOP, "sales", look=look(silver=None))
    assert fates(made) == {SUM: "ready"}
    assert because(made, SUM).startswith("silver: a warehouse table")


def test_inputs_of_stopped_and_blocked_stages_are_not_looked_at() -> None:
    made = planned(
        shop(control_flags=[flag("stage", "orders-1")]), look=look(silver=False)
    )  # a look at raw or bronze would raise
    assert fates(made) == {LOAD: "stopped", CLEAN: "blocked", SUM: "blocked"}


def test_a_plan_expects_what_history_says() -> None:
    rows = Expected(rows=100.0, bytes=None, seconds=2.5, from_runs=3)
    made = planned(SHOP, expected={LOAD: rows})
    assert [stage.expected for stage in made.stages] == [rows, None, None]


#: A stage that names no target is an error of integrity.
BROKEN = {"pipeline_id": "broken", "stage_order": 1, "source_id": "raw"}


def with_an_error(**more: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return shop(pipelines=[{"pipeline_id": "broken"}], stages=[BROKEN], **more)


def test_an_error_stops_a_plan_of_everything() -> None:
    with pytest.raises(CatalogHasErrors, match="names no target"):
        planned(with_an_error())


def test_an_error_of_another_pipeline_does_not_stop_a_selection() -> None:
    assert fates(planned(with_an_error(), "orders")) == {LOAD: "ready", CLEAN: "ready"}


def test_an_error_of_the_selected_pipeline_stops_it() -> None:
    with pytest.raises(CatalogHasErrors) as raised:
        planned(with_an_error(), "broken")
    assert [finding.code for finding in raised.value.findings] == ["StageWithoutTarget"]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(
            {"targets": [{"target_id": "bronze", "location": "s3://x/", "type": "tape"}]},
            id="target",
        ),
        pytest.param(
            {"sources": [{"source_id": "raw", "s3_path": "s3://x/", "file_format": "stone"}]},
            id="source",
        ),
        pytest.param(
            {
                "dataset_lineage": [
                    {
                        "from_dataset_id": "raw",
                        "to_dataset_id": "bronze",
                        "transformation_sql": "SELECT FROM WHERE (",
                    }
                ]
            },
            id="edge",
        ),
        pytest.param(
            {"pipelines": [{"pipeline_id": "orders", "schedule": "0 0 30 2 *"}]}, id="pipeline"
        ),
    ],
)
def test_an_error_in_a_row_a_stage_depends_on_stops_that_stage_and_no_other(
    wrong: dict[str, Any],
) -> None:
    tables = shop(**wrong)
    assert survey_of(tables).errors
    with pytest.raises(CatalogHasErrors):
        planned(tables, "orders")
    assert fates(planned(tables, "sales")) == {SUM: "ready"}


def test_an_error_that_no_stage_has_to_do_with_stops_a_plan_of_everything_only() -> None:
    tables = shop(
        throttles=[
            {
                "throttle_id": "t",
                "entity_type": "source",
                "entity_id": "raw",
                "metric": "records_per_minute",
                "threshold": 0.0,
            }
        ]
    )
    assert [error.code for error in survey_of(tables).errors] == ["ThrottleOfZero"]
    assert fates(planned(tables, "sales")) == {SUM: "ready"}
    with pytest.raises(CatalogHasErrors):
        planned(tables)


def test_warnings_are_in_the_plan_and_stop_nothing() -> None:
    made = planned(
        shop(
            validation_rules=[
                {"rule_set_id": "unused", "check_def": [{"type": "row_count", "min": 1}]}
            ]
        )
    )
    assert "UnusedRuleSet" in {finding.code for finding in made.findings}


def test_many_errors_are_cut_to_what_a_person_reads() -> None:
    many = [{"pipeline_id": "broken", "stage_order": n, "source_id": "raw"} for n in range(30)]
    with pytest.raises(CatalogHasErrors, match="and 10 more"):
        planned(shop(pipelines=[{"pipeline_id": "broken"}], stages=many), "broken")
