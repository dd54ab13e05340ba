"""Selections: which stages somebody means by a few words."""

from __future__ import annotations

import pytest

from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.selection import NothingSelected, select
from goldsmith.planning.sql import SqlReader
from unit.planning.rows import Tables, rows_of, snapshot

#: raw → bronze → silver in `orders`; silver → gold in `sales`; gold, users → mart in `mart`.
SHOP: Tables = {
    "pipelines": [
        {"pipeline_id": "orders", "tags": "finance, daily"},
        {"pipeline_id": "sales", "tags": "finance"},
        {"pipeline_id": "mart"},
        {"pipeline_id": "empty", "tags": "finance"},
    ],
    "stages": [
        {
            "pipeline_id": "orders",
            "stage_order": 1,
            "stage_name": "load",
            "source_id": "raw",
            "target_id": "bronze",
        },
        {
            "pipeline_id": "orders",
            "stage_order": 2,
            "stage_name": "clean",
            "source_id": "bronze",
            "target_id": "silver",
        },
        {
            "pipeline_id": "sales",
            "stage_order": 1,
            "stage_name": "sum.up",
            "source_id": "silver",
            "target_id": "gold",
        },
        {
            "pipeline_id": "mart",
            "stage_order": 1,
            "stage_name": "join",
            "source_id": "gold",
            "target_id": "mart.wide",
            "layer": "gold",
            "transform_sql": "SELECT * FROM gold JOIN users USING (id)",
        },
    ],
    "sources": [{"source_id": "raw"}, {"source_id": "users"}, {"source_id": "lonely"}],
    "targets": [
        {"target_id": "bronze"},
        {"target_id": "silver"},
        {"target_id": "gold"},
        {"target_id": "mart.wide"},
    ],
}
LOAD, CLEAN, SUM, JOIN = "orders-1", "orders-2", "sales-1", "mart-1"


def survey_of(tables: Tables) -> CatalogIndex:
    rows = snapshot(rows_of(tables))
    return CatalogIndex(rows, SqlReader(rows.dataset_ids))


@pytest.fixture(scope="module")
def shop() -> CatalogIndex:
    return survey_of(SHOP)


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        ("orders", {LOAD, CLEAN}),
        ("pipeline:orders", {LOAD, CLEAN}),
        ("silver", {CLEAN}),
        ("dataset:silver", {CLEAN}),
        ("mart.wide", {JOIN}),
        ("raw", {LOAD}),
        ("users", {JOIN}),
        ("orders.clean", {CLEAN}),
        ("sales.sum.up", {SUM}),
        ("stage:orders.clean", {CLEAN}),
        ("stage:orders-2", {CLEAN}),
        ("tag:finance", {LOAD, CLEAN, SUM}),
        ("tag:daily", {LOAD, CLEAN}),
        ("layer:bronze", {LOAD}),
        ("layer:gold", {SUM, JOIN}),
        ("+silver", {LOAD, CLEAN}),
        ("+gold", {LOAD, CLEAN, SUM}),
        ("1+gold", {CLEAN, SUM}),
        ("bronze+", {LOAD, CLEAN, SUM, JOIN}),
        ("bronze+1", {LOAD, CLEAN}),
        ("bronze+2", {LOAD, CLEAN, SUM}),
        ("bronze+0", {LOAD}),
        ("1+silver+1", {LOAD, CLEAN, SUM}),
        ("+silver+", {LOAD, CLEAN, SUM, JOIN}),
        ("+pipeline:sales", {LOAD, CLEAN, SUM}),
        ("tag:daily+", {LOAD, CLEAN, SUM, JOIN}),
        ("layer:bronze+1", {LOAD, CLEAN}),
        ("raw+", {LOAD, CLEAN, SUM, JOIN}),
    ],
)
def test_these_words_mean_these_stages(selector: str, meant: set[str], shop: CatalogIndex) -> None:
    assert set(select(shop, [selector])) == meant


def test_no_words_mean_everything_in_order(shop: CatalogIndex) -> None:
    assert select(shop, []) == (LOAD, CLEAN, SUM, JOIN)


