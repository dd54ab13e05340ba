"""Going back and keeping well: restore, maintain, backfills and changed definitions, on Spark."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.lake.table_states import UnknownState
from goldsmith.engine.maintenance import backfill_preview, compaction, maintenance
from goldsmith.engine.publish import restore_record
from goldsmith.engine.read.backfill import decide
from goldsmith.journal import runs
from goldsmith.planning import dataset_info
from goldsmith.planning.increments import Increments
from goldsmith.planning.lake import history
from goldsmith.planning.past_state import CannotRestore
from goldsmith.planning.window import Window
from goldsmith.planning.window_read import NotIdempotent, WindowUnknown
from spark.engine.conftest import Bench

ORDERS = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    write_mode: SILVER
    keys: [id]
    watermark_column: at
    transform_sql: SELECT id, amount, at FROM bronze_@
  - pipeline_id: "@"
    stage_order: 3
    source_id: "silver_@"
    target_id: "gold_@"
    write_mode: GOLD
    keys: [id]
    watermark_column: at
    transform_sql: SELECT id, amount, at FROM silver_@
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3, options: {retain_days: 0}}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "gold_@", location: "shop.gold_@", type: duckdb}
"""


def orders(silver: str = "merge", gold: str = "merge") -> str:
    return ORDERS.replace("SILVER", silver).replace("GOLD", gold)


def order(number: int, amount: int, day: int = 1) -> dict[str, Any]:
    return {"id": number, "amount": amount, "at": f"2026-01-{day:02}"}


def gold(bench: Bench) -> list[tuple[Any, ...]]:
    import duckdb

    file = bench.runtime.settings.warehouses["duckdb"].path
    with duckdb.connect(str(file), read_only=True) as connection:
        query = f"SELECT id, amount FROM shop.gold_{bench.tag} ORDER BY ALL"
        return connection.execute(query).fetchall()


def dataset(bench: Bench, layer: str) -> Any:
    return dataset_info.find(
        bench.runtime.catalog_indexer.catalog_index().rows, f"{layer}_{bench.tag}"
    )


def plan(bench: Bench, layer: str, to: str) -> maintenance.Restoration:
    runtime = bench.runtime
    increments = Increments(runtime.catalog, runtime.storage)
    return maintenance.plan_restore(
        runtime.catalog_indexer.catalog_index(),
        dataset(bench, layer),
        to,
        runtime.journal,
        increments,
        runtime.storage,
    )


def restore(bench: Bench, layer: str, to: str) -> maintenance.Restoration:
    meant = plan(bench, layer, to)
    maintenance.restore_table(bench.resources(), meant, "ann")
    return meant


@pytest.mark.parametrize(("silver", "of_gold"), [("merge", "merge"), ("append", "append")])
def test_a_restored_table_is_loaded_again_and_everything_made_of_it_follows(
    bench: Bench, silver: str, of_gold: str
) -> None:
    bench.apply(orders(silver, of_gold))
    bench.bring("a.jsonl", order(1, 10))
    first = bench.run()[1]
    bad = bench.bring("b.jsonl", order(2, -1), order(3, -1))
    bench.run()
    assert gold(bench) == [(1, 10), (2, -1), (3, -1)]

    meant = restore(bench, "bronze", str(first.snapshot))
    assert meant.downstream == (f"silver_{bench.tag}", f"gold_{bench.tag}")
    assert bench.rows("bronze", "id") == [(1,)]
    bad.unlink()
    bench.bring("b.jsonl", order(2, 20))
    bench.run()

    assert bench.rows("bronze", "id", "amount") == [(1, 10), (2, 20)]
    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 20)]
    assert gold(bench) == [(1, 10), (2, 20)]
    assert {run.status for run in bench.run().values()} == {"skipped"}
    [event] = bench.runtime.journal.read(kinds=["DatasetRestored"], newest_first=True, most=1)
    assert (event.actor, event.facts["to_snapshot"]) == ("ann", first.snapshot)


