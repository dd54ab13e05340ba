"""What the routes of the lineage answer: neighbours, impact, ways, rehearsals, files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goldsmith.catalog.edges import ColumnLineage
from goldsmith.journal.access_tables import Role
from goldsmith.runtime import Runtime


def test_neighbours_come_nearest_first_in_pages(connect: Any) -> None:
    client = connect(Role.VIEWER)
    address = "/api/v1/lineage/gold_orders/up"
    first = client.get(address, params={"limit": 1}).json()
    assert first["items"] == [{"dataset_id": "bronze_orders", "distance": 1, "layer": "bronze"}]
    rest = client.get(address, params={"cursor": first["next"]}).json()
    assert [row["dataset_id"] for row in rest["items"]] == ["raw_orders"]
    assert rest["next"] is None
    nearest = client.get("/api/v1/lineage/raw_orders/down", params={"depth": 1}).json()
    assert [row["dataset_id"] for row in nearest["items"]] == ["bronze_orders"]
    raw = client.get(address, params={"layer": "raw"}).json()
    assert [row["dataset_id"] for row in raw["items"]] == ["raw_orders"]


def test_columns_are_shown_as_declared(connect: Any, runtime: Runtime) -> None:
    row = ColumnLineage(
        from_dataset_id="raw_orders",
        from_column="price",
        to_dataset_id="bronze_orders",
        to_column="cents",
    )
    with runtime.catalog.change(actor="test") as change:
        change.put([row])
    client = connect(Role.VIEWER)
    up = client.get("/api/v1/lineage/bronze_orders/columns").json()["items"]
    assert [(step["from_column"], step["to_column"]) for step in up] == [("price", "cents")]
    down = client.get("/api/v1/lineage/raw_orders/columns", params={"down": True}).json()["items"]
    assert down == up
    missing = client.get("/api/v1/lineage/bronze_orders/columns", params={"column": "x"})
    assert (missing.status_code, missing.json()["code"]) == (404, "UnknownName")


def test_an_impact_counts_all_and_lists_a_page(connect: Any) -> None:
    client = connect(Role.VIEWER)
    address = "/api/v1/lineage/raw_orders/impact"
    first = client.get(address, params={"limit": 1}).json()
    assert (first["lost"], first["other"]) == (2, 0)
    rest = client.get(address, params={"limit": 1, "cursor": first["next"]}).json()
    found = [(row["dataset_id"], row["outcome"]) for row in first["items"] + rest["items"]]
    assert found == [("bronze_orders", "lost"), ("gold_orders", "lost")]


def test_hotspots_rank_what_most_depends_on(connect: Any) -> None:
    found = connect(Role.VIEWER).get("/api/v1/lineage/hotspots", params={"most": 1}).json()
    assert [(spot["dataset_id"], spot["dependants"]) for spot in found] == [("raw_orders", 2)]


def test_ways_are_counted_and_those_through_what_is_down_are_left_out(connect: Any) -> None:
    client = connect(Role.VIEWER)
    address = "/api/v1/datasets/gold_orders/paths"
    found = client.get(address).json()
    assert found["count"] == 1
    [way] = found["paths"]
    assert way["path_sequence"] == "raw_orders,bronze_orders,gold_orders"
    assert way["healthy"] is True
    without = client.get(address, params={"down": "raw_orders"}).json()
    assert (without["count"], without["paths"]) == (0, [])


def test_a_rehearsal_runs_nothing_and_says_what_is_not_served(connect: Any) -> None:
    client = connect(Role.VIEWER)
    found = client.get("/api/v1/drill", params={"down": "raw_orders"}).json()
    assert found["live"] is False
    assert found["down"] == ["raw_orders"]
    assert {line["dataset_id"] for line in found["datasets"]} == {"bronze_orders", "gold_orders"}
    assert client.get("/api/v1/requests").json() == []
    assert client.get("/api/v1/drill").status_code == 422


@pytest.mark.parametrize("format_", ["json", "mermaid", "dot", "graphml", "cypher", "html"])
def test_an_export_is_a_file_of_its_format(connect: Any, format_: str) -> None:
    query = {"format": format_, "dataset": "raw_visits"}
    answer = connect(Role.VIEWER).get("/api/v1/lineage/export", params=query)
    assert answer.status_code == 200
    assert f'filename="lineage.{format_}"' in answer.headers["content-disposition"]
    assert "bronze_visits" in answer.text
    assert "orders" not in answer.text
    if format_ == "json":
        assert json.loads(answer.text)["datasets"]


@pytest.mark.parametrize(
    "path",
    [
        "lineage/nowhere/up",
        "lineage/nowhere/down",
        "lineage/nowhere/columns",
        "lineage/nowhere/impact",
        "lineage/raw_orders/impact?also=nowhere",
        "lineage/export?dataset=nowhere",
        "datasets/nowhere/paths",
        "datasets/gold_orders/paths?down=nowhere",
        "drill?down=nowhere",
    ],
)
def test_a_dataset_that_is_not_there_is_a_404(connect: Any, path: str) -> None:
    answer = connect(Role.VIEWER).get(f"/api/v1/{path}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    "path",
    [
        "lineage/raw_orders/up",
        "lineage/raw_orders/impact",
        "lineage/hotspots",
        "lineage/export",
        "datasets/gold_orders/paths",
        "drill?down=raw_orders",
    ],
)
def test_a_limited_key_does_not_see_the_lineage_of_others(connect: Any, path: str) -> None:
    answer = connect(Role.ADMIN, only=("tag:finance",)).get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["code"]) == (403, "KeyIsLimited")
