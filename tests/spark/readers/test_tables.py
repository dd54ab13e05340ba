"""What is new of an Iceberg table, after everything that can happen to one."""

from __future__ import annotations

import itertools

import pytest
from pyspark.sql import SparkSession
from source_folder import ddl, plain

from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.read.tables import ReadKind, TableRead, read_new
from goldsmith.storage.spark_addresses import spark_address
from goldsmith.storage.storage import Storage

_NUMBERS = itertools.count()


class Table(LakeTable):
    """A table with a shorter way to change it."""

    def sql(self, statement: str) -> str:
        """Run a statement over the table `t`; the snapshot after it."""
        self.spark.sql(statement.replace(" t ", f" {self.sql_name} "))
        return self.now

    def call(self, procedure: str, more: str) -> str:
        self.spark.sql(
            f"CALL lake.system.{procedure}(table => '{'.'.join(self.parts[1:])}', {more})"
        )
        return self.now

    def forget(self, snapshot: str, storage: Storage) -> None:
        """Expire one snapshot; pyiceberg does it in a moment, and leaves the files."""
        lake = storage.lake()
        assert lake is not None
        found = lake.load_table(self.parts[1:])
        found.maintenance.expire_snapshots().by_id(int(snapshot)).commit()

    @property
    def now(self) -> str:
        return str(self.current_snapshot())

    def new(self, since: str | None, until: str | None = None) -> TableRead:
        return read_new(self.spark, self, since, until or self.now)


@pytest.fixture
def table(spark: SparkSession, storage: Storage) -> Table:
    """A table of ids and texts that holds (1, 'a') and (2, 'b')."""
    made = Table(spark, "silver", f"table_{next(_NUMBERS)}")
    location = spark_address(storage, f"s3://company/silver/{made.parts[-1]}")
    made.create(ddl("id BIGINT, v STRING"), location=location, partition_by=(), properties={})
    made.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return made


MERGE = """
    MERGE INTO t USING (SELECT 2L AS new, 'B' AS w UNION ALL SELECT 9L, 'n') ON id = new
    WHEN MATCHED THEN UPDATE SET v = w
    WHEN NOT MATCHED THEN INSERT (id, v) VALUES (new, w)
"""


def test_a_table_read_for_the_first_time_is_read_in_full_as_it_was(table: Table) -> None:
    first = table.now
    table.sql("INSERT INTO t VALUES (3, 'c')")
    read = table.new(None, first)
    assert (read.kind, read.because) == (ReadKind.ALL, "it was not read before")
    assert plain(read.rows) == [(1, "a"), (2, "b")]


def test_nothing_is_new_of_a_table_that_stayed_the_same(table: Table) -> None:
    read = table.new(table.now)
    assert read.kind is ReadKind.NOTHING
    assert plain(read.rows) == []


def test_appended_rows_are_new_and_compaction_brings_none(table: Table) -> None:
    first = table.now
    second = table.sql("INSERT INTO t VALUES (3, 'c')")
    compacted = table.call("rewrite_data_files", "options => map('rewrite-all', 'true')")
    assert compacted != second
    third = table.sql("INSERT INTO t VALUES (4, 'd')")
    assert table.new(first).kind is ReadKind.APPENDED
    assert plain(table.new(first).rows) == [(3, "c"), (4, "d")]
    assert plain(table.new(first, second).rows) == [(3, "c")]
    assert plain(table.new(second, compacted).rows) == []
    assert plain(table.new(compacted, third).rows) == [(4, "d")]


def test_a_merge_brings_what_it_inserted_and_what_it_updated(table: Table) -> None:
    first = table.now
    table.sql(MERGE)
    read = table.new(first)
    assert (read.kind, read.because) == (
        ReadKind.CHANGED,
        "1 snapshots since, with overwrite among them",
    )
    assert read.rows.columns == ["id", "v"]
    assert plain(read.rows) == [(2, "B"), (9, "n")]


def test_what_changed_twice_is_new_once_and_what_was_deleted_is_not(table: Table) -> None:
    first = table.now
    table.sql(MERGE)
    table.sql("INSERT INTO t VALUES (7, 'x'), (7, 'x')")
    table.sql("UPDATE t SET v = 'BB' WHERE id = 2")
    table.sql("DELETE FROM t WHERE id = 9")
    table.call("rewrite_data_files", "options => map('rewrite-all', 'true')")
    assert plain(table.new(first).rows) == [(2, "BB"), (7, "x"), (7, "x")]


