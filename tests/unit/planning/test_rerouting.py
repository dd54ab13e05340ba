"""Re-routing a plan: which ways stages take while datasets are down."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from goldsmith.planning import planner
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.plan import StageDecision
from goldsmith.planning.rerouting import ReroutedPlan, reroute_plan
from goldsmith.planning.routes import route_of
from goldsmith.planning.stage_context import Dataset
from unit.planning.test_routes import example, index_of

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def rerouted(
    index: CatalogIndex, down: Mapping[str, str], selection: str = "orders", **more: Any
) -> ReroutedPlan:
    plan = planner.plan(index, [selection], now=NOW, environment="test")

    def is_down(dataset: Dataset) -> str | None:
        return down.get(dataset.dataset_id)

    return reroute_plan(plan, index, is_down, NOW, **more)


def fates(found: ReroutedPlan) -> dict[str, str]:
    return {stage.stage_id: str(stage.fate) for stage in found.plan.stages}


def merge(pipeline: str, order: int, source: str, target: str, **more: Any) -> dict[str, Any]:
    return {
        "pipeline_id": pipeline,
        "stage_order": order,
        "source_id": source,
        "target_id": target,
        "write_mode": "merge",
        "keys": ["order_id"],
        **more,
    }


def with_partner(**more: Any) -> CatalogIndex:
    """The example, and a partner's feed: raw_partner → bronze_partner → (an edge) bronze_orders."""
    tables = example()
    tables["pipelines"].append({"pipeline_id": "partner", **more})
    tables["sources"].append(
        {"source_id": "raw_partner", "s3_path": "s3://partner/", "file_format": "csv"}
    )
    tables["targets"].append(
        {"target_id": "bronze_partner", "location": "s3://lake/partner/", "type": "s3"}
    )
    tables["stages"].append(merge("partner", 1, "raw_partner", "bronze_partner"))
    tables["dataset_lineage"].append(
        {"from_dataset_id": "bronze_partner", "to_dataset_id": "bronze_orders"}
    )
    return index_of(tables)


def test_nothing_changes_while_every_source_is_healthy() -> None:
    found = rerouted(with_partner(), {})
    assert (found.detours, found.unserved) == ({}, ())
    assert set(fates(found).values()) == {"ready"}


def test_what_people_wrote_comes_before_what_is_cheaper() -> None:
    tables = example()
    tables["sources"].append(
        {"source_id": "raw_cheap", "s3_path": "s3://cheap/", "file_format": "jsonl"}
    )
    tables["dataset_lineage"].append(
        {"from_dataset_id": "raw_cheap", "to_dataset_id": "bronze_orders", "cost": 0.1}
    )
    written = rerouted(index_of(tables), {"raw_orders": "gone"})
    assert written.detours["orders-1"].datasets == ("raw_orders_alt", "bronze_orders")
    tables["dataset_recovery_paths"] = []
    cheapest = rerouted(index_of(tables), {"raw_orders": "gone"})
    assert cheapest.detours["orders-1"].datasets == ("raw_cheap", "bronze_orders")


def test_a_longer_detour_runs_the_stages_along_it_first() -> None:
    found = rerouted(with_partner(), {"raw_orders": "gone", "raw_orders_alt": "gone too"})
    detour = found.detours["orders-1"]
    assert detour.datasets == ("raw_partner", "bronze_partner", "bronze_orders")
    assert detour.cost == 2.0
    names = [stage.stage_id for stage in found.plan.stages]
    assert names == ["partner-1", "orders-1", "orders-2", "orders-3"]
    first = found.plan.stages[1]
    assert first.after == ("partner-1",)
    assert route_of(first.context) == "raw_partner,bronze_partner,bronze_orders"


