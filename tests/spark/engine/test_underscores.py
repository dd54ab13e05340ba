"""Names that begin with an underscore are the user's: nothing of ours takes one, or says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from spark.engine.conftest import Bench

#: Names that helper columns of ours had or might have, in the cases people write.
OWN = (
    *("_id", "_RANK", "_discard", "_status", "_n", "_came", "_gone", "_repeats", "_hash", "_key_0"),
    *("_metadata", "_corrupt_record", "_malformed_text", "_malformed_reason", "_text", "_row"),
    *("_checks", "_reasons", "_reason", "_none", "_value", "_wanted", "_kept_at", "_schema"),
)
BRONZE = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
sources:
  - {source_id: "raw_@", s3_path: "s3://raw/@/", file_format: jsonl}
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""
SILVER = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "TARGET_@"
    layer: silver
    write_mode: MODE
    keys: [_key_0]
    watermark_column: at
    validation_set_id: "rules_@"
    schema_policy: discard_row
validation_rules:
  - rule_set_id: "rules_@"
    check_def:
      - {type: not_null, column: _status, on_fail: quarantine}
      - {type: unique, column: _hash, on_fail: quarantine}
"""


def row(key: int, at: str, **changed: Any) -> dict[str, Any]:
    values = {name: f"{name} {key}" for name in OWN}
    return {"at": at, **values, "_key_0": key, **changed}


def rows_of(bench: Bench, target: str, *columns: str) -> list[tuple[Any, ...]]:
    if target == "silver":
        return bench.rows("silver", *(f"`{column}`" for column in columns))
    selection = ", ".join(f'"{column}"' for column in columns)
    file = str(bench.runtime.settings.warehouses["redshift"].path)
    with duckdb.connect(file) as warehouse:
        return sorted(
            warehouse.execute(f"SELECT {selection} FROM shop.gold_{bench.tag}").fetchall()
        )


@pytest.mark.parametrize(
    ("mode", "target"),
    [
        pytest.param("append", "silver", marks=pytest.mark.soak),
        pytest.param("merge", "silver", marks=pytest.mark.soak),
        ("scd2", "silver"),
        ("merge", "gold"),
    ],
)
def test_every_column_of_the_users_arrives_whatever_its_name(
    bench: Bench, mode: str, target: str
) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER.replace("MODE", mode).replace("TARGET", target))
    twice = {"_hash": "the same"}
    bench.bring(
        "a.jsonl",
        *(row(n, "2026-01-01") for n in (1, 2)),
        *(row(n, "2026-01-01", **twice) for n in (8, 9)),
    )
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    assert done[2].rows_quarantined == 2
    bench.bring("b.jsonl", row(3, "2026-01-02"), row(4, "2026-01-02", _status=None))
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    keys = (1, 2, 3)
    for column in OWN:
        found = [value for (value,) in rows_of(bench, target, column)]
        wanted = [row(key, "2026-01-01")[column] for key in keys]
        assert found == sorted(wanted), column
    kept = bench.spark.table(f"lake.quarantine.{target}_{bench.tag}").collect()
    whole = [json.loads(quarantined["_row"]) for quarantined in kept]
    assert {quarantined["_RANK"] for quarantined in whole} == {"_RANK 4", "_RANK 8", "_RANK 9"}
    assert all({*OWN} <= quarantined.keys() for quarantined in whole)


@pytest.mark.parametrize("target", ["silver", "gold"])
def test_scd2_sees_a_change_in_a_column_whose_name_begins_with_an_underscore(
    bench: Bench, target: str
) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER.replace("MODE", "scd2").replace("TARGET", target))
    bench.bring("a.jsonl", row(1, "2026-01-01", _status="open"))
    bench.run()
    bench.bring("b.jsonl", row(1, "2026-01-02", _status="closed"))
    bench.run()
    # What only bronze's own columns tell apart is no version.
    bench.bring("c.jsonl", row(1, "2026-01-03", _status="closed"))
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    found = rows_of(bench, target, "at", "_status", "_is_current")
    assert [version[1:] for version in found] == [
        ("open", False),
        ("closed", True),
        ("closed", False),
    ]


