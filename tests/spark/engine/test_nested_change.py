"""New fields inside structs, arrays and maps go as the schema policy says; a failed run keeps no
schema."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

from goldsmith.engine import faults
from spark.engine.conftest import Bench

BRONZE = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@", SAID}
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "DECLARED"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
"""
BEFORE = (
    "id BIGINT, s STRUCT<a: INT>, l ARRAY<STRUCT<a: INT>>, m MAP<STRING, STRUCT<a: INT>>,"
    " deep ARRAY<STRUCT<x: MAP<STRING, STRUCT<q: INT>>>>"
)
AFTER = (
    "id BIGINT, s STRUCT<b: STRING, a: BIGINT>, l ARRAY<STRUCT<a: INT, `b.c d`: STRING>>,"
    " m MAP<STRING, STRUCT<a: INT, b: STRUCT<z: STRING>>>,"
    " deep ARRAY<STRUCT<x: MAP<STRING, STRUCT<r: STRING, q: INT>>>>"
)
FIRST = {"id": 1, "s": {"a": 1}, "l": [{"a": 1}], "m": {"k": {"a": 1}}, "deep": []}
#: Row 2 has every new field, row 3 has none of them.
SECOND = {
    "id": 2,
    "s": {"a": 2, "b": "new"},
    "l": [{"a": 2}, {"a": 3, "b.c d": "new"}],
    "m": {"k": {"a": 2, "b": {"z": "new"}}},
    "deep": [{"x": {"k": {"q": 2, "r": "new"}}}],
}
THIRD = {"id": 3, "s": None, "l": [{"a": 3}, None], "m": {"k": None}, "deep": [{"x": None}]}


def declared(schema: str, settings: str = "") -> str:
    return BRONZE.replace("DECLARED", schema).replace(", SAID", settings and f", {settings}")


def values(bench: Bench, *, nulls: bool = False) -> dict[int, Any]:
    """Published rows by id, as plain values; fields of NULL are left out."""
    rows = bench.spark.table(f"lake.bronze.bronze_{bench.tag}")
    texts = rows.selectExpr(
        "id", f"to_json(struct(s, l, m, deep), map('ignoreNullFields', '{str(not nulls).lower()}'))"
    ).collect()
    return {row[0]: json.loads(row[1]) for row in texts}