def test_what_a_full_refresh_superseded_counts_again_once_it_is_taken_back(bench: Bench) -> None:
    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 10))
    first = bench.run()[1]
    bench.run(full_refresh=True)
    restore(bench, "bronze", str(first.snapshot))

    assert bench.run()[1].status == "skipped"
    assert bench.rows("bronze", "id") == [(1,)]


def test_a_time_means_the_newest_state_before_it(bench: Bench) -> None:
    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 10))
    first = bench.run()[1]
    at = history(dataset(bench, "bronze"), bench.runtime.storage).snapshots[str(first.snapshot)].at
    assert at is not None
    bench.bring("b.jsonl", order(2, 20))
    bench.run()

    assert plan(bench, "bronze", at.isoformat()).after.snapshot == first.snapshot
    with pytest.raises(UnknownState):
        plan(bench, "bronze", "2001-01-01")
    with pytest.raises(UnknownState):
        plan(bench, "bronze", "yesterday")


@pytest.mark.parametrize("dies", ["before it went back", "before it was written down"])
def test_a_restore_that_dies_is_undone_or_finished_by_the_next_run(
    bench: Bench, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object) -> None:
        raise OSError("gone")

    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 10))
    first = bench.run()[1]
    bench.bring("b.jsonl", order(2, 20))
    bench.run()
    meant = plan(bench, "bronze", str(first.snapshot))
    with monkeypatch.context() as broken:
        if dies == "before it went back":
            broken.setattr(LakeTable, "roll_back", fails)
        else:
            broken.setattr(restore_record, "finish", fails)
        with pytest.raises(OSError, match="gone"):
            maintenance.restore_table(bench.resources(), meant, "ann")

    # Undone, nothing is new; finished, the file that was taken back is loaded again. Never twice.
    again = bench.run()[1]
    assert again.status == ("skipped" if dies == "before it went back" else "succeeded")
    assert bench.rows("bronze", "id", "amount") == [(1, 10), (2, 20)]
    assert gold(bench) == [(1, 10), (2, 20)]


@pytest.mark.parametrize(
    "mode",
    ["append", "scd2", *(pytest.param(m, marks=pytest.mark.soak) for m in ("merge", "overwrite"))],
)
def test_a_warehouse_table_goes_back_and_the_next_run_loads_again(bench: Bench, mode: str) -> None:
    # What scd2 and append have to know must still be in what they read.
    bench.apply(orders("append" if mode in ("append", "scd2") else "merge", mode))
    bench.bring("a.jsonl", order(1, 10), order(4, 40))
    first = bench.run()[3]
    bench.bring("b.jsonl", order(1, 11, day=2), order(2, 20))
    bench.run()
    bench.bring("c.jsonl", order(1, 12, day=3))
    bench.run()
    after = gold(bench)

    meant = plan(bench, "gold", first.stage_run_id)
    assert [state.stage_run_id for state in meant.taken_back][-1:] != [first.stage_run_id]
    assert len(meant.taken_back) == 2
    done = bench.run(f"stage:{bench.tag}-3", as_of=first.stage_run_id)[3]
    assert (done.status, gold(bench)) == ("succeeded", [(1, 10), (4, 40)])
    [event] = bench.runtime.journal.read(kinds=["DatasetRestored"], newest_first=True, most=1)
    assert event.facts["to_snapshot"] == first.stage_run_id

    assert bench.run()[3].status == "succeeded"
    assert gold(bench) == after
    assert {run.status for run in bench.run().values()} == {"skipped"}


def test_a_warehouse_table_that_cannot_be_made_again_is_not_touched(bench: Bench) -> None:
    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 10))
    first = bench.run()[3]
    bench.bring("b.jsonl", order(2, 20))
    bench.run()
    bench.apply(orders().replace("SELECT id, amount, at FROM silver", "SELECT * FROM silver"))

    with pytest.raises(CannotRestore, match="definition has changed"):
        plan(bench, "gold", first.stage_run_id)
    failed = bench.run(f"stage:{bench.tag}-3", as_of=first.stage_run_id)[3]
    assert failed.error_code == "CannotRestore"
    assert gold(bench) == [(1, 10), (2, 20)]


