"""A lake table that somebody set to merge on read is refused: its readers would miss rows."""

from __future__ import annotations

from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE


def test_a_table_set_to_merge_on_read_elsewhere_is_refused(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    table = f"lake.bronze.bronze_{bench.tag}"
    alter = f"ALTER TABLE {table} SET TBLPROPERTIES"
    bench.spark.sql(f"{alter} ('write.merge.mode' = 'merge-on-read')")
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    done = bench.run()[1]
    assert (done.status, done.error_code) == ("failed", "NotCopyOnWrite")
    assert "write.merge.mode" in str(done.facts["hint"])
    bench.spark.sql(f"{alter} ('write.merge.mode' = 'copy-on-write')")
    assert bench.run()[1].status == "succeeded"
    assert bench.rows("bronze", "id") == [(1,), (2,)]
