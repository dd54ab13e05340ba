"""Names with dots, dashes, spaces, quotes and backticks go through every write mode and target."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import psycopg
import pytest

from goldsmith.engine.names import name
from spark.engine.conftest import Bench, Elsewhere

#: The key, the watermark, the partition, a value and a field of a struct.
ODD = (
    "order.id-`x`",
    "at 'the' \"time\".x",
    "`day`.of-month; --",
    'it\'s "100%" {a,b}/c: Größe 日付',
    'a.b-c `d` "e"',
)
#: Columns that are only carried along.
MORE = ("a.b", "a-b", "`", "select", "FROM", "<a>", "a:b;c", "Ünï_ÇÖDE", " spaces ", "it''s")
MODES = ("append", "overwrite", "partitions", "merge", "scd2")


def catalog(odd: tuple[str, ...], mode: str, target: str) -> str:
    key, at, part, value, _field = odd
    silver: dict[str, Any] = {
        "pipeline_id": "@",
        "stage_order": 2,
        "source_id": "bronze_@",
        "target_id": "silver_@",
        "layer": "silver",
        "write_mode": "overwrite" if mode == "partitions" else mode,
        "keys": [key],
        "watermark_column": at,
        "validation_set_id": "rules_@",
        "schema_policy": "evolve",
        "options": {"read": "new"} if mode == "overwrite" else {},
    }
    if target == "lake":
        silver["partition_by"] = [f"bucket(2, `{part.replace('`', '``')}`)"]
    if mode == "partitions":
        silver["options"] = {"overwrite": "partitions", "read": "new"}
    location = "s3://lake/silver/@/" if target == "lake" else "odd.silver_@"
    type_ = {"lake": "s3", "duckdb": "redshift", "postgres": "postgres"}[target]
    checks = [
        {"type": "not_null", "column": f"`{value.replace('`', '``')}`", "on_fail": "quarantine"},
        {"type": "unique", "column": f"`{key.replace('`', '``')}`", "on_fail": "quarantine"},
        {"type": "row_count", "min": 1},
        {"type": "min", "column": f"`{key.replace('`', '``')}`", "min": 0},
    ]
    return json.dumps(
        {
            "pipelines": [{"pipeline_id": "@"}],
            "stages": [
                {
                    "pipeline_id": "@",
                    "stage_order": 1,
                    "source_id": "raw_@",
                    "target_id": "bronze_@",
                },
                silver,
            ],
            "sources": [{"source_id": "raw_@", "s3_path": "s3://raw/@/", "file_format": "jsonl"}],
            "targets": [
                {"target_id": "bronze_@", "location": "s3://lake/bronze/@/", "type": "s3"},
                {"target_id": "silver_@", "location": location, "type": type_},
            ],
            "validation_rules": [{"rule_set_id": "rules_@", "check_def": checks}],
        }
    )


def row(odd: tuple[str, ...], key: int, at: str, part: str, value: str | None) -> dict[str, Any]:
    inner = {odd[4]: value, "plain": key}
    nested = {"s": inner, "l": [inner]}
    columns = dict(zip(odd[:4], (key, at, part, value), strict=True))
    return columns | nested | {column: f"{column} {key}" for column in MORE}


def found(bench: Bench, odd: tuple[str, ...], target: str) -> list[tuple[Any, ...]]:
    key, value, field = odd[0], odd[3], odd[4]
    table = f"silver_{bench.tag}"
    if target == "lake":
        rows = bench.spark.sql(
            f"SELECT {name(key)}, {name(value)}, s.{name(field)}, l[0].{name(field)}"
            f" FROM lake.silver.{table}"
        ).collect()
        return sorted(tuple(item) for item in rows)
    selection = ", ".join(name(column, dialect="postgres") for column in (key, value, "s", "l"))
    query = f"SELECT {selection} FROM odd.{table}"
    if target == "duckdb":
        with duckdb.connect(str(bench.runtime.settings.warehouses["redshift"].path)) as warehouse:
            rows = warehouse.execute(query).fetchall()
    else:
        url = str(bench.runtime.settings.warehouses["postgres"].url)
        with psycopg.connect(url) as connection:
            rows = connection.execute(query).fetchall()

    def plain(item: Any) -> Any:
        return json.loads(item) if isinstance(item, str) else item

    return sorted((k, v, plain(s)[field], plain(many)[0][field]) for k, v, s, many in rows)


#: What `make test` tries; `make soak` tries every mode into every target that has it.
QUICK = [("scd2", "lake"), ("partitions", "lake"), ("merge", "duckdb")]
EVERY = [(m, t) for m in MODES for t in ("lake", "duckdb") if (m, t) != ("partitions", "duckdb")]


@pytest.mark.parametrize(
    ("mode", "target"),
    [pytest.param(*case, marks=() if case in QUICK else pytest.mark.soak) for case in EVERY],
)
def test_odd_names_go_through_every_mode(bench: Bench, mode: str, target: str) -> None:
    loads(bench, ODD, mode, target)


@pytest.mark.postgres
@pytest.mark.parametrize("mode", ["merge", pytest.param("scd2", marks=pytest.mark.soak)])
def test_odd_names_go_into_postgresql(elsewhere: Elsewhere, database: str, mode: str) -> None:
    bench = elsewhere(f'[storage]\nfolder = "HOME/s3"\n[warehouses.postgres]\nurl = "{database}"\n')
    loads(bench, ODD, mode, "postgres")


def loads(bench: Bench, odd: tuple[str, ...], mode: str, target: str) -> None:
    bench.apply(catalog(odd, mode, target))
    first, second = "2026-01-01T00:00:00", "2026-01-02T00:00:00"
    bench.bring("a.jsonl", *(row(odd, n, first, f"p{n}", f"v{n}") for n in (1, 2)))
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    changed = row(odd, 2, second, "p2", "changed")
    bench.bring(
        "b.jsonl", changed, row(odd, 3, second, "p3", "v3"), row(odd, 4, second, "p4", None)
    )
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    assert done[2].rows_quarantined == 1
    old, new = (2, "v2", "v2", "v2"), (2, "changed", "changed", "changed")
    entry, newest = (1, "v1", "v1", "v1"), (3, "v3", "v3", "v3")
    rows = found(bench, odd, target)
    if mode == "partitions":  # which buckets are replaced is the hash's business
        assert {new, newest} <= {*rows}
        return
    wanted = {
        "append": [entry, old, new, newest],
        "overwrite": [new, newest],
        "merge": [entry, new, newest],
        "scd2": [entry, old, new, newest],
    }[mode]
    assert rows == sorted(wanted)
    if target == "lake":
        carried = bench.rows("silver", name(odd[0]), *(name(column) for column in MORE))
        assert all(
            entry[1:] == tuple(f"{column} {entry[0]}" for column in MORE) for entry in carried
        )
    kept = bench.spark.table(f"lake.quarantine.silver_{bench.tag}").collect()
    assert [json.loads(entry["_row"])[odd[0]] for entry in kept] == [4]


def test_a_window_over_a_column_with_an_odd_name_is_filled_again(bench: Bench) -> None:
    odd = ODD
    text = json.loads(catalog(odd, "append", "lake"))
    text["sources"][0]["declared_schema"] = (
        f"{name(odd[0])} BIGINT, {name(odd[1])} TIMESTAMP, {name(odd[2])} STRING,"
        f" {name(odd[3])} STRING, s STRUCT<{name(odd[4])}: STRING, plain: BIGINT>,"
        f" l ARRAY<STRUCT<{name(odd[4])}: STRING>>"
    )
    bench.apply(json.dumps(text))
    bench.bring("a.jsonl", row(odd, 1, "2026-01-01T00:00:00", "p", "v1"))
    bench.bring("b.jsonl", row(odd, 2, "2026-01-02T00:00:00", "p", "v2"))
    bench.run()
    done = bench.run("silver_@", **{"from": "2026-01-02T00:00:00Z", "to": "2026-01-03T00:00:00Z"})
    assert done[2].status == "succeeded", done[2].error_message
    assert [values[:2] for values in found(bench, odd, "lake")] == [(1, "v1"), (2, "v2")]


#: A column called `a.b` beside a field b of a column a.
BOTH = """
pipelines: [{pipeline_id: "@"}]
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "both_@"
    layer: silver
    write_mode: append
    validation_set_id: "rules_@"
sources:
  - {source_id: "raw_@", s3_path: "s3://raw/@/", file_format: jsonl}
targets:
  - {target_id: "both_@", LIES}
validation_rules:
  - rule_set_id: "rules_@"
    check_def: [{type: not_null, column: "`a.b`"}, {type: unique, column: "`a.b`"}]
"""


@pytest.mark.usefixtures("large")
def test_arrow_tells_a_column_from_a_field_of_the_same_path(bench: Bench) -> None:
    """The footer of a file calls the two the same."""
    bench.apply(BOTH.replace("LIES", 'location: "odd.both_@", type: redshift'))
    bench.bring("a.jsonl", {"a.b": 1, "a": {"b": 1}}, {"a.b": None, "a": {"b": 1}})
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "CheckFailed")
    assert "null" in str(done.error_message)
    assert "unique" not in str(done.error_message)


def test_a_column_and_a_field_of_the_same_path_are_refused_in_the_lake(bench: Bench) -> None:
    bench.apply(BOTH.replace("LIES", 'location: "s3://lake/both/@/", type: s3'))
    bench.bring("a.jsonl", {"a.b": 1, "a": {"b": 1}})
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "AmbiguousNames")
    assert "'a.b'" in str(done.error_message)