def test_compaction_is_no_news_and_what_is_read_on_from_stays(bench: Bench) -> None:
    bench.apply(orders("append", "append"))
    for number in range(6):
        bench.bring(f"{number}.jsonl", order(number, number))
        bench.run("@-1".replace("@-", "stage:@-") if number else "@")
    silver = bench.run()[2]
    bench.bring("6.jsonl", order(6, 6))
    bench.run("stage:@-1")
    catalog_index, resources = bench.runtime.catalog_indexer.catalog_index(), bench.resources()
    context = catalog_index.stages[f"{bench.tag}-1"]
    stray = Path(bench.runtime.settings.address(f"s3://lake/bronze/{bench.tag}/data/stray.parquet"))
    stray.write_bytes(b"nobody knows me")
    old = time.time() - timedelta(days=10).total_seconds()
    os.utime(stray, (old, old))

    done = maintenance.maintain(resources, catalog_index, context, "ann")
    assert (done["compacted_files"], done["orphans_removed"]) == (7, 1)
    # Five loads that silver has read, and the empty state the table began with.
    assert done["expired_snapshots"] == 6
    assert not stray.exists()
    again = bench.run()
    assert silver.status == "succeeded"
    # Only the seventh order is new: the compaction is not, and the way back was kept.
    assert (again[1].status, again[2].rows_written) == ("skipped", 1)
    assert bench.rows("silver", "id") == [(number,) for number in range(7)]

    done = maintenance.maintain(resources, catalog_index, context, "ann")
    assert done["expired_snapshots"] > 0
    assert {run.status for run in bench.run().values()} == {"skipped"}
    files = bench.spark.sql(f"SELECT count(*) FROM lake.bronze.bronze_{bench.tag}.files")
    assert files.collect()[0][0] == 1


def planned(bench: Bench) -> compaction.Maintenance:
    found = compaction.plan_maintenance(
        dataset(bench, "silver"),
        bench.runtime.catalog_indexer.catalog_index(),
        bench.runtime.journal,
        bench.runtime.storage,
        datetime.now(UTC),
    )
    assert found is not None
    return found


def test_nothing_within_the_retention_expires_and_no_file_of_others_is_a_stray(
    bench: Bench,
) -> None:
    bench.apply(orders())
    for number in range(2):
        bench.bring(f"{number}.jsonl", order(number, number))
        bench.run()
    found = planned(bench)
    assert (found.expire, found.small_files) == ((), 0)
    assert found.orphans_before is not None

    bench.apply('targets: [{target_id: "in_@", location: "s3://lake/silver/@/in/", type: s3}]')
    assert planned(bench).orphans_before is None


def window(start: str, end: str) -> dict[str, str]:
    return {"from": start, "to": end}


def test_a_backfill_of_files_replaces_the_rows_they_gave(bench: Bench) -> None:
    bench.apply(orders())
    for day in (1, 2, 3):
        bench.bring(f"day=2026-01-{day:02}.jsonl", order(day, day, day))
    folder = Path(bench.runtime.settings.address(f"s3://raw/{bench.tag}/"))
    for file in list(folder.iterdir()):
        (folder / file.stem).mkdir()
        file.rename(folder / file.stem / "part.jsonl")
    bench.run()
    done = bench.run(**window("2026-01-02", "2026-01-03"))

    assert (done[1].rows_read, done[1].status) == (1, "succeeded")
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 2), (3, 3)]
    assert done[2].rows_read == 1
    assert gold(bench) == [(1, 1), (2, 2), (3, 3)]
    bench.run()
    assert bench.rows("bronze", "id") == [(1,), (2,), (3,)]
    assert gold(bench) == [(1, 1), (2, 2), (3, 3)]


