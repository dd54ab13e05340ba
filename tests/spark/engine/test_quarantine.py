from __future__ import annotations

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import functions as F

from goldsmith.cli.main import goldsmith
from goldsmith.engine.audit import dataset_audit
from goldsmith.engine.quarantine import quarantine_store
from goldsmith.journal.definitions import verdicts
from goldsmith.journal.tables import StageRun, Verdict
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE, MERGED, WIDER

RULES = """
validation_rules:
  - rule_set_id: "rule_@"
    check_def: CHECKS
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "bronze_@"
    validation_set_id: "rule_@"
"""
POSITIVE = {"type": "in_range", "column": "amount", "min": 0}
NAMED = {"type": "not_null", "column": "id"}
UNIQUE = {"type": "unique", "column": "id"}


@pytest.fixture(autouse=True, params=["few", pytest.param("many", marks=pytest.mark.soak)])
def rows_taken_for(request: pytest.FixtureRequest) -> None:
    if request.param == "many":
        request.getfixturevalue("large")


def ruled(bench: Bench, *checks: dict[str, Any], more: str = "") -> None:
    """A bronze stage with these checks."""
    bench.apply(BRONZE)
    bench.apply(RULES.replace("CHECKS", json.dumps(list(checks))) + more)


def counts(done: StageRun) -> tuple[int | None, ...]:
    return done.rows_read, done.rows_written, done.rows_quarantined, done.rows_dropped


def kept(bench: Bench) -> list[Any]:
    table = bench.spark.table(f"lake.quarantine.bronze_{bench.tag}")
    rows = table.select("*", F.get_json_object("_row", "$.id").alias("id")).orderBy("id")
    return rows.collect()


def live_rows(bench: Bench) -> int:
    runtime = bench.runtime
    held = quarantine_store.quarantined_rows(
        runtime.storage, runtime.journal, [f"bronze_{bench.tag}"]
    )
    return sum(quarantined.rows for quarantined in held)


def verdicts_of(bench: Bench, done: StageRun) -> list[Verdict]:
    from goldsmith.journal import row_storage

    query = verdicts.select().where(verdicts.c.stage_run_id == done.stage_run_id)
    with bench.runtime.journal.reading() as connection:
        return row_storage.select(connection, Verdict, query.order_by(verdicts.c.place))


def test_broken_rows_are_quarantined_whole_and_the_others_published(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine"}, {**NAMED, "on_fail": "quarantine"}, UNIQUE)
    bench.bring(
        "a.jsonl",
        {"id": 1, "amount": 10, "at": "2026-01-01T00:00:00.123456Z"},
        {"id": 2, "amount": -2, "at": "2026-01-02T00:00:00.123456Z"},
        {"amount": -3},
        '{"id": 4, "amou',
    )
    done = bench.run()[1]

    assert counts(done) == (4, 1, 3, 0)
    assert bench.rows("bronze", "id", "amount") == [(1, 10)]
    broken = [row for row in kept(bench) if row["_text"] is None]
    assert [(row["id"], row["_checks"]) for row in broken] == [
        (None, ["in_range", "not_null"]),
        ("2", ["in_range"]),
    ]
    second = broken[1]
    assert second["_stage_run_id"] == done.stage_run_id
    assert second["_run_id"] == done.run_id
    assert second["_source_file"] == f"s3://raw/{bench.tag}/a.jsonl"
    assert "amount" in second["_reasons"][0]
    assert json.loads(second["_row"])["at"] == "2026-01-02T00:00:00.123456Z"
    ranged, named, unique = verdicts_of(bench, done)
    assert (ranged.passed, ranged.broken) == (True, 2)
    assert (named.passed, named.broken) == (True, 1)
    assert unique.passed
    assert ranged.sample[0]["amount"] < 0
    assert ranged.duration_ms is not None


def test_a_second_batch_is_added_to_what_was_registered(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine"})
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": -1})
    bench.run()
    bench.bring("b.jsonl", {"id": 3, "amount": 30, "more": "x"}, {"id": 4, "amount": -1})
    assert counts(bench.run()[1]) == (2, 1, 1, 0)
    bench.bring("a.jsonl", {"id": 1, "amount": 11})
    bench.run()

    assert bench.rows("bronze", "id", "amount") == [(1, 11), (3, 30)]
    bench.run(full_refresh=True)
    assert bench.rows("bronze", "id", "amount") == [(1, 11), (3, 30)]


def test_a_row_that_breaks_two_checks_counts_once_and_quarantine_comes_before_drop(
    bench: Bench,
) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "drop"}, {**NAMED, "on_fail": "quarantine"})
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": -1}, {"amount": -1})
    done = bench.run()[1]

    assert counts(done) == (3, 1, 1, 1)
    assert len(kept(bench)) == 1


