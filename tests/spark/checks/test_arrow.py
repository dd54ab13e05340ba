"""Arrow's verdicts on rows in files are Spark's own, for every check and every case of it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from goldsmith.checks.arrow import jobs
from goldsmith.checks.arrow.count_keys import count_keys
from goldsmith.checks.check import CHECKS
from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation, evaluate
from goldsmith.checks.outcome import CheckOutcome
from goldsmith.checks.parquet_files import ColumnStatistics, ParquetFiles, ranges_of
from goldsmith.checks.planned_check import planned
from goldsmith.checks.rows import frame
from goldsmith.checks.try_checks import Case
from spark.checks.test_cases import CASES

NOW = Context(now=datetime(2026, 1, 10, tzinfo=UTC))


def lying(rows: DataFrame, folder: Path) -> tuple[DataFrame, ParquetFiles]:
    """The rows in two files, and these."""
    spark = rows.sparkSession
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    rows.repartition(2).write.mode("overwrite").parquet(str(folder))
    files = [(str(file), file.stat().st_size) for file in sorted(folder.glob("*.parquet"))]
    stored = ParquetFiles(
        ranges=ranges_of(files),
        rows=rows.count(),
        columns={name: ColumnStatistics(None, (name,)) for name in rows.columns},
    )
    return spark.read.schema(rows.schema).parquet(str(folder)), stored


def verdicts(outcomes: list[CheckOutcome]) -> list[tuple[Any, ...]]:
    """What is said of each; NaN is spelt out, for it is not equal to itself."""
    return [
        (result.planned.check.name, result.passed, result.broken, result.of, repr(result.observed),
         result.error.code if result.error else None)
        for result in outcomes
    ]  # fmt: skip


def by_arrow(evaluation: Evaluation, rows: DataFrame, stored: ParquetFiles) -> set[str]:
    """The names of what Arrow measures."""
    return {*jobs.measure(rows, evaluation.aggregates(), stored)}


@pytest.mark.soak
@pytest.mark.parametrize("name", CHECKS.names())
def test_arrow_says_of_every_case_what_spark_says(
    quick: SparkSession, tmp_path: Path, name: str
) -> None:
    for number, entry in enumerate(yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))):
        case = Case.of(entry)
        rows = frame(quick, case.schema, case.rows)
        try:
            checks = planned(case.checks, context=NOW)
            read, stored = lying(rows, tmp_path / str(number))
        except Exception:
            continue  # a case of bad settings, or of types that Parquet has not
        by_spark = verdicts(evaluate(read, checks, NOW))
        assert verdicts(evaluate(read, checks, NOW, stored=stored)) == by_spark, case.says


ODD = [
    # More than a float has digits for.
    {"big": 2**62 + 1, "n": 1, "x": 1.5, "s": "ab", "d": "1.50",
     "at": "2026-01-01T00:00:00", "day": "2026-01-01"},
    {"n": None, "x": None, "s": None, "d": None, "at": None, "day": None},
    {"n": -5, "x": float("nan"), "s": "", "d": "-2.25", "at": "1999-12-31T23:59:59"},
    {"n": 7, "x": -0.0, "s": "ab", "d": "0", "at": "2026-01-01T00:00:00", "day": "1950-02-03"},
    {"n": 2**40, "x": float("inf"), "s": "Ab-99", "d": "9.99", "day": "2026-01-02"},
]  # fmt: skip
SCHEMA = "big bigint, n bigint, x double, s string, d decimal(10,2), at timestamp, day date"
ENTRIES: list[dict[str, Any]] = [
    {"type": "not_null", "column": "n"},
    {"type": "null", "column": "s"},
    {"type": "in_range", "column": "n", "min": 0, "max": 10, "strict_max": True},
    {"type": "in_range", "column": "x", "min": -1, "max": 2},
    {"type": "in_range", "column": "x", "min": 1, "strict_min": True},
    {"type": "in_range", "column": "d", "min": 0, "max": 5},
    {"type": "in_range", "column": "at", "min": "2000-01-01", "max": "2026-01-01 00:00:00"},
    {"type": "in_range", "column": "day", "min": "1960-01-01"},
    {"type": "one_of", "column": "s", "values": ["ab", "x"]},
    {"type": "one_of", "column": "n", "values": list(range(40)), "nulls": "broken"},
    {"type": "not_one_of", "column": "s", "values": ["ab"], "where": "n > 0"},
    {"type": "regex", "column": "s", "pattern": "^[a-z]+$"},
    {"type": "regex", "column": "s", "pattern": ["^A", "[0-9]$"], "match": "all"},
    {"type": "regex", "column": "s", "pattern": "(?=a)"},
    {"type": "length", "column": "s", "min": 1, "max": 3},
    {"type": "like", "column": "s", "pattern": "a%"},
    {"type": "compare_columns", "column": "n", "operator": "<=", "other": "n"},
    {"type": "expression", "sql": "at >= timestamp'2026-01-01' - interval 1 second"},
    {"type": "expression", "sql": "at - interval 36500 days < timestamp'2026-01-01'"},
    {"type": "expression", "sql": "x = x and not x < 0"},
    {"type": "not_in_future", "column": "at"},
    {"type": "freshness", "column": "at", "max_age_hours": 24 * 30},
    {"type": "row_count", "min": 5, "max": 5},
    {"type": "row_count", "min": 5, "where": "s = 'ab'"},
    {"type": "mean", "column": "n", "min": 0},
    {"type": "mean", "column": "x", "min": 0, "where": "x < 5"},
    {"type": "mean", "column": "big", "min": 0},
    {"type": "min", "column": "n", "min": 0},
    {"type": "max", "column": "day", "max": "2026-01-02"},
    {"type": "max", "column": "x", "max": 3},
    {"type": "max", "column": "s", "max": "b"},
    {"type": "null_rate", "column": "d", "max": 0.1},
    {"type": "unique", "column": "n"},
    {"type": "unique", "column": "s"},
    {"type": "unique", "columns": ["s", "at"], "nulls": "equal"},
    {"type": "unique", "columns": ["x", "d"], "nulls": "broken"},
    {"type": "unique", "column": "day", "where": "n > 0"},
    {"type": "unique", "column": "n", "where": "s rlike '^a'"},
    {"type": "distinct_count", "column": "x", "min": 4, "max": 4},
]
#: What only Spark is asked of, of those: a pattern of Java's own, and the greatest of numbers with
#: a NaN among them.
NOT_ARROWS = {"broken_13", "value_29", "inside_29"}


def test_odd_values_are_judged_as_spark_judges_them(quick: SparkSession, tmp_path: Path) -> None:
    checks = planned(ENTRIES, context=NOW)
    rows, stored = lying(frame(quick, SCHEMA, ODD), tmp_path / "rows")
    by_spark = verdicts(evaluate(rows, checks, NOW))
    assert [verdict for verdict in by_spark if verdict[-1] is not None] == []
    assert verdicts(evaluate(rows, checks, NOW, stored=stored)) == by_spark

    evaluation = Evaluation(rows.schema, checks, NOW)
    riding = evaluation.aggregates()
    assert {*riding} - by_arrow(evaluation, rows, stored) == NOT_ARROWS


def test_texts_that_the_two_may_see_differently_are_left_to_spark(
    quick: SparkSession, tmp_path: Path
) -> None:
    texts = ["a\n", "ab\r\n", "é", "a\x0bb", "\u2028", "K", "a"]
    rows, stored = lying(frame(quick, "s string", [{"s": text} for text in texts]), tmp_path / "r")
    entries = [
        {"type": "regex", "column": "s", "pattern": pattern}
        for pattern in ("^a$", "^.$", r"^\S+$", "(?i)^k$", r"^\w$")
    ]
    checks = planned(entries, context=NOW)
    evaluation = Evaluation(rows.schema, checks, NOW)
    assert "broken_0" not in by_arrow(evaluation, rows, stored)
    assert verdicts(evaluate(rows, checks, NOW, stored=stored)) == verdicts(
        evaluate(rows, checks, NOW)
    )


@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(
    keys=st.lists(
        st.tuples(st.none() | st.integers(-2, 2), st.none() | st.sampled_from(["", "a", "aa"])),
        max_size=12,
    )
)
def test_keys_are_counted_as_exactly(
    quick: SparkSession, tmp_path: Path, keys: list[tuple[int | None, str | None]]
) -> None:
    key_rows = [{"n": n, "s": s} for n, s in keys]
    rows, stored = lying(frame(quick, "n int, s string", key_rows), tmp_path / "keys")
    entries = [
        {"type": "unique", "columns": columns, "nulls": nulls, "ignore": ignore}
        for columns in (["n"], ["s"], ["n", "s"])
        for nulls in ("distinct", "equal", "broken")
        for ignore in ("any", "all")
    ]
    checks = planned(entries, context=NOW)
    found = count_keys(rows, Evaluation(rows.schema, checks, NOW).keys(), stored)
    assert {*found} == {*range(len(entries))}
    assert verdicts(evaluate(rows, checks, NOW, stored=stored)) == verdicts(
        evaluate(rows, checks, NOW, few=True)
    )


PARTS = {
    "apart": ([1, 2, 3], [4, 5]),
    "later ones first": ([4, 5], [1, 2, 3]),
    "they meet": ([1, 3, 5], [2, 4]),
    "one is in both": ([1, 2, 3], [3, 4]),
    "one is out of order": ([1, 2, 3], [6, 4, 5]),
    "twice in one": ([1, 2, 3], [5, 5, 4]),
    "one is empty": ([1, 2], []),
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_keys_in_order_are_counted_as_exactly(
    quick: SparkSession, tmp_path: Path, parts: tuple[list[int], ...]
) -> None:
    files, schema = [], "n long, other int, s string"
    for number, part in enumerate(parts):
        part_rows = [{"n": n, "other": n % 2, "s": str(n)} for n in part]
        folder = tmp_path / str(number)
        frame(quick, schema, part_rows).coalesce(1).write.parquet(str(folder))
        files += [(str(file), file.stat().st_size) for file in folder.glob("*.parquet")]
    rows = quick.read.schema(schema).parquet(*(file for file, _ in files))
    columns = {name: ColumnStatistics(None, (name,)) for name in rows.columns}
    stored = ParquetFiles(ranges=ranges_of(files), rows=sum(map(len, parts)), columns=columns)
    entries: list[dict[str, Any]] = [
        {"type": "unique", "column": "n"},
        {"type": "unique", "columns": ["other", "n"]},
        {"type": "unique", "column": "s"},
        {"type": "unique", "column": "n", "where": "n > 2"},
    ]
    checks = planned(entries, context=NOW)
    evaluation = Evaluation(rows.schema, checks, NOW)
    values = [n for part in parts for n in part]
    counted = count_keys(rows, evaluation.keys(), stored)
    assert {*counted} == {*range(len(entries))}
    for index, found in counted.items():
        mine = [n for n in values if n > 2] if index == 3 else values
        assert (found["rows"], found["distinct"]) == (len(mine), len({*mine})), index
    assert verdicts(evaluate(rows, checks, NOW, stored=stored)) == verdicts(
        evaluate(rows, checks, NOW, few=True)
    )


def test_a_key_that_cannot_be_counted_spoils_no_other(quick: SparkSession, tmp_path: Path) -> None:
    key_rows = [{"n": n, "s": "a"} for n in (1, 2, 2)]
    rows, stored = lying(frame(quick, "n long, s string", key_rows), tmp_path / "keys")
    unique: dict[str, Any] = {"type": "unique", "nulls": "equal"}
    checks = planned(
        [
            {**unique, "column": "n"},
            {**unique, "column": "s"},
            {**unique, "columns": ["n", "s"], "where": "1 / (n - 1) > 0"},
        ],
        context=NOW,
    )
    found = evaluate(rows, checks, NOW, stored=stored)
    assert [(outcome.passed, outcome.broken) for outcome in found[:2]] == [(False, 2), (False, 3)]
    assert found[2].error is not None


def test_workers_that_were_stopped_are_asked_again(quick: SparkSession) -> None:
    application = quick.sparkContext.applicationId

    def sleep(rows: Any) -> Any:
        import time

        time.sleep(600)
        yield from rows

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(jobs.collected, quick.range(1).mapInArrow(sleep, "id long"))
        while not future.done():
            quick.sparkContext.cancelAllJobs()
            time.sleep(0.05)
    assert "cancelled" in str(future.exception())
    assert application not in jobs._REFUSED


def test_workers_that_cannot_do_it_leave_it_to_spark(
    quick: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows, stored = lying(frame(quick, SCHEMA, ODD), tmp_path / "rows")
    checks = planned(ENTRIES[:3], context=NOW)
    gone = ParquetFiles(ranges=ranges_of([(f"{tmp_path}/gone", 9)]), rows=5, columns=stored.columns)
    try:
        assert verdicts(evaluate(rows, checks, NOW, stored=gone)) == verdicts(
            evaluate(rows, checks, NOW)
        )
        assert "Python workers cannot measure checks" in caplog.text
        caplog.clear()
        assert jobs.measure(rows, _count(), stored) == {}, "they are not asked again"
        assert caplog.text == ""
    finally:
        jobs._REFUSED.clear()
    assert jobs.measure(rows, _count(), stored) == {"rows": 5}


def test_a_check_that_cannot_be_put_to_the_rows_costs_the_others_nothing(
    quick: SparkSession, tmp_path: Path
) -> None:
    rows, stored = lying(frame(quick, SCHEMA, ODD), tmp_path / "rows")
    checks = planned([*ENTRIES[:2], {"type": "expression", "sql": "nowhere > 1"}], context=NOW)
    assert verdicts(evaluate(rows, checks, NOW, stored=stored)) == verdicts(
        evaluate(rows, checks, NOW)
    )
    assert jobs.measure(rows, _count(), stored) == {"rows": 5}, "workers are asked all the same"


def test_moments_are_right_whatever_the_time_zone_of_the_jvm(
    quick: SparkSession, tmp_path: Path
) -> None:
    rows, stored = lying(frame(quick, SCHEMA, ODD), tmp_path / "rows")
    checks = planned(
        [
            {"type": "in_range", "column": "at", "max": "2025-12-31 23:00:00"},
            {"type": "in_range", "column": "day", "max": "2026-01-01"},
            {"type": "one_of", "column": "at", "values": ["2026-01-01 00:00:00"]},
        ],
        context=NOW,
    )
    by_spark = verdicts(evaluate(rows, checks, NOW))
    zones = quick._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone("America/New_York"))
    try:
        assert verdicts(evaluate(rows, checks, NOW, stored=stored)) == by_spark
        evaluation = Evaluation(rows.schema, checks, NOW)
        names = {"broken_0", "broken_1", "broken_2"}
        assert names & by_arrow(evaluation, rows, stored) == {"broken_1"}
    finally:
        zones.setDefault(before)


def _count() -> dict[str, Column]:
    return {"rows": F.count(F.col("n").isNull())}
