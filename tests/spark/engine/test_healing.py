"""Real failures, healed: the right rows at the end, and the story in the audit log."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goldsmith.engine.warehouses.duckdb.warehouse import EmbeddedWarehouse
from goldsmith.journal import incidents, requests, runs
from goldsmith.worker import loop
from spark.engine.conftest import Bench
from spark.engine.healing import (
    BRONZE,
    GOLD,
    MERGED,
    SILVER,
    allowing,
    ask,
    healed,
    on,
    orders,
    stages,
    story,
)


def test_a_truncated_file_is_set_aside_until_it_is_written_anew(bench: Bench) -> None:
    allowed = allowing(BRONZE, "quarantine_files")
    bench.apply(allowed.replace("file_format: jsonl", "file_format: parquet"))
    good = bench.spark.createDataFrame([(1, 10)], "id BIGINT, amount BIGINT")
    broken = bench.bring("broken.parquet", "PAR1 half of a file")
    good.toPandas().to_parquet(broken.with_name("good.parquet"))
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == [
        *("StageFailed FileTruncated", "RemedyChosen retry_later"),
        *("RetryScheduled FileTruncated", "StageFailed FileTruncated"),
        *("RemedyDidNotHelp retry_later", "RemedyChosen retry_later"),
        *("RetryScheduled FileTruncated", "StageFailed FileTruncated"),
        *("RemedyDidNotHelp retry_later", "RemedyChosen quarantine_files"),
        *("RetryScheduled FileTruncated", "StageFinished", "StageHealed quarantine_files"),
    ]
    more = bench.spark.createDataFrame([(2, 20)], "id BIGINT, amount BIGINT")
    more.toPandas().to_parquet(broken)
    assert healed(bench).status == "done"
    assert bench.rows("bronze", "id") == [(1,), (2,)]


def test_records_that_stop_a_stage_are_quarantined(bench: Bench) -> None:
    allowed = allowing(BRONZE, "quarantine_rows")
    bench.apply(allowed.replace("jsonl", "jsonl\n    options: {mode: FAILFAST}"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, "this is no JSON", {"id": 2, "amount": 20})
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,), (2,)]
    kept = bench.spark.table(f"lake.quarantine.bronze_{bench.tag}").collect()
    assert [row["_text"] for row in kept] == ["this is no JSON"]
    assert story(bench, done)[-1] == "StageHealed quarantine_rows"


def test_a_new_column_evolves_a_target_whose_stage_allows_it(bench: Bench) -> None:
    bench.apply(BRONZE)
    allowed = allowing(SILVER, "evolve_schema")
    bench.apply(allowed)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    bench.apply(allowed.replace("SELECT id, amount", "SELECT id, amount, 'x' AS more"))
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("silver", "id", "more") == [(1, None), (2, "x")]
    assert story(bench, done)[-4:] == [
        *("RemedyChosen evolve_schema", "RetryScheduled SchemaMismatch"),
        *("StageFinished", "StageHealed evolve_schema"),
    ]


def test_a_frozen_target_stays_as_it_is_and_opens_an_incident(bench: Bench) -> None:
    bench.apply(BRONZE)
    frozen = SILVER + "    schema_policy: freeze\n"
    bench.apply(frozen)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    bench.apply(frozen.replace("SELECT id, amount", "SELECT id, amount, 'x' AS more"))
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    failed = healed(bench)

    assert failed.status == "failed"
    assert bench.columns("silver") == ["id", "amount"]
    assert story(bench, failed)[-3:] == [
        *("RemedyChosen open_incident", "StageHeld SchemaMismatch"),
        "IncidentOpened SchemaMismatch",
    ]
    incident = next(
        listed
        for listed in incidents.listed(bench.runtime.journal)
        if listed.about == f"stage:{bench.tag}-2"
    )
    assert (incident.owner, incident.error_code) == ("ann", "SchemaMismatch")
    bench.apply(SILVER + "    schema_policy: evolve\n")
    assert healed(bench).status == "done"
    closed = incidents.get(bench.runtime.journal, incident.incident_id)
    assert (closed.status, closed.closed_by) == ("closed", "goldsmith")


CRITICAL = """    validation_set_id: rules_@
validation_rules:
  - rule_set_id: "rules_@"
    check_def: [{type: not_null, column: amount, severity: critical, on_fail: fail}]