@pytest.mark.parametrize("on_fail", ["quarantine", "drop"])
def test_every_row_of_a_repeated_key_goes_where_its_check_says(bench: Bench, on_fail: str) -> None:
    ruled(bench, {**UNIQUE, "on_fail": on_fail}, {**POSITIVE, "on_fail": "quarantine"})
    rows = [{"id": 1, "amount": 1}, {"id": 1, "amount": -1}, {"id": 2, "amount": 2}, {"amount": 5}]
    bench.bring("a.jsonl", *rows)
    done = bench.run()[1]

    went = {"quarantine": (4, 2, 2, 0), "drop": (4, 2, 1, 1)}[on_fail]
    assert counts(done) == went
    assert bench.rows("bronze", "amount") == [(2,), (5,)]
    if on_fail == "quarantine":
        assert [row["_checks"] for row in kept(bench)] == [["unique"], ["unique", "in_range"]] or [
            row["_checks"] for row in kept(bench)
        ] == [["unique", "in_range"], ["unique"]]


def test_a_batch_without_rows_and_a_partitioned_table(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine"}, {**UNIQUE, "on_fail": "drop"})
    parted = RULES.replace("CHECKS", json.dumps([{**POSITIVE, "on_fail": "quarantine"}]))
    bench.apply(parted + "    partition_by: [id]\n")
    bench.bring("a.jsonl", "")
    assert counts(bench.run()[1]) == (0, 0, 0, 0)
    bench.bring("b.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": 2}, {"id": 3, "amount": -3})
    assert counts(bench.run()[1]) == (3, 2, 1, 0)
    assert bench.rows("bronze", "id") == [(1,), (2,)]


@pytest.mark.parametrize("checks", [70, pytest.param(130, marks=pytest.mark.soak)])
def test_more_checks_than_a_word_has_bits(bench: Bench, checks: int) -> None:
    many = [{**POSITIVE, "min": -number, "on_fail": "quarantine"} for number in range(checks)]
    ruled(bench, *many)
    broken = checks - 3
    bench.bring("a.jsonl", {"id": 1, "amount": -broken}, {"id": 2, "amount": 0})
    done = bench.run()[1]

    assert counts(done) == (2, 1, 1, 0)
    assert [verdict.broken for verdict in verdicts_of(bench, done)] == [1] * broken + [0] * 3
    assert len(kept(bench)[0]["_reasons"]) == broken