def test_a_backfill_of_rows_is_by_the_watermark_and_an_append_replaces_them(bench: Bench) -> None:
    bench.apply(orders("append", "append"))
    bench.bring("a.jsonl", order(1, 1, 1), order(2, 2, 2), order(3, 3, 3))
    bench.run()
    bench.spark.sql(f"DELETE FROM lake.silver.silver_{bench.tag} WHERE id = 2")
    assert bench.run("stage:@-2", **window("2026-01-02", "2026-01-03"))[2].rows_read == 1
    assert bench.rows("silver", "id") == [(1,), (2,), (3,)]
    assert bench.run("stage:@-3", **window("2026-01-01", "2026-01-03"))[3].rows_read == 2
    assert gold(bench) == [(1, 1), (2, 2), (3, 3)]


def test_what_came_outside_a_backfill_is_still_read_by_the_next_run(bench: Bench) -> None:
    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 1, 1))
    bench.run()
    bench.bring("b.jsonl", order(2, 2, 2), order(3, 3, 9))
    bench.run("stage:@-1")
    bench.run("stage:@-2", **window("2026-01-01", "2026-01-05"))
    assert bench.rows("silver", "id") == [(1,), (2,)]
    bench.run()
    assert bench.rows("silver", "id") == [(1,), (2,), (3,)]


def test_a_window_that_cannot_be_written_again_is_refused(bench: Bench) -> None:
    marked = "    watermark_column: at\n    transform_sql: SELECT id, amount, at FROM bronze_@\n"
    text = orders("append", "append").replace(marked, "")
    file_to_silver = text.replace("stage_order: 1,", "stage_order: 1, layer: silver,")
    bench.apply(file_to_silver)
    resources, stages = bench.resources(), bench.runtime.catalog_indexer.catalog_index().stages
    requested = Window(start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 2, 1, tzinfo=UTC))
    with pytest.raises(NotIdempotent, match="which file"):
        decide(
            stages[f"{bench.tag}-1"],
            requested,
            resources.increments,
            resources.storage,
            resources.warehouse,
        )
    with pytest.raises(WindowUnknown, match="watermark_column"):
        decide(
            stages[f"{bench.tag}-2"],
            requested,
            resources.increments,
            resources.storage,
            resources.warehouse,
        )


def test_rows_of_a_window_are_not_sought_by_a_time_that_the_sql_changes(bench: Bench) -> None:
    later = "SELECT id, amount, at + INTERVAL 1 DAY AS at FROM bronze_@"
    text = orders("append", "append").replace("SELECT id, amount, at FROM bronze_@", later)
    bench.apply(text.replace("SELECT id, amount, at FROM silver_@", "SELECT * FROM silver_@"))
    resources, stages = bench.resources(), bench.runtime.catalog_indexer.catalog_index().stages
    requested = Window(start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 2, 1, tzinfo=UTC))
    with pytest.raises(NotIdempotent, match="unchanged"):
        decide(
            stages[f"{bench.tag}-2"],
            requested,
            resources.increments,
            resources.storage,
            resources.warehouse,
        )
    read = decide(
        stages[f"{bench.tag}-3"],
        requested,
        resources.increments,
        resources.storage,
        resources.warehouse,
    )
    assert read.column == "at"


def test_a_changed_definition_runs_overwrite_stages_again_and_others_say_what_they_need(
    bench: Bench,
) -> None:
    bench.apply(orders("merge", "overwrite"))
    bench.bring("a.jsonl", order(1, 10))
    bench.run()
    bench.apply(
        orders("merge", "overwrite").replace(
            "SELECT id, amount, at FROM", "SELECT id, amount * 2 AS amount, at FROM"
        )
    )
    done = bench.run()

    assert (done[2].status, done[3].status) == ("skipped", "succeeded")
    assert "--full-refresh" in str(done[2].because)
    assert gold(bench) == [(1, 20)]
    assert bench.run()[3].status == "skipped"