def test_an_overwrite_brings_the_rows_that_were_not_there(table: Table) -> None:
    first = table.now
    table.sql("INSERT OVERWRITE t VALUES (1, 'a'), (8, 'n')")
    read = table.new(first)
    assert read.kind is ReadKind.CHANGED
    assert plain(read.rows) == [(8, "n")]


def test_a_column_that_came_in_between_is_read(table: Table) -> None:
    first = table.now
    table.sql("ALTER TABLE t ADD COLUMNS (x INT)")
    table.sql("INSERT INTO t VALUES (3, 'c', 5)")
    assert plain(table.new(first).rows) == [(3, "c", 5)]
    table.sql("UPDATE t SET x = 1 WHERE id = 1")
    assert plain(table.new(first).rows) == [(1, "a", 1), (3, "c", 5)]


def test_rows_published_from_a_branch_are_new_and_others_are_not(table: Table) -> None:
    first = table.now
    table.create_branch("run_1")
    rows = table.spark.sql("SELECT 3L AS id, 'c' AS v")
    table.append(rows, "run_1", "run-1")
    table.append(rows.selectExpr("id + 1 AS id", "v"), "run_1", "run-1")
    assert table.new(first).kind is ReadKind.NOTHING
    table.publish("run_1")
    table.drop_branch("run_1")
    table.create_branch("never")
    table.append(rows, "never", "run-2")
    read = table.new(first)
    assert read.kind is ReadKind.APPENDED
    assert plain(read.rows) == [(3, "c"), (4, "c")]


def test_a_snapshot_that_expired_still_says_what_was_appended_since(
    table: Table, storage: Storage
) -> None:
    first = table.now
    second = table.sql("INSERT INTO t VALUES (3, 'c')")
    table.sql("INSERT INTO t VALUES (4, 'd')")
    table.call("expire_snapshots", f"snapshot_ids => array({first})")
    assert plain(table.new(first).rows) == [(3, "c"), (4, "d")]
    table.forget(second, storage)
    read = table.new(first)
    assert read.kind is ReadKind.ALL
    assert "has expired" in read.because
    assert plain(read.rows) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_changes_since_a_snapshot_that_expired_are_everything(table: Table) -> None:
    first = table.now
    table.sql(MERGE)
    table.call("expire_snapshots", f"snapshot_ids => array({first})")
    read = table.new(first)
    assert read.kind is ReadKind.ALL
    assert "has expired" in read.because
    assert plain(read.rows) == [(1, "a"), (2, "B"), (9, "n")]


def test_a_table_that_was_restored_is_read_in_full(table: Table) -> None:
    first = table.now
    second = table.sql("INSERT INTO t VALUES (3, 'c')")
    table.call("rollback_to_snapshot", f"snapshot_id => {first}")
    read = table.new(second)
    assert read.kind is ReadKind.ALL
    assert "restored or rebuilt" in read.because
    assert plain(read.rows) == [(1, "a"), (2, "b")]
    table.sql("INSERT INTO t VALUES (5, 'e')")
    assert table.new(second).kind is ReadKind.ALL
    assert plain(table.new(first).rows) == [(5, "e")]


def test_a_table_that_was_rebuilt_is_read_in_full(table: Table) -> None:
    first = table.now
    table.sql("CREATE OR REPLACE TABLE t USING iceberg AS SELECT 1L AS id, 'z' AS v")
    read = table.new(first)
    assert read.kind is ReadKind.ALL
    assert plain(read.rows) == [(1, "z")]


def test_changes_of_a_table_with_a_map_are_everything(table: Table) -> None:
    table.sql("ALTER TABLE t ADD COLUMNS (more STRUCT<m: MAP<STRING, INT>>)")
    first = table.now
    appended = table.sql("INSERT INTO t VALUES (3, 'c', named_struct('m', map('k', 1)))")
    assert table.new(first).kind is ReadKind.APPENDED
    table.sql("DELETE FROM t WHERE id = 1")
    read = table.new(appended)
    assert read.kind is ReadKind.ALL
    assert "MAP in 'more'" in read.because
    assert plain(read.rows, "id") == [2, 3]
