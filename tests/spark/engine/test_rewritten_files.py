"""Files that are rewritten, touched, deleted, brought back or renamed: no row is there twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from goldsmith.engine import faults
from goldsmith.engine.read.backfill import decide
from goldsmith.planning.increments import Increments
from goldsmith.planning.window import Window
from goldsmith.planning.window_read import NotIdempotent
from goldsmith.storage.file_content import is_etag_of
from goldsmith.storage.files import list_files
from spark.engine.conftest import Bench

STAGE = """
pipelines: [{pipeline_id: "@"}]
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "LAYER_@"
    layer: LAYER
    write_mode: MODE
    transform_sql: SQL
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"
  - source_id: "names_@"
    s3_path: "s3://raw/names_@/"
    file_format: jsonl
    declared_schema: "id BIGINT, name STRING"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "gold_@", location: "shop.gold_@", type: duckdb}
"""


def stage(layer: str, sql: str | None = None, mode: str = "append") -> str:
    """A stage straight over files: bronze and silver in the lake, gold in a warehouse."""
    keyed = "\n    keys: [id]\n    watermark_column: at" if mode in ("merge", "scd2") else ""
    text = STAGE.replace("LAYER", layer).replace("MODE", mode + keyed)
    return text.replace("    transform_sql: SQL\n", f"    transform_sql: {sql}\n" if sql else "")


def row(number: int, amount: int, day: int = 1) -> dict[str, Any]:
    return {"id": number, "amount": amount, "at": f"2026-01-{day:02}T00:00:00"}


def rows(bench: Bench, layer: str, *columns: str) -> list[tuple[Any, ...]]:
    """What is published, sorted."""
    named = columns or ("id", "amount")
    if layer != "gold":
        return bench.rows(layer, *named)
    file = bench.runtime.settings.warehouses["duckdb"].path
    with duckdb.connect(str(file), read_only=True) as connection:
        query = f"SELECT {', '.join(named)} FROM shop.gold_{bench.tag} ORDER BY ALL"
        return connection.execute(query).fetchall()


def touch(file: Path) -> None:
    """Give a file a later time and nothing else."""
    later = file.stat().st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later, later))


KEEPING = [
    pytest.param(
        "bronze", "WITH c AS (SELECT id, amount FROM raw_@) SELECT * FROM c", id="bronze by a CTE"
    ),
    pytest.param(
        "bronze",
        "SELECT id, amount FROM raw_@ WHERE id < 2 UNION ALL SELECT id, amount FROM raw_@ "
        "WHERE id >= 2",
        id="bronze by a union",
    ),
    pytest.param(
        "bronze",
        "SELECT r.id, r.amount, n.* EXCEPT (id) FROM raw_@ r LEFT JOIN names_@ n ON n.id = r.id",
        id="bronze by a star over a look-up of files",
    ),
    pytest.param("silver", "SELECT * FROM raw_@", id="silver by a star"),
    pytest.param(
        "gold", "WITH c AS (SELECT * FROM raw_@) SELECT * FROM c", id="a warehouse by a CTE"
    ),
    pytest.param("gold", "SELECT id, amount, _source_file FROM raw_@", id="a warehouse by name"),
]
LOSING = [
    pytest.param("silver", None, id="silver without SQL"),
    pytest.param("silver", "SELECT id, amount FROM raw_@", id="silver by a list of columns"),
    pytest.param("gold", "SELECT id, amount FROM raw_@", id="a warehouse by a list of columns"),
    pytest.param(
        "gold",
        "WITH c AS (SELECT id, amount FROM raw_@) SELECT * FROM c",
        id="a warehouse by a CTE of some columns",
    ),
]


@pytest.mark.parametrize(("layer", "sql"), KEEPING)
def test_a_rewritten_file_replaces_its_rows_wherever_they_name_it(
    bench: Bench, layer: str, sql: str | None
) -> None:
    bench.apply(stage(layer, sql))
    names = Path(bench.runtime.settings.address(f"s3://raw/names_{bench.tag}/"))
    names.mkdir(parents=True)
    (names / "n.jsonl").write_text('{"id": 1, "name": "ann"}\n')
    bench.bring("a.jsonl", row(1, 10), row(3, 30))
    bench.bring("b.jsonl", row(2, 20))
    bench.run()
    bench.bring("a.jsonl", row(1, 11))
    done = bench.run()[1]

    assert done.status == "succeeded", done.error_message
    assert rows(bench, layer) == [(1, 11), (2, 20)]
    assert {path for (path,) in rows(bench, layer, "_source_file")} == {
        f"s3://raw/{bench.tag}/{name}.jsonl" for name in ("a", "b")
    }
    assert bench.run()[1].status == "skipped"
    assert not bench.leftovers()


@pytest.mark.parametrize(("layer", "sql"), LOSING)
def test_a_rewritten_file_is_refused_where_its_rows_cannot_be_found(
    bench: Bench, layer: str, sql: str | None
) -> None:
    bench.apply(stage(layer, sql))
    bench.bring("a.jsonl", row(1, 10))
    bench.run()
    bench.bring("a.jsonl", row(1, 11))
    bench.bring("b.jsonl", row(2, 20))
    failed = bench.run()[1]

    assert (failed.status, failed.error_code) == ("failed", "FileRewritten")
    assert f"s3://raw/{bench.tag}/a.jsonl" in str(failed.error_message)
    assert rows(bench, layer) == [(1, 10)]
    assert bench.run(full_refresh=True)[1].status == "succeeded"
    assert rows(bench, layer) == [(1, 11), (2, 20)]
    assert bench.run()[1].status == "skipped"
    assert not bench.leftovers()


@pytest.mark.parametrize("layer", ["silver", "gold"])
def test_rows_loaded_before_the_file_was_selected_are_not_doubled(bench: Bench, layer: str) -> None:
    bench.apply(stage(layer, "SELECT id, amount FROM raw_@"))
    bench.bring("a.jsonl", row(1, 10))
    bench.run()
    named = stage(layer, "SELECT id, amount, _source_file FROM raw_@")
    bench.apply(named.replace("    write_mode:", "    schema_policy: evolve\n    write_mode:"))
    bench.bring("b.jsonl", row(2, 20))
    assert bench.run()[1].status == "succeeded"
    bench.bring("a.jsonl", row(1, 11))
    failed = bench.run()[1]

    assert failed.error_code == "FileRewritten"
    assert rows(bench, layer) == [(1, 10), (2, 20)]


@pytest.mark.parametrize("layer", ["bronze", "gold"])
def test_a_row_that_lost_to_one_of_a_rewritten_file_comes_back(bench: Bench, layer: str) -> None:
    number = "ROW_NUMBER() OVER (PARTITION BY id ORDER BY amount)"
    numbered = f"SELECT *, {number} AS n FROM raw_@"
    bench.apply(stage(layer, f"SELECT * EXCEPT (n) FROM ({numbered}) WHERE n = 1"))
    bench.bring("a.jsonl", row(1, 10), row(2, 20))
    lost = bench.bring("b.jsonl", row(1, 11))
    bench.run()
    bench.bring("a.jsonl", row(2, 20))
    done = bench.run()[1]

    assert done.status == "succeeded", done.error_message
    assert rows(bench, layer) == [(1, 11), (2, 20)]
    lost.unlink()
    bench.bring("a.jsonl", row(1, 12))
    assert bench.run()[1].error_code == "FileRewritten"
    assert rows(bench, layer) == [(1, 11), (2, 20)]


def test_two_stages_that_append_rows_of_one_file_do_not_delete_each_others(bench: Bench) -> None:
    bench.apply(stage("bronze", "SELECT id, amount FROM raw_@ WHERE id = 1"))
    bench.apply(
        'stages: [{pipeline_id: "@", stage_order: 2, source_id: "raw_@", target_id: "bronze_@", '
        "layer: bronze, write_mode: append, "
        'transform_sql: "SELECT id, amount FROM raw_@ WHERE id = 2"}]'
    )
    bench.bring("a.jsonl", row(1, 10), row(2, 20))
    bench.run()
    bench.bring("a.jsonl", row(1, 11), row(2, 21))
    assert bench.run()[1].error_code == "FileRewritten"
    assert rows(bench, "bronze") == [(1, 10), (2, 20)]


@pytest.mark.parametrize("layer", ["bronze", "gold"])
def test_a_file_that_is_touched_or_written_again_as_it_was_is_nothing_new(
    bench: Bench, layer: str
) -> None:
    bench.apply(stage(layer, "SELECT id, amount FROM raw_@"))
    file = bench.bring("a.jsonl", row(1, 10))
    first = bench.run()[1]
    assert first.rows_written == 1
    touch(file)
    assert bench.run()[1].status == "skipped"
    # Its content was compared once: the next run knows it by its etag.
    [listed] = list_files(f"s3://raw/{bench.tag}/", bench.runtime.storage)
    noted = bench.sql("SELECT etag FROM input_files WHERE dataset_id = 'raw_@'")
    assert [is_etag_of(etag, listed) for (etag,) in noted] == [True]
    content = file.read_bytes()
    file.unlink()
    assert bench.run()[1].status == "skipped"
    file.write_bytes(content)
    touch(file)
    assert bench.run()[1].status == "skipped"
    assert rows(bench, layer) == [(1, 10)]


def test_a_file_of_the_same_size_and_other_content_is_rewritten(bench: Bench) -> None:
    bench.apply(stage("bronze"))
    file = bench.bring("a.jsonl", row(1, 10))
    bench.run()
    bench.bring("a.jsonl", row(1, 99))
    touch(file)
    bench.run()
    assert rows(bench, "bronze") == [(1, 99)]
    file.unlink()
    bench.run()
    bench.bring("a.jsonl", row(1, 98))
    touch(file)
    bench.run()
    assert rows(bench, "bronze") == [(1, 98)]


@pytest.mark.parametrize(
    ("layer", "mode"),
    [("silver", "merge"), ("silver", "scd2"), ("gold", "merge"), ("gold", "overwrite")],
)
def test_keys_find_the_rows_of_a_rewritten_file(bench: Bench, layer: str, mode: str) -> None:
    bench.apply(stage(layer, "SELECT id, amount, at FROM raw_@", mode))
    bench.bring("a.jsonl", row(1, 10), row(3, 30))
    bench.bring("b.jsonl", row(2, 20))
    bench.run()
    bench.bring("a.jsonl", row(1, 11))
    done = bench.run()[1]

    assert done.status == "succeeded", done.error_message
    # A key that is gone from its file stays where rows are found by keys.
    gone = [] if mode == "overwrite" else [(3, 30)]
    assert rows(bench, layer) == [(1, 11), (2, 20), *gone]


def test_an_overwrite_that_quarantines_takes_a_rewritten_file(bench: Bench) -> None:
    checked = """