def test_a_backfill_with_changed_sql_still_says_that_older_rows_are_not_in_line(
    bench: Bench,
) -> None:
    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 1, 1), order(2, 2, 2))
    bench.run()
    bench.apply(
        orders().replace(
            "SELECT id, amount, at FROM bronze", "SELECT id, amount * 2 AS amount, at FROM bronze"
        )
    )
    done = bench.run("stage:@-2", **window("2026-01-02", "2026-01-03"))
    assert done[2].rows_read == 1
    assert bench.rows("silver", "id", "amount") == [(1, 1), (2, 4)]
    later = bench.run("stage:@-2")[2]
    assert later.status == "skipped"
    assert "--full-refresh" in str(later.because)
    assert bench.run("stage:@-2", full_refresh=True)[2].status == "succeeded"
    assert "--full-refresh" not in str(bench.run("stage:@-2")[2].because)


def test_a_stage_that_is_not_enabled_is_left_out_and_its_readers_use_what_was_published(
    bench: Bench,
) -> None:
    bench.apply(orders("merge", "overwrite"))
    bench.bring("a.jsonl", order(1, 10))
    bench.run()
    bench.apply(
        orders("merge", "overwrite")
        .replace("stage_order: 2\n", "stage_order: 2\n    enabled: false\n")
        .replace(
            "SELECT id, amount, at FROM silver", "SELECT id, amount + 1 AS amount, at FROM silver"
        )
    )
    bench.bring("b.jsonl", order(2, 20))
    done = bench.run()

    assert (done[1].status, done[2].status, done[3].status) == ("succeeded", "skipped", "succeeded")
    assert done[2].because == f"stage '{bench.tag}-2' is not enabled"
    assert bench.rows("silver", "id") == [(1,)]
    assert gold(bench) == [(1, 11)]
    newest = runs.recent_runs(bench.runtime.journal, pipeline_id=bench.tag, most=1)[0]
    assert (newest.status, newest.because) == (
        "succeeded",
        f"left out: stage '{bench.tag}-2' is not enabled",
    )


def test_a_dry_run_of_a_backfill_leaves_out_what_is_not_enabled(bench: Bench) -> None:
    bench.apply(orders().replace("stage_order: 2\n", "stage_order: 2\n    enabled: false\n"))
    catalog_index, resources = bench.runtime.catalog_indexer.catalog_index(), bench.resources()
    requested = Window(start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 2, 1, tzinfo=UTC))
    found = backfill_preview.preview(
        catalog_index, [bench.tag], requested, resources.increments, resources.storage
    )
    assert [preview.stage_id for preview in found] == [f"{bench.tag}-1", f"{bench.tag}-3"]
    without = backfill_preview.left_out(catalog_index, [bench.tag])
    assert f"{bench.tag}-2 is left out: it is not enabled" in list(
        backfill_preview.as_lines(found, without)
    )


def test_a_variant_reaches_a_warehouse_as_json(bench: Bench) -> None:
    sql = "SELECT id, parse_json(concat('{\"a\":', amount, '}')) AS amount, at FROM silver_@"
    bench.apply(orders().replace("SELECT id, amount, at FROM silver_@", sql))
    bench.bring("a.jsonl", order(1, 10))
    bench.run()
    assert gold(bench) == [(1, '{"a":10}')]


def test_a_restore_to_rows_of_an_earlier_definition_says_so(bench: Bench) -> None:
    bench.apply(orders())
    bench.bring("a.jsonl", order(1, 1, 1), order(2, 2, 2))
    bench.run()
    before = str(history(dataset(bench, "silver"), bench.runtime.storage).current)
    bench.apply(
        orders().replace(
            "SELECT id, amount, at FROM bronze", "SELECT id, amount * 2 AS amount, at FROM bronze"
        )
    )
    bench.run("stage:@-2", full_refresh=True)
    restore(bench, "silver", before)
    assert bench.rows("silver", "id", "amount") == [(1, 1), (2, 2)]
    later = bench.run("stage:@-2")[2]
    assert later.status == "skipped"
    assert "--full-refresh" in str(later.because)