def test_merged_rows_are_parted_too(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(MERGED + '    validation_set_id: "rule_@"\n' + RULES.split("stages:")[0].replace(
        "CHECKS", json.dumps([{**POSITIVE, "on_fail": "drop"}, {**UNIQUE, "severity": "warning"}])
    ))  # fmt: skip
    bench.bring(
        "a.jsonl",
        {"id": 1, "amount": 10, "at": "2026-01-02"},
        {"id": 1, "amount": 11, "at": "2026-01-03"},
        {"id": 1, "amount": -1, "at": "2026-01-04"},
    )
    done = bench.run()[2]

    assert counts(done) == (3, 1, 0, 1)
    assert bench.rows("silver", "id", "amount") == [(1, 11)]


def test_a_threshold_that_is_broken_publishes_nothing_and_the_rows_stay_marked(
    bench: Bench,
) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine", "mostly": 0.6})
    bench.bring("a.jsonl", {"id": 1, "amount": 1}, {"id": 2, "amount": 2}, {"id": 3, "amount": -1})
    assert bench.run()[1].status == "succeeded"
    bad = bench.bring("b.jsonl", {"id": 4, "amount": 4}, {"id": 5, "amount": -1})
    failed = bench.run()[1]
    assert (failed.status, failed.error_code) == ("failed", "CheckFailed")
    assert bench.rows("bronze", "id") == [(1,), (2,)]
    assert [row["_stage_run_id"] == failed.stage_run_id for row in kept(bench)] == [False, True]

    bad.write_text('{"id": 4, "amount": 4}\n')
    bench.run()
    assert bench.rows("bronze", "id") == [(1,), (2,), (4,)]


@pytest.mark.parametrize("on_fail", [pytest.param("quarantine", marks=pytest.mark.soak), "drop"])
def test_a_threshold_by_partition_is_broken_by_one_partition(bench: Bench, on_fail: str) -> None:
    ruled(bench, {**POSITIVE, "on_fail": on_fail, "mostly": 0.5, "per": "at"})
    good = [{"id": number, "at": "2026-01-01T00:00:00Z", "amount": 1} for number in range(8)]
    even = [
        {"id": 8, "at": "2026-01-02T00:00:00Z", "amount": 1},
        {"id": 9, "at": "2026-01-02T00:00:00Z", "amount": -1},
    ]
    bench.bring("a.jsonl", *good, *even)
    done = bench.run()[1]
    assert done.status == "succeeded"
    assert counts(done)[1] == 9
    bad = [
        {"id": 20, "at": "2026-01-02T00:00:00Z", "amount": -1},
        {"id": 21, "at": "2026-01-01T00:00:00Z", "amount": 1},
    ]
    bench.bring("b.jsonl", *({**row, "id": 30 + row["id"]} for row in good), *bad)
    failed = bench.run()[1]
    assert (failed.status, failed.error_code) == ("failed", "CheckFailed")
    assert len(bench.rows("bronze", "id")) == 9
    assert "parts by at (most in 2026-01-02" in str(verdicts_of(bench, failed)[0].message)


def test_the_scope_table_is_the_table_as_it_would_be_published(bench: Bench) -> None:
    ruled(bench, {"type": "row_count", "max": 3, "scope": "table"}, {**UNIQUE, "scope": "table"})
    bench.bring("a.jsonl", {"id": 1}, {"id": 2})
    assert bench.run()[1].status == "succeeded"
    bad = bench.bring("b.jsonl", {"id": 1})
    failed = bench.run()[1]
    assert failed.status == "failed"
    assert [verdict.passed for verdict in verdicts_of(bench, failed)] == [True, False]
    bad.write_text('{"id": 3}\n')
    assert bench.run()[1].status == "succeeded"


def test_a_check_before_shaping_stops_it_and_its_verdict_is_kept(bench: Bench) -> None:
    bench.apply(BRONZE)
    before = RULES.replace("validation_set_id", "pre_validation_set_id")
    bench.apply(before.replace("CHECKS", json.dumps([{"type": "row_count", "min": 2}])))
    bench.bring("a.jsonl", {"id": 1})
    failed = bench.run()[1]

    assert failed.error_code == "CheckFailed"
    (verdict,) = verdicts_of(bench, failed)
    assert (verdict.passed, verdict.dataset_id) == (False, f"raw_{bench.tag}")


def test_a_check_that_cannot_be_put_to_the_rows_failed_with_its_cause(bench: Bench) -> None:
    ruled(bench, {"type": "expression", "sql": "no_such_column > 1"}, POSITIVE)
    bench.bring("a.jsonl", {"id": 1, "amount": 1})
    failed = bench.run()[1]

    wrong, right = verdicts_of(bench, failed)
    assert (wrong.passed, right.passed) == (False, True)
    assert "no_such_column" in str(wrong.message)


def test_a_check_that_raises_on_a_row_failed_with_its_cause_and_spoils_no_other(
    bench: Bench,
) -> None:
    raising = {"type": "expression", "sql": "10 / amount > 1", "severity": "warning"}
    ruled(bench, raising, {**POSITIVE, "on_fail": "quarantine"})
    bench.bring("a.jsonl", {"id": 1, "amount": 0}, {"id": 2, "amount": -1})
    done = bench.run()[1]

    assert counts(done) == (2, 1, 1, 0)
    wrong, right = verdicts_of(bench, done)
    assert (wrong.passed, right.passed, right.broken) == (False, True, 1)
    assert "ivision by zero" in str(wrong.message)


def test_personal_data_is_masked_in_samples(bench: Bench) -> None:
    target = """
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3, options: {pii: [ID]}}
"""
    ruled(bench, {**POSITIVE, "on_fail": "warn"}, more=target)
    bench.bring("a.jsonl", {"id": 1, "amount": -1})
    done = bench.run()[1]

    assert counts(done) == (1, 1, 0, 0)
    (verdict,) = verdicts_of(bench, done)
    assert not verdict.passed
    assert (verdict.sample[0]["id"], verdict.sample[0]["amount"]) == ("***", -1)


def test_personal_data_is_masked_by_column_wherever_rows_are_shown(bench: Bench) -> None:
    target = """
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3, options: {pii: [id]}}
"""
    ruled(bench, {**POSITIVE, "on_fail": "quarantine"}, more=target)
    bench.bring(
        "a.jsonl",
        {"id": 111, "amount": -1},
        '{"id": 222, "amount": "many"}',
        '{"id": 333, "amou',
        {"id": 444, "amount": 4},
    )
    assert bench.run()[1].rows_quarantined == 3

    project = ["--project", str(bench.runtime.settings.project)]
    for command in (["quarantine", "show"], ["datasets", "sample"]):
        done = CliRunner().invoke(goldsmith, [*project, *command, f"bronze_{bench.tag}", "--json"])
        assert done.exit_code == 0, done.output
        assert not {"111", "222", "333", "444"} & set(re.findall(r"\d+", done.stdout))
        shown = json.loads(done.stdout)
        if command[0] == "quarantine":
            texts = {shown_row["text"] for shown_row in shown if shown_row["text"] is not None}
            assert texts == {'{"id": "***", "amount": "many"}', "***"}
            assert [
                shown_row["row"]["amount"] for shown_row in shown if shown_row["row"] is not None
            ] == [-1]
        else:
            assert [(shown_row["id"], shown_row["amount"]) for shown_row in shown] == [("***", 4)]


def test_mended_rows_go_through_the_stage_again_once(bench: Bench) -> None:
    ruled(bench, {**POSITIVE, "on_fail": "quarantine"})
    at = "2026-01-02T00:00:00.123456Z"
    bench.bring("a.jsonl", {"id": 1, "amount": -1, "at": at}, {"id": 2, "amount": -2})
    bench.run()
    sql = "SELECT * EXCEPT (amount), -amount AS amount FROM quarantined WHERE id = 1"
    done = bench.run("stage:@-1", replay={"sql": sql})[1]

    assert counts(done) == (1, 1, 0, 0)
    assert live_rows(bench) == 1
    again = bench.run("stage:@-1", replay={"sql": sql})[1]
    assert again.status == "skipped"
    rows = bench.rows("bronze", "id", "amount", "_source_file")
    assert rows == [(1, 1, f"s3://raw/{bench.tag}/a.jsonl")]
    still = bench.run("stage:@-1", replay={"sql": None})[1]
    assert counts(still) == (1, 0, 1, 0)
    assert live_rows(bench) == 1


GOLD = """
stages:
  - pipeline_id: "@"
    stage_order: 3
    source_id: "bronze_@"
    target_id: "gold_@"
    validation_set_id: "rule_@"
    transform_sql: SELECT id, amount, at FROM bronze_@
    WORDS
targets:
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("write_mode: append", [(1, 10), (2, 20), (2, 21)]),
        ("write_mode: merge\n    keys: [id]\n    watermark_column: at", [(1, 10), (2, 21)]),
    ],
)
def test_rows_for_a_warehouse_are_parted_too(
    bench: Bench, words: str, written: list[tuple[int, int]]
) -> None:
    import duckdb

    bench.apply(BRONZE)
    checks = [
        {**POSITIVE, "on_fail": "quarantine"},
        {"type": "unique", "columns": ["id", "at"], "on_fail": "drop"},
    ]
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps(checks))
    bench.apply(rules + GOLD.replace("WORDS", words))
    bench.bring(
        "a.jsonl",
        {"id": 1, "amount": 10, "at": "2026-01-01"},
        {"id": 1, "amount": -1, "at": "2026-01-02"},
        {"id": 2, "amount": 20, "at": "2026-01-01"},
        {"id": 2, "amount": 21, "at": "2026-01-02"},
        {"id": 3, "amount": 30, "at": "2026-01-01"},
        {"id": 3, "amount": 31, "at": "2026-01-01"},
    )
    done = bench.run()[3]

    assert done.status == "succeeded", done.error_message or done.because
    assert counts(done) == (6, len(written), 1, 2)
    file = bench.runtime.settings.warehouses["redshift"].path
    with duckdb.connect(str(file), read_only=True) as connection:
        query = f"SELECT id, amount FROM shop.gold_{bench.tag} ORDER BY id, amount"
        assert connection.execute(query).fetchall() == written
    rest = dataset_audit.audit_dataset(
        bench.resources(), bench.runtime.catalog.snapshot(), f"gold_{bench.tag}"
    )
    assert rest.summary.overall_passed


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_broken_rows_that_are_published_are_counted_where_they_were_written(
    bench: Bench, mode: str
) -> None:
    warned = (
        POSITIVE,
        NAMED,
        UNIQUE,
        {"type": "expression", "sql": "abs(amount) < 8", "where": "id = 1"},
        {"type": "one_of", "column": "amount", "values": [10, -2, 5]},
    )
    ruled(
        bench, *({**entry, "on_fail": "warn"} for entry in warned), more=f"    write_mode: {mode}\n"
    )
    bench.bring(
        "a.jsonl", {"id": 1, "amount": 10}, {"id": 1, "amount": -2}, {"id": 2}, {"amount": 5}
    )
    done = bench.run()[1]

    assert counts(done) == (4, 4, 0, 0)
    assert [entry.observed for entry in verdicts_of(bench, done)] == [
        "1 of 3 rows broken",
        "1 of 4 rows broken",
        "2 of 3 rows broken",
        "1 of 2 rows broken",
        "0 of 3 rows broken",
    ]
    assert [len(entry.sample) for entry in verdicts_of(bench, done)] == [1, 1, 1, 1, 0]


def test_rows_the_schema_policy_leaves_out_are_checked_and_counted_too(bench: Bench) -> None:
    ruled(bench)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    narrow = '"id BIGINT, amount BIGINT, at TIMESTAMP"'
    checks = json.dumps([{**POSITIVE, "on_fail": "warn"}])
    bench.apply(BRONZE.replace(narrow, WIDER))
    bench.apply(RULES.replace("CHECKS", checks) + "    schema_policy: discard_row\n")
    bench.bring(
        "b.jsonl",
        {"id": 2, "amount": -1, "channel": "app"},
        {"id": 3, "amount": -2},
        {"id": 4, "amount": 5},
    )
    done = bench.run()[1]

    assert done.status == "succeeded", done.error_message
    assert counts(done) == (3, 2, 0, 1)
    assert bench.rows("bronze", "id") == [(1,), (3,), (4,)]
    assert [verdict.observed for verdict in verdicts_of(bench, done)] == ["2 of 3 rows broken"]