@pytest.mark.parametrize("column", ["_run_id", "_INGESTED_AT"])
def test_a_column_that_bronze_adds_is_refused_in_files_and_may_be_renamed(
    bench: Bench, column: str
) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, column: "theirs"})
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "ReservedColumn")
    assert column in str(done.error_message)
    named = f"rename: {{{column}: their_own}}"
    bench.apply(BRONZE.replace('"bronze_@"}\n', f'"bronze_@", options: {{{named}}}}}\n', 1))
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    assert bench.rows("bronze", "id", "their_own") == [(1, "theirs")]
    assert bench.rows("bronze", "_run_id") == [(done.run_id,)]


@pytest.mark.parametrize("layer", ["silver", "gold"])
def test_a_later_stage_over_files_does_not_take_their_column_for_bronzes(
    bench: Bench, layer: str
) -> None:
    bench.apply(BRONZE.replace('"bronze_@"}\n', f'"bronze_@", layer: {layer}}}\n', 1))
    bench.bring("a.jsonl", {"id": 1, "_run_id": "theirs"})
    assert bench.run()[1].error_code == "ReservedColumn"


@pytest.mark.parametrize("layer", ["bronze", "silver"])
def test_the_source_file_of_a_table_of_somebody_else_is_not_taken_for_ours(
    bench: Bench, layer: str
) -> None:
    file = Path(bench.runtime.settings.warehouses["duckdb"].path)
    file.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(file)) as connection:
        connection.sql(f"CREATE TABLE theirs_{bench.tag} AS SELECT 1 AS id, 'x' AS _source_file")
    bench.apply(
        f"""
pipelines: [{{pipeline_id: "@"}}]
targets:
  - {{target_id: "theirs_@", location: "theirs_@", type: duckdb}}
  - {{target_id: "{layer}_@", location: "s3://lake/{layer}/@/", type: s3}}
stages:
  - {{pipeline_id: "@", stage_order: 1, source_id: "theirs_@", target_id: "{layer}_@",
     layer: {layer}, write_mode: overwrite}}
"""
    )
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "ReservedColumn")
    bench.apply(
        f"""
stages:
  - {{pipeline_id: "@", stage_order: 1, source_id: "theirs_@", target_id: "{layer}_@",
     layer: {layer}, write_mode: overwrite, options: {{rename: {{_source_file: file}}}}}}
"""
    )
    assert bench.run()[1].status == "succeeded"
    assert bench.rows(layer, "id", "file") == [(1, "x")]


def test_what_bronze_added_passes_through_later_stages(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(
        SILVER.replace("MODE", "merge").replace("TARGET", "silver").replace("discard_row", "evolve")
    )
    bench.bring("a.jsonl", row(1, "2026-01-01"))
    done = bench.run()
    assert bench.rows("silver", "_run_id") == [(done[1].run_id,)]


@pytest.mark.parametrize("column", ["_valid_from", "_IS_CURRENT"])
def test_a_column_that_scd2_adds_is_refused(bench: Bench, column: str) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER.replace("MODE", "scd2").replace("TARGET", "silver"))
    bench.bring("a.jsonl", row(1, "2026-01-01", **{column: "theirs"}))
    done = bench.run()
    assert done[1].status == "succeeded"
    assert (done[2].status, done[2].error_code) == ("failed", "ReservedColumn")


@pytest.mark.parametrize("column", ["_file", "_POS", "_change_type", "_partition", "_goldsmith_x"])
def test_names_that_iceberg_and_helpers_of_ours_have_are_refused_in_the_lake(
    bench: Bench, column: str
) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, column: "theirs"})
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "ReservedColumn")


def test_scd2_without_a_watermark_over_a_table_takes_the_moment_of_the_run(bench: Bench) -> None:
    bench.apply(BRONZE)
    text = SILVER.replace("MODE", "scd2").replace("TARGET", "silver")
    text = text.replace("    watermark_column: at\n", "")
    sql = "    transform_sql: SELECT _key_0, _status, _hash FROM bronze_@\n"
    bench.apply(text.replace("    layer: silver\n", "    layer: silver\n" + sql))
    bench.bring("a.jsonl", row(1, "2026-01-01", _status="open"))
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    bench.bring("b.jsonl", row(1, "2026-01-02", _status="open"))
    bench.run()
    bench.bring("c.jsonl", row(1, "2026-01-03", _status="closed"))
    bench.run()
    assert bench.rows("silver", "_status", "_is_current") == [("closed", True), ("open", False)]