validation_rules:
  - {rule_set_id: "rule_@", check_def: [{type: not_null, column: id, on_fail: quarantine}]}
"""
    text = stage("silver", "SELECT id, amount FROM raw_@", "overwrite") + checked
    bench.apply(text.replace("    write_mode:", '    validation_set_id: "rule_@"\n    write_mode:'))
    bench.bring("a.jsonl", row(1, 10))
    bench.run()
    bench.bring("a.jsonl", row(1, 11))
    done = bench.run()[1]
    assert done.status == "succeeded", done.error_message
    assert rows(bench, "silver") == [(1, 11)]


def changed_before(bench: Bench, monkeypatch: pytest.MonkeyPatch, point: str, change: Any) -> None:
    """Do something when a run reaches a point, once."""
    reached: list[str] = []
    reach: Callable[[str], None] = faults.reach

    def meanwhile(name: str) -> None:
        if name == point and not reached:
            reached.append(name)
            change()
        reach(name)

    monkeypatch.setattr(faults, "reach", meanwhile)


@pytest.mark.parametrize(
    ("layer", "point"), [("bronze", "inputs-listed"), ("gold", "read"), ("bronze", "written")]
)
def test_a_file_rewritten_while_it_is_read_is_not_published(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, layer: str, point: str
) -> None:
    bench.apply(stage(layer, "SELECT * FROM raw_@"))
    file = bench.bring("a.jsonl", row(1, 10))

    def rewrite() -> None:
        bench.bring("a.jsonl", row(1, 99))
        touch(file)

    with monkeypatch.context() as patched:
        changed_before(bench, patched, point, rewrite)
        failed = bench.run()[1]
    assert (failed.status, failed.error_code) == ("failed", "FileChanged")
    assert bench.run()[1].status == "succeeded"
    assert rows(bench, layer) == [(1, 99)]
    assert not bench.leftovers()


@pytest.mark.parametrize(
    ("layer", "sql"),
    [
        pytest.param("bronze", "WITH c AS (SELECT * FROM raw_@) SELECT * FROM c", id="lake"),
        pytest.param("gold", "SELECT id, amount, _source_file FROM raw_@", id="warehouse"),
    ],
)
def test_a_backfill_replaces_the_rows_of_its_files(bench: Bench, layer: str, sql: str) -> None:
    bench.apply(stage(layer, sql))
    bench.bring("a.jsonl", row(1, 10))
    bench.bring("b.jsonl", row(2, 20))
    bench.run()
    done = bench.run(**{"from": "2000-01-01", "to": "2100-01-01"})[1]
    assert done.status == "succeeded", done.error_message
    assert rows(bench, layer) == [(1, 10), (2, 20)]


@pytest.mark.parametrize(("layer", "sql"), LOSING)
def test_a_backfill_is_refused_where_rows_do_not_name_their_file(
    bench: Bench, layer: str, sql: str | None
) -> None:
    bench.apply(stage(layer, sql))
    runtime = bench.runtime
    context = runtime.catalog_indexer.catalog_index().stages[f"{bench.tag}-1"]
    window = Window.of("2000-01-01", "2100-01-01", datetime.now(UTC))
    increments = Increments(runtime.catalog, runtime.storage)
    with pytest.raises(NotIdempotent, match="which file"):
        decide(context, window, increments, runtime.storage, bench.resources().warehouse)


def test_a_renamed_file_is_a_new_file_and_the_run_says_so(bench: Bench) -> None:
    bench.apply(stage("bronze"))
    file = bench.bring("a.jsonl", row(1, 10))
    bench.run()
    file.rename(file.with_name("b.jsonl"))
    done = bench.run()[1]
    assert rows(bench, "bronze") == [(1, 10), (1, 10)]
    assert f"s3://raw/{bench.tag}/a.jsonl" in str(done.because)


def test_a_touched_file_does_not_stop_a_warehouse_from_going_back(bench: Bench) -> None:
    bench.apply(stage("gold", "SELECT id, amount FROM raw_@"))
    file = bench.bring("a.jsonl", row(1, 10))
    first = bench.run()[1]
    bench.bring("b.jsonl", row(2, 20))
    bench.run()
    touch(file)
    done = bench.run(f"stage:{bench.tag}-1", as_of=first.stage_run_id)[1]
    assert done.status == "succeeded", done.error_message
    assert rows(bench, "gold") == [(1, 10)]
    assert bench.run()[1].rows_written == 1
    assert rows(bench, "gold") == [(1, 10), (2, 20)]
