"""Random small tables: the lake does what a plain model does, whichever way the rows arrive."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goldsmith.catalog.datasets import Target
from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation
from goldsmith.engine.lake.branches import LakeRefs
from goldsmith.engine.lake.lake_table import SnapshotMissing
from goldsmith.engine.quarantine.row_router import RowRouter
from goldsmith.engine.shape.schema_policy import fit
from goldsmith.engine.write.destinations.destination import Published, StagedWrite, WriteRequest
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.engine.write.modes.scd2 import with_validity
from spark.engine.conftest import Bench
from warehouses import model

KEYS = ("id", "shop")
VALIDITY = ("_valid_from", "_valid_to", "_is_current")
COLUMNS = "id BIGINT, shop STRING, at TIMESTAMP, amount INT"
MORNING, NOON, EVENING = (datetime(2026, 11, 16, hour) for hour in (8, 12, 18))
_NUMBERS = itertools.count()


def examples(number: int) -> settings:
    """Spark is slow beside what hypothesis is used to, and the shared session is meant."""
    return settings(
        max_examples=number,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


keys = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["", "a", None]))
moments = st.sampled_from([MORNING, NOON, EVENING, None])
changes = st.tuples(keys, moments, st.sampled_from([1, 2, None]))


def loads(*, one_row_a: int) -> st.SearchStrategy[list[list[model.Row]]]:
    """Loads in a row, within each of which a key, or a key and a moment, comes once."""
    once = st.lists(changes, max_size=6, unique_by=lambda row: row[:one_row_a])
    return st.lists(once, min_size=1, max_size=3)


def flat(rows: Iterable[model.Row]) -> list[tuple[Any, ...]]:
    return [(*key, at, amount) for key, at, amount in rows]


class Table:
    """A lake table of a test's own, written without a catalog."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        table = f"model_{next(_NUMBERS)}"
        target = Target(target_id=table, location=f"s3://lake/models/{table}/", type="s3")
        storage = bench.runtime.storage
        self.destination = LakeDestination(bench.spark.newSession(), storage, target, "silver")
        self.spark = self.destination.table.spark

    def load(
        self, rows: list[tuple[Any, ...]], mode: str, **more: Any
    ) -> tuple[StagedWrite, Published]:
        frame = self.spark.createDataFrame(rows, COLUMNS)
        if mode == "scd2":
            frame = with_validity(frame, "at", datetime.now(UTC))
        fitted = fit(frame, self.destination.schema(frame), {}, target="model")
        request_settings: dict[str, Any] = {
            "stage_run_id": f"try_{next(_NUMBERS)}",
            "keys": KEYS,
            "watermark": "at",
            "partition_by": (),
            "options": {},
            "router": RowRouter(evaluation=Evaluation(frame.schema, [], Context(now=NOON))),
            "measure_beside": None,
            "keep_broken": lambda broken, repeats: 0,
            "sample_broken_rows": lambda *seen: {},
            "from_scratch": False,
            **more,
        }
        order = WriteRequest(fitted=fitted, mode=mode, **request_settings)
        staged_write = self.destination.write_staged(order)
        return staged_write, self.destination.publish(order, staged_write, 1)

    def rows(self, *columns: str) -> Counter[tuple[Any, ...]]:
        found = self.spark.table(self.destination.table.sql_name).select(*columns)
        return Counter(tuple(row) for row in found.collect())


def merge_is_as_the_model(bench: Bench, loads: list[list[model.Row]]) -> None:
    table, expected = Table(bench), dict[model.Key, model.Row]()
    for came in loads:
        table.load(flat(came), "merge")
        expected = model.merged(expected, came)
    assert table.rows("id", "shop", "at", "amount") == Counter(flat(expected.values()))


def scd2_is_as_the_model(bench: Bench, loads: list[list[model.Row]]) -> None:
    table, history = Table(bench), model.History()
    for came in loads:
        table.load(flat(came), "scd2")
        history = model.with_versions(history, came)
    assert table.rows(*KEYS, "amount", *VALIDITY) == Counter(model.as_rows(history))


@examples(2)
@given(loads=loads(one_row_a=1))
def test_merge_is_as_the_model(bench: Bench, loads: list[list[model.Row]]) -> None:
    merge_is_as_the_model(bench, loads)


@examples(2)
@given(loads=loads(one_row_a=2))
def test_scd2_is_as_the_model(bench: Bench, loads: list[list[model.Row]]) -> None:
    scd2_is_as_the_model(bench, loads)


@pytest.mark.soak
@examples(40)
@given(loads=loads(one_row_a=1))
def test_merge_is_as_the_model_many_times(bench: Bench, loads: list[list[model.Row]]) -> None:
    merge_is_as_the_model(bench, loads)


@pytest.mark.soak
@examples(40)
@given(loads=loads(one_row_a=2))
def test_scd2_is_as_the_model_many_times(bench: Bench, loads: list[list[model.Row]]) -> None:
    scd2_is_as_the_model(bench, loads)


