"""A column that a run brings shows before its rows do, and does no harm (decision 0008)."""

from __future__ import annotations

from typing import Any

import pytest

from goldsmith.engine import faults
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE, SILVER, WIDER

_BEFORE = '"id BIGINT, amount BIGINT, at TIMESTAMP"'


def test_a_new_column_is_empty_until_the_publish_and_changes_nothing_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    lake = bench.runtime.storage.lake()
    assert lake is not None
    name = ("bronze", f"bronze_{bench.tag}")

    def look() -> tuple[int, list[dict[str, Any]]]:
        table = lake.load_table(name)
        snapshot = table.current_snapshot()
        selection = [c for c in ("id", "amount", "channel") if c in table.schema().column_names]
        return snapshot.snapshot_id, table.scan(
            selected_fields=tuple(selection)
        ).to_arrow().to_pylist()

    snapshot, rows = look()
    assert rows == [{"id": 1, "amount": 10}]
    seen: dict[str, tuple[int, list[dict[str, Any]]]] = {}

    def fail(point: str) -> None:
        if point in ("schema-changed", "written"):
            seen[point] = look()
        if point == "before-publish":
            raise OSError("the power went")

    bench.apply(BRONZE.replace(_BEFORE, WIDER))
    bench.bring("b.jsonl", {"id": 2, "amount": 20, "channel": "app"})
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(faults, "reach", fail)
        assert bench.run()[1].status == "failed"

    # The same snapshot, the same rows, and one column more that holds nothing.
    early = (snapshot, [{"id": 1, "amount": 10, "channel": None}])
    assert seen == {"schema-changed": early, "written": early}
    # The run was not published: the table has the schema back that it had.
    assert look() == (snapshot, rows)
    # Whoever reads it incrementally has no news.
    assert bench.run("bronze_@+")[2].status in ("skipped", "succeeded")
    assert sorted(row["channel"] or "" for row in look()[1]) == ["", "app"]
    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 20)]