def test_a_stage_on_the_way_takes_its_own_detour() -> None:
    index = with_partner()
    tables = [
        {"from_dataset_id": "raw_mirror", "to_dataset_id": "bronze_partner", "cost": 5.0},
    ]
    rows = example()
    rows["pipelines"].append({"pipeline_id": "partner"})
    rows["sources"] += [
        {"source_id": "raw_partner", "s3_path": "s3://partner/", "file_format": "csv"},
        {"source_id": "raw_mirror", "s3_path": "s3://mirror/", "file_format": "csv"},
    ]
    rows["targets"].append(
        {"target_id": "bronze_partner", "location": "s3://lake/partner/", "type": "s3"}
    )
    rows["stages"].append(merge("partner", 1, "raw_partner", "bronze_partner"))
    rows["dataset_lineage"] += [
        {"from_dataset_id": "bronze_partner", "to_dataset_id": "bronze_orders"},
        *tables,
    ]
    index = index_of(rows)
    down = dict.fromkeys(("raw_orders", "raw_orders_alt", "raw_partner"), "gone")
    found = rerouted(index, down)
    assert found.detours["orders-1"].datasets == ("raw_mirror", "bronze_partner", "bronze_orders")
    assert found.plan.stages[0].context.stage.source_id == "raw_mirror"
    assert route_of(found.plan.stages[0].context) == "raw_mirror,bronze_partner"


def test_a_stopped_stage_is_on_no_way() -> None:
    index = with_partner(enabled=False)
    found = rerouted(index, {"raw_orders": "gone", "raw_orders_alt": "gone too"})
    assert found.detours == {}
    [missing] = [u for u in found.unserved if u.stage_id == "orders-1"]
    assert sorted(missing.others) == [
        "bronze_partner: no stage that makes bronze_partner may run",
        "raw_orders_alt: raw_orders_alt is down (gone too)",
    ]


def test_the_other_inputs_of_a_way_must_be_healthy_too() -> None:
    tables = example()
    tables["sources"].append({"source_id": "prices", "s3_path": "s3://p/", "file_format": "csv"})
    tables["stages"][0]["transform_sql"] = (
        "SELECT o.order_id FROM raw_orders o JOIN prices p ON o.sku = p.sku"
    )
    found = rerouted(index_of(tables), {"raw_orders": "gone", "prices": "moved"})
    [missing] = [u for u in found.unserved if u.stage_id == "orders-1"]
    assert missing.others == ("raw_orders_alt: prices is down (moved)",)


def test_a_stage_without_another_way_is_left_out_if_its_readers_have_one() -> None:
    tables = example(dataset_recovery_paths=[])
    tables["dataset_lineage"] = [
        {"from_dataset_id": "bronze_copy", "to_dataset_id": "silver_orders"}
    ]
    tables["sources"].append(
        {"source_id": "bronze_copy", "s3_path": "s3://copy/", "file_format": "parquet"}
    )
    found = rerouted(index_of(tables), {"raw_orders": "gone"})
    assert [(u.stage_id, u.bypassed) for u in found.unserved] == [("orders-1", True)]
    assert fates(found)["orders-1"] == StageDecision.LEFT_OUT
    assert found.detours["orders-2"].reads == "bronze_copy"
    [second] = [stage for stage in found.plan.stages if stage.stage_id == "orders-2"]
    assert second.after == ()


def test_a_stage_without_any_other_way_fails_as_before() -> None:
    tables = example(dataset_lineage=[], dataset_recovery_paths=[])
    found = rerouted(index_of(tables), {"raw_orders": "gone"})
    assert (found.detours, found.unserved) == ({}, ())


def test_a_source_that_a_drill_cuts_off_is_not_read_by_any_stage() -> None:
    tables = example(dataset_lineage=[], dataset_recovery_paths=[])
    down = {"raw_orders": "cut off by a drill"}
    found = rerouted(index_of(tables), down, cut=["raw_orders"])
    unserved = [(u.stage_id, u.source) for u in found.unserved]
    assert unserved == [
        ("orders-1", "raw_orders"),
        ("orders-2", "bronze_orders"),
        ("orders-3", "silver_orders"),
    ]
