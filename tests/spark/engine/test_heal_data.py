"""Data, tables, time and room: real errors, each pair ending healed or with a person asked."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from spark.engine.conftest import Bench, Elsewhere
from spark.engine.healing import (
    BRONZE,
    GOLD,
    MERGED,
    SILVER,
    allowing,
    expected_story,
    healed,
    incident_of,
    on,
    run_until_over,
    story,
)

pytestmark = pytest.mark.soak

#: One more try and no more.
ONCE = """
retry_policies: [{retry_id: once, max_retries: 1, backoff_sec: 0}]
pipelines: [{pipeline_id: "@", default_retry_id: once}]
"""
TIMED = """
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "bronze_@"
    timeout_sec: SECONDS
    options: {partial: ok}
    transform_sql: >-
      SELECT id, amount FROM (SELECT id, amount, count(*) OVER () AS n FROM raw_@)
      WHERE n <= MOST OR reflect('java.lang.Thread', 'sleep', 600000L) = 'never'
"""


def rules(checks: str, more: str = "") -> str:
    stage_settings = f"    validation_set_id: rules_@\n{more}"
    rules = f'validation_rules: [{{rule_set_id: "rules_@", check_def: {checks}}}]\n'
    return f"{SILVER}{stage_settings}{rules}"


@pytest.mark.parametrize("point", ["branch-made", "audited"])
def test_a_branch_somebody_dropped_is_made_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    table = f"lake.bronze.bronze_{bench.tag}"

    def drop() -> None:
        for (name,) in bench.spark.sql(
            f"SELECT name FROM {table}.refs WHERE name <> 'main'"
        ).collect():
            bench.spark.sql(f"ALTER TABLE {table} DROP BRANCH `{name}`")

    on(monkeypatch, point, drop)
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,), (2,)]
    assert story(bench, done) == expected_story("BranchBroken", "rebuild_branch")


def test_a_table_that_lost_what_was_published_is_left_to_a_person(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(allowing(MERGED, "roll_back"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    files = bench.spark.sql(f"SELECT file_path FROM lake.silver.silver_{bench.tag}.files").collect()
    for row in files:
        Path(row[0].removeprefix("file:")).unlink()
    bench.bring("b.jsonl", {"id": 1, "amount": 11})
    failed = healed(bench)

    assert failed.status == "failed"
    assert story(bench, failed, 2) == expected_story("TableBroken", "roll_back", "open_incident")
    assert incident_of(bench, 2).error_code == "TableBroken"


def test_rows_that_break_a_check_are_quarantined(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(allowing(rules("[{type: not_null, column: amount}]"), "quarantine_rows"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": None})
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("silver", "id") == [(1,)]
    kept = bench.spark.table(f"lake.quarantine.silver_{bench.tag}").collect()
    assert len(kept) == 1
    assert story(bench, done, 2) == expected_story("CheckFailed", "quarantine_rows")


def test_a_check_no_row_is_to_blame_for_is_left_to_a_person(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(allowing(rules("[{type: row_count, min: 1000}]"), "quarantine_rows"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    failed = healed(bench)

    assert failed.status == "failed"
    assert story(bench, failed, 2) == expected_story(
        "CheckFailed", "quarantine_rows", "open_incident"
    )
    assert incident_of(bench, 2).tried[0].startswith("quarantine_rows for CheckFailed")


@pytest.mark.parametrize("optional", [True, False])
def test_an_error_nobody_knows_is_gone_without_or_left_to_a_person(
    bench: Bench, optional: bool
) -> None:
    bench.apply(BRONZE)
    poison = SILVER.replace("SELECT id, amount", "SELECT id, raise_error('poison') AS amount")
    bench.apply(poison + ("    options: {optional: true}\n" if optional else ""))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    ended = healed(bench)

    assert ended.status == ("done" if optional else "failed")
    assert bench.rows("bronze", "id") == [(1,)]
    remedy = "skip_optional" if optional else "open_incident"
    assert story(bench, ended, 2) == expected_story("Unclassified", remedy)
    if not optional:
        assert "poison" in str(incident_of(bench, 2).cause)


def test_duplicates_without_a_key_are_left_to_a_person(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(GOLD.replace("    keys: [id]\n", ""))
    file = Path(bench.runtime.settings.project) / ".goldsmith" / "warehouse.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS shop")
        connection.execute(f"CREATE TABLE shop.gold_{bench.tag} (id BIGINT UNIQUE, amount BIGINT)")
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 1, "amount": 10})
    failed = healed(bench)

    assert failed.status == "failed"
    assert story(bench, failed, 3) == expected_story("DuplicateRows", "open_incident")
    assert incident_of(bench, 3).error_code == "DuplicateRows"


def test_too_much_for_the_time_of_a_stage_is_read_in_parts(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(TIMED.replace("SECONDS", "30").replace("MOST", "20"))
    for number in range(66):
        bench.bring(f"{number}.jsonl", {"id": number, "amount": number})
    done = run_until_over(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(number,) for number in range(66)]
    beginning = expected_story("StageTimeout", "smaller_batches", "smaller_batches")
    assert story(bench, done)[: len(beginning)] == beginning


def test_a_stage_that_never_ends_in_its_time_is_left_to_a_person(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(ONCE)
    bench.apply(TIMED.replace("SECONDS", "10").replace("MOST", "0"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    failed = run_until_over(bench)

    assert failed.status == "failed"
    assert story(bench, failed) == expected_story(
        "StageTimeout", "smaller_batches", "open_incident"
    )
    assert incident_of(bench, 1).error_code == "StageTimeout"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A disk of its own with so much room."""
    mount_point = tmp_path / "disk"
    mount_point.mkdir()

    def of(size: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(mount_point)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("a small disk can only be mounted by root")
        return mount_point

    yield of
    subprocess.run(["umount", "--lazy", str(mount_point)], capture_output=True, check=False)


def gold_on(elsewhere: Elsewhere, disk: Path) -> Bench:
    """A bench that stages the rows of gold on that disk."""
    bench: Bench = elsewhere(
        f'[storage]\nfolder = "HOME/s3"\n[warehouses.redshift]\nstaging = "{disk}"\n'
    )
    first = BRONZE.replace('"bronze_@"}', '"gold_@", write_mode: append}', 1)
    bench.apply(first.replace("amount BIGINT", "amount STRING"))
    for number in range(12):
        texts = (base64.b64encode(os.urandom(1000)).decode() for _row in range(300))
        bench.bring(f"{number:02}.jsonl", *({"id": number, "amount": text} for text in texts))
    return bench


def test_a_full_disk_is_healed_by_using_less_of_it(
    elsewhere: Elsewhere, disk: Callable[[str], Path]
) -> None:
    bench = gold_on(elsewhere, disk("3m"))
    done = run_until_over(bench)

    assert done.status == "done", done.because
    file = Path(bench.runtime.settings.project) / ".goldsmith" / "warehouse.duckdb"
    with duckdb.connect(str(file), read_only=True) as connection:
        rows = connection.execute(
            f"SELECT id, count(*) FROM shop.gold_{bench.tag} GROUP BY id ORDER BY id"
        ).fetchall()
    assert rows == [(number, 300) for number in range(12)]
    beginning = expected_story("DiskFull", "spill_less", "spill_less")
    assert story(bench, done)[: len(beginning)] == beginning


def test_a_disk_that_is_too_small_for_anything_is_left_to_a_person(
    elsewhere: Elsewhere, disk: Callable[[str], Path]
) -> None:
    bench = gold_on(elsewhere, disk("64k"))
    bench.apply(ONCE)
    failed = run_until_over(bench)

    assert failed.status == "failed"
    assert story(bench, failed) == expected_story("DiskFull", "spill_less", "open_incident")
    assert incident_of(bench, 1).error_code == "DiskFull"