"""


@pytest.mark.parametrize(
    "said", [CRITICAL, CRITICAL.replace(", severity: critical, on_fail: fail", "")]
)
def test_no_shipped_remedy_publishes_past_a_critical_check(bench: Bench, said: str) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER + said)
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": None})
    failed = healed(bench)

    assert failed.status == "failed"
    assert bench.rows("silver", "id") == []
    assert "RemedyChosen quarantine_rows" not in story(bench, failed)


def test_no_shipped_remedy_evolves_a_target_that_is_frozen_by_default(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    bench.apply(SILVER.replace("SELECT id, amount", "SELECT id, amount, 'x' AS more"))
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    failed = healed(bench)

    assert failed.status == "failed"
    assert bench.columns("silver") == ["id", "amount"]


def test_a_pair_that_the_user_wrote_evolves_a_target_that_is_frozen_by_default(
    bench: Bench,
) -> None:
    bench.apply("healing_actions: [{error_code: SchemaMismatch, action_script: evolve_schema}]")
    bench.apply(BRONZE)
    bench.apply(SILVER)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    bench.apply(SILVER.replace("SELECT id, amount", "SELECT id, amount, 'x' AS more"))
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    try:
        assert healed(bench).status == "done"
    finally:
        allowed = "settings: {only_where_allowed: true}"
        pair = f"{{error_code: SchemaMismatch, action_script: evolve_schema, {allowed}}}"
        bench.apply(f"healing_actions: [{pair}]")
    assert bench.rows("silver", "id", "more") == [(1, None), (2, "x")]


def test_a_file_that_vanished_is_left_out_by_listing_anew(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    gone = bench.bring("b.jsonl", {"id": 2, "amount": 20})
    on(monkeypatch, "inputs-noted", gone.unlink)
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert story(bench, done) == [
        *("StageFailed FileVanished", "RemedyChosen reread_files", "RetryScheduled FileVanished"),
        *("StageFinished", "StageHealed reread_files"),
    ]


def test_a_lost_race_is_planned_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    table = f"lake.bronze.bronze_{bench.tag}"
    on(
        monkeypatch,
        "audited",
        lambda: bench.spark.sql(f"INSERT INTO {table} (id, amount) VALUES (9, 90)"),
    )
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,), (2,), (9,)]
    assert "RemedyChosen plan_again" in story(bench, done)


def test_too_much_at_once_is_read_in_parts_until_nothing_is_left(bench: Bench) -> None:
    bench.apply(
        BRONZE.replace('target_id: "bronze_@"}', 'target_id: "bronze_@", validation_set_id: few}')
        + """
validation_rules: [{rule_set_id: few, check_def: [{type: row_count, max: 2}]}]
healing_actions:
  - {error_code: CheckFailed, action_script: smaller_batches, settings: {files_at_once: 2}}