def test_scd2_makes_a_version_of_a_repeat_once_a_late_change_falls_before_it(
    bench: Bench,
) -> None:
    table = Table(bench)
    for at, amount in ((MORNING, 1), (EVENING, 1), (NOON, 2)):
        table.load([(1, "a", at, amount)], "scd2")
    assert table.rows("amount", *VALIDITY) == Counter(
        [(1, MORNING, NOON, False), (2, NOON, EVENING, False), (1, EVENING, None, True)]
    )


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge", "scd2"])
def test_a_full_refresh_starts_over(bench: Bench, mode: str) -> None:
    table = Table(bench)
    table.load([(1, "a", NOON, 1), (2, "a", NOON, 1)], mode)
    again = [(1, "a", MORNING, 2)]
    table.load(again, mode, from_scratch=True)
    assert table.rows("id", "shop", "at", "amount") == Counter(again)


@pytest.mark.parametrize(
    "mode",
    [
        "append",
        pytest.param("overwrite", marks=pytest.mark.soak),
        pytest.param("merge", marks=pytest.mark.soak),
        "scd2",
    ],
)
def test_a_load_of_no_rows_is_a_snapshot_too(bench: Bench, mode: str) -> None:
    table = Table(bench)
    single, none = [(1, "a", NOON, 1)], list[tuple[Any, ...]]()
    for rows, from_scratch in ((none, False), (none, False), (single, False), (none, True)):
        staged_write, published = table.load(rows, mode, from_scratch=from_scratch)
        assert staged_write.good == len(rows)
        assert published.snapshot
    assert table.rows("id") == Counter()


def test_a_write_that_left_no_snapshot_is_not_taken_for_a_load_of_no_rows(bench: Bench) -> None:
    table = Table(bench)
    # Spark and whoever asks without it look at different tables.
    table.destination.refs = LakeRefs(bench.runtime.storage, "silver", "another")
    with pytest.raises(SnapshotMissing):
        table.load([(1, "a", NOON, 1)], "append")
    assert table.rows("id") == Counter()


#: Files to bronze, merged to silver, what changed there merged once more; and all versions.
LAYERS = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    write_mode: merge
    keys: [id, shop]
    watermark_column: at
    transform_sql: SELECT id, shop, at, amount FROM bronze_@
  - pipeline_id: "@"
    stage_order: 3
    source_id: "silver_@"
    target_id: "silver_more_@"
    write_mode: merge
    keys: [id, shop]
    watermark_column: at
    transform_sql: SELECT id, shop, at, amount FROM silver_@
  - pipeline_id: "@"
    stage_order: 4
    source_id: "bronze_@"
    target_id: "silver_all_@"
    write_mode: scd2
    keys: [id, shop]
    watermark_column: at
    transform_sql: SELECT id, shop, at, amount FROM bronze_@
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, shop STRING, at TIMESTAMP, amount INT"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "silver_more_@", location: "s3://lake/silver_more/@/", type: s3}
  - {target_id: "silver_all_@", location: "s3://lake/silver_all/@/", type: s3}
"""
#: Rows of files, and after which files somebody ran.
files = st.lists(changes, min_size=1, max_size=8, unique_by=lambda row: row[:2]).flatmap(
    lambda rows: st.lists(st.sampled_from(range(4)), min_size=len(rows), max_size=len(rows)).map(
        lambda parts: [[r for r, p in zip(rows, parts, strict=True) if p == n] for n in range(4)]
    )
)
runs_after = st.sets(st.sampled_from(range(3)))


def any_split_equals_one_full_run(
    bench: Bench, files: list[list[model.Row]], runs_after: set[int]
) -> None:
    # Each example has datasets of its own.
    own = Bench(runtime=bench.runtime, spark=bench.spark, tag=f"m{next(_NUMBERS)}")
    own.apply(LAYERS)
    for number, rows in enumerate(files):
        records = [
            {"id": key[0], "shop": key[1], "at": at and at.isoformat(), "amount": amount}
            for key, at, amount in rows
        ]
        own.bring(f"{number}.jsonl", *records)
        if number in runs_after:
            own.run()
    own.run()
    in_parts = _everything(own)
    own.run(full_refresh=True)
    assert in_parts == _everything(own)
    everything = [row for rows in files for row in rows]
    merged = Counter(flat(model.merged({}, everything).values()))
    versions = Counter(model.as_rows(model.with_versions({}, everything)))
    assert in_parts == [Counter(flat(everything)), merged, merged, versions]


def _everything(bench: Bench) -> list[Counter[tuple[Any, ...]]]:
    plain = ("id", "shop", "at", "amount")
    columns_by_table = {"bronze.bronze": plain, "silver.silver": plain, "silver.silver_more": plain}
    columns_by_table["silver.silver_all"] = (*KEYS, "amount", *VALIDITY)
    return [
        Counter(
            tuple(r) for r in bench.spark.table(f"lake.{t}_{bench.tag}").select(*columns).collect()
        )
        for t, columns in columns_by_table.items()
    ]


@examples(1)
@given(files=files, runs_after=runs_after)
def test_any_split_of_the_files_equals_one_full_run(
    bench: Bench, files: list[list[model.Row]], runs_after: set[int]
) -> None:
    any_split_equals_one_full_run(bench, files, runs_after)


@pytest.mark.soak
@examples(20)
@given(files=files, runs_after=runs_after)
def test_any_split_of_the_files_equals_one_full_run_many_times(
    bench: Bench, files: list[list[model.Row]], runs_after: set[int]
) -> None:
    any_split_equals_one_full_run(bench, files, runs_after)
