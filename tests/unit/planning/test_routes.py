"""The lineage graph of catalog rows, and the stage that runs along an edge."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from goldsmith.catalog.edges import Edge
from goldsmith.lineage.paths import find_paths
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.lineage_graph import lineage_graph
from goldsmith.planning.routes import route_context, why_it_would_double
from goldsmith.planning.sql import SqlReader
from unit.planning.rows import rows_of, snapshot

NOW = datetime(2026, 11, 18, tzinfo=UTC)
EXAMPLE = Path(__file__).parents[3] / "examples/recovery/catalog.yaml"


def index_of(tables: Any) -> CatalogIndex:
    rows = snapshot(rows_of(tables))
    return CatalogIndex(rows, SqlReader(rows.dataset_ids))


def example(**more: Any) -> dict[str, Any]:
    return {**yaml.safe_load(EXAMPLE.read_text("utf-8")), **more}


def test_the_example_has_two_ways_and_no_finding() -> None:
    index = index_of(example())
    found = find_paths(lineage_graph(index, now=NOW), "gold_orders", only_running=True)
    assert [path.starts for path in found.cheapest] == [("raw_orders",), ("raw_orders_alt",)]
    assert index.findings == ()


def test_an_edge_runs_the_targets_stage_with_its_input_in_place_of_the_source() -> None:
    tables = example()
    tables["stages"][0]["transform_sql"] = "SELECT raw_orders.order_id FROM raw_orders"
    index = index_of(tables)
    edge = index.rows.get(Edge, "raw_orders_alt", "bronze_orders")
    assert edge is not None
    context = route_context(index, edge)
    assert context is not None
    assert context.stage_id == "orders-1"
    assert [dataset.dataset_id for dataset in context.inputs] == ["raw_orders_alt"]
    assert context.resolved.sql == (
        "SELECT raw_orders.order_id FROM `raw_orders_alt` AS raw_orders"
    )
    assert (context.resolved.write_mode, tuple(context.stage.keys)) == ("merge", ("order_id",))


def test_an_edge_with_sql_of_its_own_runs_that() -> None:
    sql = "SELECT id AS order_id FROM raw_orders_alt"
    tables = example()
    tables["dataset_lineage"][1]["transformation_sql"] = sql
    index = index_of(tables)
    edge = index.rows.get(Edge, "raw_orders_alt", "bronze_orders")
    assert edge is not None
    context = route_context(index, edge)
    assert context is not None
    assert context.resolved.sql == sql


def test_a_join_on_a_route_still_needs_its_other_inputs() -> None:
    tables = example()
    tables["sources"].append({"source_id": "customers", "s3_path": "s3://c/", "file_format": "csv"})
    tables["stages"][0]["transform_sql"] = (
        "SELECT o.order_id FROM raw_orders o JOIN customers c ON o.customer = c.id"
    )
    graph = lineage_graph(index_of(tables), now=NOW)
    down = ["raw_orders", "customers"]
    assert find_paths(graph, "bronze_orders", forbidden=["raw_orders"]).count == 1
    assert find_paths(graph, "bronze_orders", forbidden=down).count == 0


def test_an_edge_to_a_dataset_that_no_stage_writes_is_no_route() -> None:
    tables = example(stages=[])
    graph = lineage_graph(index_of(tables), now=NOW)
    assert find_paths(graph, "gold_orders").count == 2
    assert find_paths(graph, "gold_orders", only_running=True).count == 0


def test_keys_or_an_overwrite_keep_rows_from_being_there_twice() -> None:
    index = index_of(example())
    stage = index.stages["orders-1"].stage
    assert why_it_would_double(stage, "merge", "new") is None
    assert why_it_would_double(stage.with_(keys=()), "overwrite", "all") is None
    assert "append" in str(why_it_would_double(stage, "append", "new"))