def without(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its new fields."""
    text = json.dumps({name: value for name, value in row.items() if name != "id"})
    for new in (', "b": "new"', ', "b.c d": "new"', ', "b": {"z": "new"}', ', "r": "new"'):
        text = text.replace(new, "")
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("append", marks=pytest.mark.soak),
        "merge",
        pytest.param("scd2", marks=pytest.mark.soak),
    ],
)
def test_evolve_adds_fields_inside_structs_arrays_and_maps(bench: Bench, mode: str) -> None:
    settings = (
        f"write_mode: {mode}, keys: [id]" if mode in ("merge", "scd2") else f"write_mode: {mode}"
    )
    bench.apply(declared(BEFORE, settings))
    bench.bring("a.jsonl", FIRST)
    bench.run()
    bench.apply(declared(AFTER, settings))
    bench.bring("b.jsonl", SECOND, THIRD)
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    found = values(bench)
    assert found[2] == {name: value for name, value in SECOND.items() if name != "id"}
    assert found[1] == {name: value for name, value in FIRST.items() if name != "id"}
    assert values(bench, nulls=True)[3]["s"] is None  # a struct that is NULL stays NULL
    assert values(bench, nulls=True)[3]["l"][1] is None
    # Files of before are read as ever.
    bench.apply(declared(BEFORE, settings))
    bench.bring("c.jsonl", {**FIRST, "id": 4})
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    assert values(bench)[4] == {name: value for name, value in FIRST.items() if name != "id"}


def test_freeze_refuses_a_field_inside_and_says_which(bench: Bench) -> None:
    bench.apply(declared(BEFORE, "schema_policy: freeze"))
    bench.bring("a.jsonl", FIRST)
    bench.run()
    bench.apply(declared(AFTER, "schema_policy: freeze"))
    bench.bring("b.jsonl", SECOND)
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "SchemaMismatch")
    for difference in (
        "field 's.b' (string) is new",
        "field 's.a' is bigint and the target's is int",
        "field 'l.element.b.c d' (string) is new",
        "field 'm.value.b' (struct<z:string>) is new",
        "field 'deep.element.x.value.r' (string) is new",
    ):
        assert difference in str(done.error_message)
    assert sorted(values(bench)) == [1]


def test_discard_value_leaves_the_new_fields_out(bench: Bench) -> None:
    bench.apply(declared(BEFORE, "schema_policy: discard_value"))
    bench.bring("a.jsonl", FIRST)
    bench.run()
    bench.apply(declared(AFTER, "schema_policy: discard_value"))
    bench.bring("b.jsonl", SECOND, THIRD, {"id": 5, "s": {"a": 2**40, "b": "x"}})
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    found = values(bench)
    assert found[2] == without(SECOND)
    assert found[5] == {"s": {}}  # the number is no INT
    assert done.rows_dropped == 0


def test_discard_row_leaves_rows_out_that_have_a_new_field_or_no_value_of_the_type(
    bench: Bench,
) -> None:
    bench.apply(declared(BEFORE, "schema_policy: discard_row"))
    bench.bring("a.jsonl", FIRST)
    bench.run()
    bench.apply(declared(AFTER, "schema_policy: discard_row"))
    parts = [
        {"id": number, name: SECOND[name]}
        for number, name in enumerate(("s", "l", "m", "deep"), start=10)
    ]
    bench.bring("b.jsonl", THIRD, {"id": 4, "s": {"a": 4}}, {"id": 5, "s": {"a": 2**40}}, *parts)
    done = bench.run()[1]
    assert (done.status, done.rows_dropped) == ("succeeded", 5), done.error_message
    assert sorted(values(bench)) == [1, 3, 4]


@pytest.mark.parametrize("policy", ["discard_value", "discard_row"])
def test_a_struct_where_a_number_was_is_a_value_of_another_type(bench: Bench, policy: str) -> None:
    bench.apply(declared("id BIGINT, s INT", f"schema_policy: {policy}"))
    bench.bring("a.jsonl", {"id": 1, "s": 1})
    bench.run()
    bench.apply(declared("id BIGINT, s STRUCT<a: INT>", f"schema_policy: {policy}"))
    bench.bring("b.jsonl", {"id": 2, "s": {"a": 1}}, {"id": 3})
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    kept = [(1, 1), (2, None), (3, None)] if policy == "discard_value" else [(1, 1), (3, None)]
    rows = bench.spark.table(f"lake.bronze.bronze_{bench.tag}").select("id", "s").collect()
    assert sorted(map(tuple, rows)) == kept


INFERRED = declared("").replace('    declared_schema: ""\n', "")


def kept(bench: Bench) -> list[tuple[Any, ...]]:
    return bench.sql("SELECT schema_json FROM kept_schemas WHERE dataset_id = 'raw_@'")


def test_an_inferred_schema_takes_new_fields_inside(bench: Bench) -> None:
    bench.apply(INFERRED)
    bench.bring("a.jsonl", FIRST)
    bench.run()
    bench.bring("b.jsonl", {**SECOND, "l": None})
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    rows = bench.spark.table(f"lake.bronze.bronze_{bench.tag}")
    assert {tuple(row) for row in rows.select("id", "s.b").collect()} == {(1, None), (2, "new")}


def test_a_run_that_fails_keeps_no_schema_and_the_next_one_goes_by_what_it_reads(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(INFERRED)
    bench.bring("a.jsonl", {"id": "seven"})

    def fail(point: str) -> None:
        if point == "before-publish":
            raise OSError("the power went")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(faults, "reach", fail)
        assert bench.run()[1].status == "failed"
    assert kept(bench) == []
    bench.run(limit=1)
    assert kept(bench) == []
    bench.bring("a.jsonl", {"id": 7})
    done = bench.run(full_refresh=True)[1]
    assert done.status == "succeeded", done.error_message
    assert bench.rows("bronze", "id") == [(7,)]
    assert '"long"' in kept(bench)[0][0]


def test_a_schema_is_kept_though_the_record_is_completed_by_somebody_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(INFERRED)
    bench.bring("a.jsonl", {"id": 1.5})

    def fail(point: str) -> None:
        if point == "published":
            raise OSError("the power went")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(faults, "reach", fail)
        bench.run()
    bench.bring("b.jsonl", {"id": 2})
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    assert '"double"' in kept(bench)[0][0]
    assert bench.rows("bronze", "id") == [(1.5,), (2.0,)]


def test_a_column_of_a_failed_run_that_is_of_another_type_later_does_not_block(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(INFERRED)
    bench.bring("a.jsonl", {"id": 1, "s": {"a": 1}})
    bench.run()
    bench.bring("b.jsonl", {"id": 2, "s": {"a": 2, "b": "x"}, "new": "x"})

    def fail(point: str) -> None:
        if point == "before-publish":
            raise OSError("the power went")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(faults, "reach", fail)
        assert bench.run()[1].status == "failed"
    bench.bring("b.jsonl", {"id": 2, "s": {"a": 2, "b": 5}, "new": 5})
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    rows = bench.spark.table(f"lake.bronze.bronze_{bench.tag}")
    assert sorted(map(tuple, rows.select("id", "s.b", "new").collect())) == [
        (1, None, None),
        (2, 5, 5),
    ]


@pytest.mark.parametrize("mode", [pytest.param("merge", marks=pytest.mark.soak), "scd2"])
def test_in_a_warehouse_what_is_inside_is_json_and_takes_any_field(bench: Bench, mode: str) -> None:
    def to_warehouse(schema: str) -> str:
        text = declared(schema, f"write_mode: {mode}, keys: [id], schema_policy: evolve")
        return text.replace("s3://lake/bronze/@/", "shop.nested_@").replace(
            "type: s3}", "type: redshift}"
        )

    bench.apply(to_warehouse(BEFORE))
    bench.bring("a.jsonl", FIRST)
    assert bench.run()[1].status == "succeeded"
    bench.apply(to_warehouse(AFTER))
    bench.bring("b.jsonl", SECOND)
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    with duckdb.connect(str(bench.runtime.settings.warehouses["redshift"].path)) as warehouse:
        found = warehouse.execute(
            f"SELECT id, l->>'$[1].\"b.c d\"', s->>'b' FROM shop.nested_{bench.tag} ORDER BY id"
        ).fetchall()
    assert found == [(1, None, None), (2, "new", "new")]