def test_several_words_mean_all_of_them_each_stage_once_in_order(shop: CatalogIndex) -> None:
    assert select(shop, ["gold", "orders", "+silver"]) == (LOAD, CLEAN, SUM)


def test_a_bare_word_is_a_pipeline_before_it_is_a_dataset() -> None:
    both = survey_of(
        {
            "stages": [
                {"pipeline_id": "a", "stage_order": 1, "target_id": "b"},
                {"pipeline_id": "b", "stage_order": 1, "target_id": "c"},
            ],
            "targets": [{"target_id": "b"}, {"target_id": "c"}],
        }
    )
    assert select(both, ["b"]) == ("b-1",)
    assert select(both, ["dataset:b"]) == ("a-1",)


def test_a_dataset_of_that_very_id_comes_before_a_stage_of_a_pipeline() -> None:
    both = survey_of(
        {
            "stages": [
                {"pipeline_id": "a", "stage_order": 1, "stage_name": "b", "target_id": "x"},
                {"pipeline_id": "c", "stage_order": 1, "target_id": "a.b"},
            ],
            "targets": [{"target_id": "a.b"}],
        }
    )
    assert select(both, ["a.b"]) == ("c-1",)
    assert select(both, ["stage:a.b"]) == ("a-1",)


def test_an_id_may_hold_plus_signs_colons_and_digits_of_its_own() -> None:
    odd = survey_of(
        {
            "stages": [
                {"pipeline_id": "c++", "stage_order": 1, "target_id": "x"},
                {"pipeline_id": "2+2", "stage_order": 1, "source_id": "x", "target_id": "y"},
                {"pipeline_id": "a:b", "stage_order": 1, "target_id": "z"},
            ],
        }
    )
    assert select(odd, ["c++"]) == ("c++-1",)
    assert select(odd, ["2+2"]) == ("2+2-1",)
    assert select(odd, ["a:b"]) == ("a:b-1",)
    assert select(odd, ["c+++1"]) == ("c++-1", "2+2-1")


def test_what_goes_in_circles_is_selected_once() -> None:
    circle = survey_of(
        {
            "stages": [
                {"pipeline_id": "a", "stage_order": 1, "source_id": "y", "target_id": "x"},
                {"pipeline_id": "b", "stage_order": 1, "source_id": "x", "target_id": "y"},
            ],
        }
    )
    assert set(select(circle, ["+a"])) == {"a-1", "b-1"}
    assert set(select(circle, ["a+"])) == {"a-1", "b-1"}


@pytest.mark.parametrize(
    "selector",
    [
        "nothing",
        "+nothing",
        "nothing+2",
        "tag:none",
        "layer:tin",
        "stage:orders.none",
        "",
        "+",
        "tag:",
    ],
)
def test_words_for_nothing_are_refused_with_the_names_there_are(
    selector: str, shop: CatalogIndex
) -> None:
    with pytest.raises(NothingSelected) as raised:
        select(shop, [selector])
    assert "orders" in raised.value.hint


def test_a_misspelt_name_is_answered_with_the_nearest_one(shop: CatalogIndex) -> None:
    with pytest.raises(NothingSelected, match="'ordres'") as raised:
        select(shop, ["+ordres"])
    assert "Did you mean 'orders'?" in raised.value.hint


def test_an_empty_catalog_says_that_it_is_empty() -> None:
    with pytest.raises(NothingSelected) as raised:
        select(survey_of({}), ["orders"])
    assert raised.value.hint.startswith("The catalog is empty.")
    assert select(survey_of({}), []) == ()


def test_a_pipeline_without_stages_is_there_and_means_no_stages(shop: CatalogIndex) -> None:
    assert select(shop, ["empty"]) == ()
    assert select(shop, ["pipeline:empty"]) == ()


def test_a_dataset_that_no_stage_uses_is_there_and_means_no_stages(shop: CatalogIndex) -> None:
    assert select(shop, ["lonely"]) == ()
