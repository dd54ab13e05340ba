"""A pipeline of three appending stages, for tests of what follows when its rows change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from goldsmith.journal.tables import StageRun
from spark.engine.conftest import Bench

SHOP = """
sources:
  - {source_id: raw_@, s3_path: "s3://raw/@/", file_format: json}
targets:
  - {target_id: bronze_@, location: "s3://lake/@/bronze/", type: iceberg}
  - {target_id: silver_@, location: "s3://lake/@/silver/", type: iceberg}
  - {target_id: gold_@, location: "@.daily", type: redshift}
pipelines:
  - {pipeline_id: "@"}
stages:
  - {pipeline_id: "@", stage_order: 1, stage_name: land, source_id: raw_@, target_id: bronze_@}
  - {pipeline_id: "@", stage_order: 2, stage_name: clean, source_id: bronze_@, target_id: silver_@}
  - {pipeline_id: "@", stage_order: 3, stage_name: serve, source_id: silver_@, target_id: gold_@,
     write_mode: append}
"""


TWO = """
sources:
  - {source_id: raw_@, s3_path: "s3://raw/@/", file_format: json}
  - {source_id: more_@, s3_path: "s3://raw/@_more/", file_format: json}
targets:
  - {target_id: bronze_@, location: "s3://lake/@/bronze/", type: iceberg}
pipelines:
  - {pipeline_id: "@"}
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: raw_@, target_id: bronze_@, layer: bronze}
  - {pipeline_id: "@", stage_order: 2, source_id: more_@, target_id: bronze_@, layer: bronze}
"""


@pytest.fixture
def shop(bench: Bench) -> Bench:
    """A pipeline of three appending stages, the last into a warehouse, with two rows loaded."""
    bench.apply(SHOP)
    bench.bring("a.json", {"id": 1}, {"id": 2})
    statuses(bench.run(), "succeeded")
    return bench


@pytest.fixture
def two(bench: Bench) -> Bench:
    """Two stages that append to one target from two sources, each with one row loaded."""
    more(bench)
    bench.apply(TWO)
    bench.bring("a.json", {"id": 1})
    bench.bring(f"../{bench.tag}_more/a.json", {"id": 10})
    statuses(bench.run(), "succeeded")
    assert ids(bench, "bronze") == [1, 10]
    return bench


def more(bench: Bench) -> None:
    """Make the folder of the second source."""
    Path(bench.runtime.settings.address(f"s3://raw/{bench.tag}_more/")).mkdir(parents=True)


def statuses(done: dict[int, Any], *expected: str) -> None:
    found = {stage_run.status for stage_run in done.values()}
    assert found == set(expected), {n: (o.status, o.error_message) for n, o in done.items()}


def gold(bench: Bench, table: str | None = None) -> list[Any]:
    import duckdb

    file = str(bench.runtime.settings.warehouses["redshift"].path)
    named = table or f"{bench.tag}.daily"
    with duckdb.connect(file, read_only=True) as connection:
        found = connection.sql(f"SELECT id FROM {named} ORDER BY 1").fetchall()
    return [row[0] for row in found]


def ids(bench: Bench, layer: str) -> list[int]:
    return [row[0] for row in bench.rows(layer, "id")]


def rename(bench: Bench, old: str, new: str) -> None:
    bench.sql(f"UPDATE targets SET target_id = '{new}' WHERE target_id = '{old}'")
    bench.sql(f"UPDATE stages SET target_id = '{new}' WHERE target_id = '{old}'")
    bench.sql(f"UPDATE stages SET source_id = '{new}' WHERE source_id = '{old}'")


def unrecord(bench: Bench, done: StageRun) -> None:
    """Make it look as if the process had died after the publish and before the record of it."""
    bench.sql(
        "UPDATE stage_runs SET status = 'running', ended_at = NULL WHERE stage_run_id = ?",
        done.stage_run_id,
    )
    bench.sql(
        "UPDATE stage_ledgers SET published_by = (SELECT max(s.stage_run_id) FROM stage_runs s"
        " WHERE s.target_id = stage_ledgers.target_id AND s.status = 'succeeded')"
        " WHERE published_by = ?",
        done.stage_run_id,
    )
    for table in ("input_files", "input_snapshots"):
        bench.sql(f"UPDATE {table} SET counted = false WHERE stage_run_id = ?", done.stage_run_id)
