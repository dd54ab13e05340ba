"""Rows pass through a plugin of every kind, each an entry point of another package."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

import another_package
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.file_formats import FORMATS
from goldsmith.catalog.transforms import TRANSFORMS
from goldsmith.catalog.write_modes import WRITE_MODES
from goldsmith.checks.check import CHECKS
from goldsmith.engine.read import reading
from goldsmith.engine.warehouses.open import WAREHOUSES
from goldsmith.engine.warehouses.warehouse import WarehouseBusy
from goldsmith.healing.remedy import REMEDIES
from goldsmith.planning.integrity import check
from goldsmith.planning.planner import CatalogHasErrors
from goldsmith.runtime import Runtime
from goldsmith.settings.warehouse_kinds import KINDS
from spark.engine.conftest import Bench
from spark.engine.healing import on, run_until_over, story

REGISTRIES = (CHECKS, REMEDIES, check.FINDINGS, FORMATS, TRANSFORMS, WRITE_MODES, WAREHOUSES, KINDS)
STAGES = """
retry_policies: [{retry_id: at_once, max_retries: 2, backoff_sec: 0}]
healing_actions: [{error_code: WarehouseBusy, action_script: try_once_more, enabled: true}]
healing_steps: []
pipelines: [{pipeline_id: "@", default_retry_id: at_once}]
validation_rules:
  - {rule_set_id: "even_@", check_def: [{type: even, column: id, on_fail: quarantine}]}
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "bronze_@"
    validation_set_id: "even_@"
    options: {description: as delivered, upper: {city: true}}
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    keys: [id]
    watermark_column: at
    transform_sql: SELECT id, city, at, gone FROM bronze_@
    options: {description: one row an id, write_mode: apply_changes, deleted_where: gone}
  - pipeline_id: "@"
    stage_order: 3
    source_id: "bronze_@"
    target_id: "gold_@"
    keys: [id]
    watermark_column: at
    transform_sql: SELECT id, city, at, gone FROM bronze_@
    options: {read: new, description: the same, write_mode: apply_changes, deleted_where: gone}
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    declared_schema: "id BIGINT, city STRING, at TIMESTAMP, gone BOOLEAN"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The other package, as an installed distribution announces its entry points."""
    about = tmp_path / "site" / "another_package-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: another_package\nVersion: 1.0\n")
    points = [
        line
        for group, names in another_package.ENTRY_POINTS.items()
        for line in (f"[{group}]", *(f"{name} = another_package:{name}" for name in names))
    ]
    (about / "entry_points.txt").write_text("\n".join(points) + "\n")
    monkeypatch.syspath_prepend(str(about.parent))
    _read_entry_points_again()
    yield
    monkeypatch.undo()
    _read_entry_points_again()


def _read_entry_points_again() -> None:
    """Registries read entry points once a process."""
    for registry in REGISTRIES:
        registry.__dict__.pop("_plugins", None)
    check.rules.cache_clear()
    reading._endings.cache_clear()


@pytest.fixture
def bench(
    installed: None, with_catalog: Runtime, spark: SparkSession, tmp_path: Path
) -> Iterator[Bench]:
    """A project with a catalog of its own: no other test sees rows that name these plugins."""
    home = Path(with_catalog.settings.project) / ".goldsmith"
    folder, url = tmp_path / "project", f"sqlite:///{tmp_path}/catalog.db"
    folder.mkdir()
    (folder / "goldsmith.toml").write_text(
        f'name = "plugged"\n[catalog]\nurl = "{url}"\n[storage]\nfolder = "{home}/s3"\n'
        f'[lake]\nuri = "{with_catalog.settings.lake.uri}"\nwarehouse = "{home}/lake"\n'
        f'io = "hadoop"\n[staging]\nfolder = "{home}/staging"\n'
        f'[warehouses.redshift]\nkind = "counting_duckdb"\npath = "{tmp_path}/gold.duckdb"\n'
    )
    Catalog.open(url, create=True).close()
    ours = {name: value for name, value in os.environ.items() if "GOLDSMITH" not in name}
    runtime = Runtime.of(ours, project=folder, environment=None, cwd=folder)
    yield Bench(runtime=runtime, spark=spark)
    runtime.close()


def test_rows_pass_through_a_plugin_of_every_kind(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CatalogHasErrors, match="has no description"):
        bench.apply(STAGES.replace("description: the same, ", ""))
    bench.apply(STAGES)
    bench.bring("a.bars", "2|bern|2026-01-01|false", "3|odd|2026-01-01|false")
    bench.bring("b.bars", "4|basel|2026-01-01|false", "6|never|2026-01-01|true")

    def busy() -> None:
        raise WarehouseBusy(where="the test", cause="it is short of everything")

    on(monkeypatch, "warehouse-merged", busy)
    done = run_until_over(bench)
    assert done.status == "done", done.because
    assert story(bench, done, 3) == [
        "StageFailed WarehouseBusy",
        "RemedyChosen try_once_more",
        "RetryScheduled WarehouseBusy",
        "StageFinished",
        "StageHealed try_once_more",
    ]
    assert bench.rows("bronze", "id", "city") == [(2, "BERN"), (4, "BASEL"), (6, "NEVER")]
    assert quarantined_ids(bench) == [3]

    bench.bring("c.bars", "2|biel|2026-01-02|false", "4|basel|2026-01-02|true")
    bench.bring("d.bars", "2|late|2026-01-01|false", "8|bulle|2026-01-02|false")
    assert {stage_run.status for stage_run in bench.run().values()} == {"succeeded"}
    expected = [(2, "BIEL"), (8, "BULLE")]
    assert bench.rows("silver", "id", "city") == expected
    table = f"shop.gold_{bench.tag}"
    with duckdb.connect(str(tmp_path / "gold.duckdb"), read_only=True) as connection:
        loaded = connection.execute(f"SELECT id, city FROM {table} ORDER BY id").fetchall()
    assert loaded == expected
    assert another_package.CountingWarehouse.loads == [table] * 3

    # All of it again: no row may stay that a deleted key had, none may come twice.
    again = bench.run(full_refresh=True)
    assert {stage_run.status for stage_run in again.values()} == {"succeeded"}
    assert bench.rows("silver", "id", "city") == expected
    assert bench.leftovers() == []


def test_a_write_mode_that_leaves_rows_it_had_to_replace_publishes_nothing(bench: Bench) -> None:
    mode = "description: as delivered, write_mode: keep_all"
    # Without checks the mode itself writes: no staged files are registered.
    unchecked = STAGES.replace('    validation_set_id: "even_@"\n', "")
    bench.apply(unchecked.replace("description: as delivered", mode))
    bench.bring("a.bars", "2|bern|2026-01-01|false")
    assert bench.run("stage:@-1")[1].status == "succeeded"
    failed = bench.run("stage:@-1", full_refresh=True)[1]
    assert (failed.status, failed.error_code) == ("failed", "CountsDisagree")
    assert bench.rows("bronze", "id") == [(2,)]
    assert bench.leftovers() == []


def quarantined_ids(bench: Bench) -> list[int]:
    rows = bench.spark.table(f"lake.quarantine.bronze_{bench.tag}").select("_row").collect()
    return sorted(json.loads(row[0])["id"] for row in rows)