"""
    )
    for number in range(5):
        bench.bring(f"{number}.jsonl", {"id": number, "amount": number})
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(number,) for number in range(5)]
    journal = bench.runtime.journal
    stage_runs = [
        stage_run for run in done.run_ids for stage_run in runs.stage_runs_of(journal, run)
    ]
    assert [stage_run.rows_written for stage_run in stage_runs] == [None, 2, 2, 1]
    bench.apply(
        "healing_actions: [{error_code: CheckFailed, action_script: quarantine_rows, settings: {}}]"
    )


def test_a_locked_warehouse_is_waited_for_as_a_row(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(GOLD)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    file = Path(bench.runtime.settings.project) / ".goldsmith" / "warehouse.duckdb"
    file.parent.mkdir(parents=True, exist_ok=True)
    holds = (
        f"import duckdb, sys; held = duckdb.connect({str(file)!r}); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        request = ask(bench)
        storage = bench.runtime.storage
        settings = storage.settings.warehouses["redshift"]
        impatient = replace(
            bench.resources(),
            warehouse=lambda _: EmbeddedWarehouse(storage, settings, wait_seconds=0.1),
        )
        loop.tick(bench.runtime, impatient, orders(), awaited=request.request_id)
        waiting = requests.get(bench.runtime.journal, request.request_id)
        holder.communicate()
    assert (waiting.status, waiting.attempt, waiting.pipelines) == ("waiting", 2, (bench.tag,))
    assert waiting.because == (
        f"{bench.tag}-3 failed (LockTimeout): somebody holds a lock; it is tried again"
    )
    done = healed(bench, request)

    assert done.status == "done", done.because
    assert story(bench, done)[-1] == "StageHealed wait_for_lock"


@pytest.mark.soak
def test_a_duplicate_that_the_warehouse_refuses_is_taken_out(bench: Bench) -> None:
    import duckdb

    bench.apply(BRONZE)
    bench.apply(allowing(GOLD, "deduplicate"))
    file = Path(bench.runtime.settings.project) / ".goldsmith" / "warehouse.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS shop")
        connection.execute(
            f"CREATE TABLE shop.gold_{bench.tag} (id BIGINT PRIMARY KEY, amount BIGINT)"
        )
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 1, "amount": 10})
    done = healed(bench)

    assert done.status == "done", done.because
    with duckdb.connect(str(file), read_only=True) as connection:
        rows = connection.execute(f"SELECT id, amount FROM shop.gold_{bench.tag}").fetchall()
    assert rows == [(1, 10)]
    assert story(bench, done)[-1] == "StageHealed deduplicate"
    last = stages(bench, done)[-1]
    assert (last.rows_read, last.rows_written, last.rows_dropped) == (2, 1, 1)


@pytest.mark.soak
def test_an_optional_stage_is_left_out_and_the_rest_goes_on(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(
        SILVER
        + "    validation_set_id: never\n    options: {optional: true}\n"
        + "validation_rules: [{rule_set_id: never, check_def: [{type: row_count, min: 1000}]}]\n"
    )
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id") == [(1,)]
    assert "RemedyChosen skip_optional" in story(bench, done)


def test_a_script_mends_the_source_and_the_stage_is_tried_again(
    bench: Bench, tmp_path: Path
) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER.replace("SELECT id, amount", "SELECT id, 10 / amount AS amount"))
    broken = bench.bring("a.jsonl", {"id": 1, "amount": 0})
    script = tmp_path / "mend.py"
    script.write_text(
        "import json, pathlib, sys\n"
        "failure = json.load(sys.stdin)\n"
        "assert failure['code'] == 'DivideByZero'\n"
        "print(json.dumps({'do': 'skip', 'because': 'nothing can be divided',"
        " 'adjust': {'skip': 'nothing can be divided'}}))\n"
    )
    command = json.dumps(f"{sys.executable} {script}")
    bench.apply(f"healing_actions: [{{error_code: DivideByZero, action_script: {command}}}]")
    done = healed(bench)

    assert done.status == "done", done.because
    assert broken.exists()
    assert story(bench, done)[-2:] == [
        "StageSkipped",
        f"StageHealed {sys.executable} {script}",
    ]


def test_a_poison_stage_stops_costing_after_its_budget(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER.replace("SELECT id, amount", "SELECT id, raise_error('poison') AS amount"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.apply("healing_actions: [{error_code: Unclassified, action_script: plan_again}]")
    failed = healed(bench)

    assert failed.status == "failed"
    stage_runs: list[Any] = [
        stage_run
        for run in failed.run_ids
        for stage_run in runs.stage_runs_of(bench.runtime.journal, run)
        if stage_run.status == "failed"
    ]
    # Three uses of its remedy, as its row allows, and no more: the policy would allow four.
    assert len(stage_runs) == 4
    bench.apply("healing_actions: [{error_code: Unclassified, action_script: skip_optional}]")


@pytest.mark.soak
def test_without_a_policy_nothing_is_tried_again(bench: Bench) -> None:
    bench.apply(BRONZE.replace(", default_retry_id: at_once", ""))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.apply(SILVER.replace("SELECT id", "SELECT nothing"))
    failed = healed(bench)

    assert (failed.status, failed.attempt) == ("failed", 1)


@pytest.mark.soak
def test_a_table_somebody_broke_goes_back_to_what_was_published(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(allowing(MERGED, "roll_back"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert healed(bench).status == "done"
    table = f"lake.silver.silver_{bench.tag}"
    bench.spark.sql(f"INSERT INTO {table} VALUES (7, 70)")
    newest = f"(SELECT snapshot_id FROM {table}.refs WHERE name = 'main')"
    files = bench.spark.sql(
        f"SELECT data_file.file_path FROM {table}.entries WHERE snapshot_id = {newest}"
    ).collect()
    for row in files:
        Path(row[0].removeprefix("file:")).unlink(missing_ok=True)
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    done = healed(bench)

    assert done.status == "done", done.because
    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 20)]
    events = story(bench, done)
    assert events.index("RemedyChosen roll_back") < events.index("DatasetRestored")
    assert events[-1] == "StageHealed roll_back"
