"""What was loaded belongs to the target and its stage, whatever they are called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from goldsmith.errors import GoldsmithError
from goldsmith.planning.ledger_problems import HistoryUnclear, TableMoved, TargetRenamed
from goldsmith.planning.lost_tables import TargetGone, TargetReplaced
from spark.engine.conftest import Bench
from spark.engine.identity import TWO, gold, ids, more, rename, shop, statuses, two, unrecord

__all__ = ["shop", "two"]


def in_warehouse(bench: Bench, statement: str) -> None:
    import duckdb

    file = str(bench.runtime.settings.warehouses["redshift"].path)
    with duckdb.connect(file) as connection:
        connection.sql(statement.replace("@", bench.tag))


def test_a_renumbered_stage_goes_on_where_it_was(shop: Bench) -> None:
    shop.sql("UPDATE stages SET stage_order = stage_order * 10 WHERE pipeline_id = '@'")
    shop.sql("UPDATE stages SET layer = 'bronze' WHERE pipeline_id = '@' AND stage_order = 10")
    statuses(shop.run(), "skipped")
    shop.bring("b.json", {"id": 3})
    statuses(shop.run(), "succeeded")
    assert ids(shop, "bronze") == ids(shop, "silver") == gold(shop) == [1, 2, 3]


def test_a_pipeline_that_is_renamed_goes_on_where_it_was(shop: Bench) -> None:
    shop.sql("UPDATE stages SET pipeline_id = 'new_@' WHERE pipeline_id = '@'")
    shop.sql("UPDATE pipelines SET pipeline_id = 'new_@' WHERE pipeline_id = '@'")
    shop.bring("b.json", {"id": 3})
    statuses(shop.run("new_@"), "succeeded")
    assert ids(shop, "bronze") == ids(shop, "silver") == gold(shop) == [1, 2, 3]


def test_a_source_that_is_renamed_goes_on_where_it_was_in_every_later_run(shop: Bench) -> None:
    shop.sql("UPDATE sources SET source_id = 'new_@' WHERE source_id = 'raw_@'")
    shop.sql("UPDATE sources SET s3_path = 's3a://raw//@' WHERE source_id = 'new_@'")
    shop.sql("UPDATE stages SET source_id = 'new_@' WHERE source_id = 'raw_@'")
    shop.bring("b.json", {"id": 3})
    statuses(shop.run("stage:@-1"), "succeeded")
    statuses(shop.run("stage:@-1"), "skipped")
    shop.bring("a.json", {"id": 4})
    statuses(shop.run(), "succeeded")
    assert ids(shop, "bronze") == ids(shop, "silver") == gold(shop) == [3, 4]


def swap(bench: Bench, first: int, second: int) -> None:
    for before, after in ((first, 99), (second, first), (99, second)):
        bench.sql(
            f"UPDATE stages SET stage_order = {after} WHERE pipeline_id = '@'"
            f" AND stage_order = {before}"
        )


def test_two_stages_that_swap_their_numbers_keep_what_they_loaded(shop: Bench) -> None:
    swap(shop, 2, 3)
    shop.bring("b.json", {"id": 3})
    statuses(shop.run(), "succeeded")
    shop.bring("c.json", {"id": 4})
    statuses(shop.run(), "succeeded")
    assert ids(shop, "silver") == gold(shop) == [1, 2, 3, 4]


def test_a_run_killed_before_a_swap_is_settled_for_its_own_stage(shop: Bench) -> None:
    shop.bring("b.json", {"id": 3})
    done = shop.run()
    for order in (2, 3):
        unrecord(shop, done[order])
    swap(shop, 2, 3)
    statuses(shop.run(), "skipped")
    assert ids(shop, "silver") == gold(shop) == [1, 2, 3]


def test_a_full_refresh_after_a_swap_replaces_only_its_own_target(shop: Bench) -> None:
    swap(shop, 2, 3)
    statuses(shop.run("stage:@-3", full_refresh=True), "succeeded")
    assert shop.run("stage:@-2")[2].status == "skipped" or gold(shop) == [1, 2]
    shop.bring("b.json", {"id": 3})
    statuses(shop.run(), "succeeded")
    assert ids(shop, "silver") == gold(shop) == [1, 2, 3]


def test_writers_of_one_target_that_swap_numbers_load_nothing_twice(two: Bench) -> None:
    swap(two, 1, 2)
    statuses(two.run(), "skipped")
    two.bring("b.json", {"id": 2})
    two.bring(f"../{two.tag}_more/b.json", {"id": 11})
    statuses(two.run(), "succeeded")
    assert ids(two, "bronze") == [1, 2, 10, 11]


def test_a_full_refresh_of_a_target_with_two_writers_keeps_the_rows_of_both(two: Bench) -> None:
    statuses(two.run(full_refresh=True), "succeeded")
    assert ids(two, "bronze") == [1, 10]
    statuses(two.run(), "skipped")


def test_stages_nobody_can_tell_apart_are_refused(bench: Bench) -> None:
    more(bench)
    bench.apply(TWO)
    bench.sql("UPDATE stages SET source_id = 'raw_@' WHERE pipeline_id = '@'")
    bench.bring("a.json", {"id": 1})
    statuses(bench.run(), "succeeded")
    bench.sql("UPDATE stages SET stage_order = stage_order + 10 WHERE pipeline_id = '@'")
    refused(bench, HistoryUnclear)
    assert ids(bench, "bronze") == [1, 1]


def refused(bench: Bench, error: type[GoldsmithError], selection: str = "@") -> GoldsmithError:
    """A run is refused before anything runs, and nothing is published."""
    before = bench.sql("SELECT count(*) FROM stage_runs WHERE status = 'succeeded'")
    with pytest.raises(error) as raised:
        bench.run(selection)
    assert bench.sql("SELECT count(*) FROM stage_runs WHERE status = 'succeeded'") == before
    assert raised.value.hint
    return raised.value


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param(lambda b: rename(b, "silver_@", "silver_new_@"), TargetRenamed, id="renamed"),
        pytest.param(
            lambda b: b.sql(
                "UPDATE stages SET layer = 'gold', write_mode = 'append'"
                " WHERE target_id = 'silver_@'"
            ),
            TableMoved,
            id="another layer",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            lambda b: b.spark.sql(f"DROP TABLE lake.silver.silver_{b.tag}"),
            TargetGone,
            id="dropped",
        ),
        pytest.param(
            lambda b: made_anew(b), TargetReplaced, id="made anew", marks=pytest.mark.soak
        ),
        pytest.param(lambda b: rolled_back(b), TargetReplaced, id="rolled back by somebody"),
        pytest.param(
            lambda b: b.sql("UPDATE targets SET location = '@.other' WHERE target_id = 'gold_@'"),
            TableMoved,
            id="another table of the warehouse",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            lambda b: in_warehouse(b, 'DROP TABLE "@"."daily"'), TargetGone, id="dropped there"
        ),
        pytest.param(
            lambda b: in_warehouse(b, "DELETE FROM goldsmith.loads WHERE location = '@.daily'"),
            TargetReplaced,
            id="a warehouse put back from a backup",
        ),
        pytest.param(
            lambda b: in_warehouse(
                b, 'CREATE OR REPLACE TABLE "@"."daily" AS SELECT * FROM "@"."daily" LIMIT 1'
            ),
            TargetReplaced,
            id="made anew there",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_a_target_that_lost_its_rows_is_never_filled_with_only_what_is_new(
    shop: Bench, change: Callable[[Bench], object], error: type[GoldsmithError]
) -> None:
    change(shop)
    before = ids(shop, "bronze")
    refused(shop, error)
    shop.bring("b.json", {"id": 3})
    refused(shop, error)
    assert ids(shop, "bronze") == before
    statuses(shop.run(full_refresh=True), "succeeded")
    statuses(shop.run(), "skipped")


def test_a_ledger_without_the_id_of_its_table_is_taken_over(shop: Bench) -> None:
    in_warehouse(shop, 'COMMENT ON TABLE "@"."daily" IS \'Sales, by day\'')
    shop.sql("UPDATE stage_ledgers SET table_uuid = NULL WHERE target_id = 'gold_@'")
    shop.bring("b.json", {"id": 3})
    statuses(shop.run(), "succeeded")
    assert gold(shop) == [1, 2, 3]
    in_warehouse(shop, 'COMMENT ON TABLE "@"."daily" IS NULL')
    message = str(refused(shop, TargetReplaced))
    mark = message.partition("the mark '")[2].partition("'")[0]
    in_warehouse(shop, f'COMMENT ON TABLE "@"."daily" IS \'Sales. {mark}\'')
    statuses(shop.run(), "skipped")


def made_anew(bench: Bench) -> None:
    table, like = f"lake.silver.silver_{bench.tag}", f"lake.bronze.bronze_{bench.tag}"
    bench.spark.sql(f"DROP TABLE {table}")
    bench.spark.sql(f"CREATE TABLE {table} USING iceberg AS SELECT * FROM {like} LIMIT 0")


def rolled_back(bench: Bench) -> None:
    bench.bring("z.json", {"id": 9})
    statuses(bench.run(), "succeeded")
    table = f"lake.silver.silver_{bench.tag}"
    first = bench.spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at")
    bench.spark.sql(
        f"CALL lake.system.rollback_to_snapshot('silver.silver_{bench.tag}', {first.first()[0]})"
    )
    bench.bring("z.json").unlink()


def test_a_dropped_target_that_every_run_writes_anew_is_written_anew(shop: Bench) -> None:
    shop.sql("UPDATE stages SET write_mode = 'overwrite' WHERE target_id = 'gold_@'")
    statuses(shop.run(), "skipped", "succeeded")
    in_warehouse(shop, 'DROP TABLE "@"."daily"')
    assert shop.run()[3].status == "succeeded"
    assert gold(shop) == [1, 2]


def test_a_clock_that_was_ahead_does_not_make_snapshots_be_read_twice(shop: Bench) -> None:
    shop.bring("b.json", {"id": 3})
    first = shop.run()
    shop.sql(
        "UPDATE input_snapshots SET at = '2999-01-01 00:00:00' WHERE stage_run_id IN (?, ?)",
        first[2].stage_run_id,
        first[3].stage_run_id,
    )
    shop.sql(
        "UPDATE stage_runs SET started_at = '2999-01-01 00:00:00' WHERE run_id = ?",
        first[2].run_id,
    )
    shop.bring("c.json", {"id": 4})
    statuses(shop.run(), "succeeded")
    statuses(shop.run(), "skipped")
    shop.bring("d.json", {"id": 5})
    statuses(shop.run(), "succeeded")
    assert ids(shop, "silver") == gold(shop) == [1, 2, 3, 4, 5]
