"""Stops while something long is under way: a job of any step, a load, a wait, a script."""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from goldsmith.engine.session.cancel import tasks_left
from goldsmith.journal import requests
from goldsmith.worker import loop
from spark.engine.conftest import Function
from spark.engine.stopping import CORRECTION, LONG, QUICK, Stopping
from stopping_stages import (
    HEALING,
    LATER,
    MANY,
    POLICY,
    SLEEP,
    UNPAIRED,
    content_of,
    is_blocked,
    lines,
    lives,
    locked,
    on,
    script,
    slow,
)

WRITES = f"SELECT r.id, amount, at FROM bronze_@ CROSS JOIN {MANY} AS r WHERE amount = 10"
#: The table as it would be published is asked something that takes ten minutes.
AUDITED = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    options: {partial: ok}
    validation_set_id: "rules_@"
validation_rules:
  - rule_set_id: "rules_@"
    check_def: [{type: query, scope: table, sql: "SELECT id FROM {rows} WHERE SLEEP"}]
"""
RULES = "UPDATE validation_rules SET check_def = ? WHERE rule_set_id = 'rules_@'"
RIGHT = [(1, 10), (2, 20)]


def stop_now(
    stopping: Stopping, scope: str = "pipeline", entity: str = "@", *, statement: bool = False
) -> None:
    """Write a flag; everything of the stage has ended, in the order in which it must."""
    stopping.flag(scope, entity)
    stopping.let_go()
    stopping.has_times(statement=statement)
    stopping.is_clean()


@on("sqlite", "postgresql")
@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(WRITES, id="rows are written"),
        pytest.param(f"{QUICK} WHERE {SLEEP}", id="a task sleeps"),
    ],
)
def test_a_write_is_stopped(stopping: Stopping, sql: str) -> None:
    stopping.begin(silver=sql)
    stopping.until(stopping.works)
    stop_now(stopping)

    assert stopping.statuses() == ["stopped"]
    assert stopping.silver() == []
    stopping.release()
    assert stopping.silver() == RIGHT


@on()
def test_a_long_shuffle_is_stopped(stopping: Stopping) -> None:
    stopping.begin(silver=LONG)
    stopping.until(stopping.works)
    stop_now(stopping)
    stopping.release()
    assert stopping.silver() == RIGHT


@on("sqlite")
def test_the_audit_is_stopped(stopping: Stopping) -> None:
    stopping.prepare()
    stopping.bench.apply(AUDITED.replace("SLEEP", SLEEP))
    stopping.begin()
    stopping.until(lambda: stopping.step() == "audit" and stopping.works())
    stop_now(stopping)

    assert stopping.silver() == []
    stopping.bench.sql(RULES, '[{"type": "row_count", "min": 1}]')
    stopping.release()
    assert stopping.silver() == RIGHT


@on("sqlite")
def test_reading_a_slow_file_is_stopped(stopping: Stopping) -> None:
    bench = stopping.bench
    stopping.prepare()
    file = bench.bring("slow.jsonl.gz", "")
    file.write_bytes(lines('{"id": 1, "amount": 10}'))
    stopping.start()
    stopping.until(lambda: stopping.works(1))
    stop_now(stopping)

    assert bench.rows("bronze", "id") == []
    file.unlink()
    stopping.release()
    assert stopping.silver() == RIGHT


@on("sqlite")
@pytest.mark.parametrize("how", ["asleep", "busy"])
def test_a_python_function_is_stopped_with_its_workers(
    stopping: Stopping, function: Function, tmp_path: Path, how: str
) -> None:
    began = tmp_path / "began"
    name = function(slow(how, began))
    stopping.begin(silver=f"SELECT id, {name}(amount) AS amount, at FROM bronze_@")
    stopping.until(lambda: content_of(began))
    stop_now(stopping)

    assert stopping.statuses() == ["stopped"]
    [(stage_run,)] = stopping.bench.sql(
        "SELECT stage_run_id FROM stage_runs WHERE pipeline_id = '@' AND stage_order = 2"
    )
    assert tasks_left(stopping.bench.spark, stage_run, seconds=0) == 0
    assert not lives(content_of(began))
    assert stopping.silver() == []
    stopping.release()
    assert stopping.silver() == RIGHT


@pytest.mark.postgres
@on("sqlite")
def test_a_load_that_waits_for_a_lock_is_cancelled_in_the_warehouse(
    stopping: Stopping, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("new_database")(None)
    parameters = conninfo_to_dict(url)
    stopping.with_warehouse(
        "redshift",
        kind="postgres",
        host=parameters["host"],
        port=int(parameters["port"] or 0),
        user=parameters["user"],
        database=parameters["dbname"],
    )
    gold = f"shop.gold_{stopping.bench.tag}"
    stopping.prepare()
    stopping.bench.apply(GOLD)
    stopping.bench.run()
    stopping.bench.bring("b.jsonl", {"id": 3, "amount": 30})
    with locked(url, gold), psycopg.connect(url, autocommit=True) as looking:
        stopping.start()
        stopping.until(lambda: is_blocked(looking))
        stop_now(stopping, "target", "gold_@", statement=True)

    with psycopg.connect(url) as looking:
        rows = f"SELECT id, amount FROM {gold} ORDER BY id"
        assert looking.execute(rows).fetchall() == RIGHT
        stopping.release()
        looking.rollback()
        assert looking.execute(rows).fetchall() == [*RIGHT, (3, 30)]


#: Loads with a lock on the whole table, as after a serialisation conflict.
GOLD = """
stages:
  - pipeline_id: "@"
    stage_order: 3
    source_id: "silver_@"
    target_id: "gold_@"
    write_mode: merge
    keys: [id]
    transform_sql: SELECT id, amount FROM silver_@
targets:
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""
BROKEN = "SELECT id, CAST(amount / (amount - 10) AS BIGINT) AS amount, at FROM bronze_@"
REQUEST = "SELECT status, because FROM requests WHERE request_id = ?"


@on("sqlite", "postgresql")
def test_a_retry_is_stopped_while_it_waits(stopping: Stopping) -> None:
    bench = stopping.bench
    stopping.prepare()
    bench.apply(POLICY)
    bench.sql(HEALING, LATER)
    bench.sql(CORRECTION, BROKEN.replace("@", bench.tag))
    request = loop.submit_request(bench.runtime, [bench.tag], {}, "test")
    bench.turn(stopping.resources)
    waits = requests.get(bench.runtime.journal, request.request_id)
    assert (waits.status, waits.not_before is not None) == ("waiting", True), waits.because
    stopping.flag("pipeline", "@")
    bench.turn(stopping.resources)

    assert bench.sql(REQUEST, request.request_id) == [
        ("stopped", f"pipeline '{bench.tag}' is switched off (paged at night)")
    ]
    stopping.is_clean()
    assert stopping.silver() == []
    stopping.release()
    assert stopping.silver() == RIGHT
    bench.sql(UNPAIRED)


@on("sqlite")
def test_a_remedys_script_is_killed(stopping: Stopping, tmp_path: Path) -> None:
    began = tmp_path / "began"
    stopping.prepare()
    stopping.bench.apply(POLICY)
    stopping.bench.sql(HEALING, f"{sys.executable} {script(tmp_path, began)}")
    stopping.begin(silver=BROKEN)
    stopping.until(lambda: content_of(began))
    stopping.flag("pipeline", "@")
    stopping.let_go()

    assert not lives(content_of(began))
    [(status,)] = stopping.bench.sql("SELECT status FROM requests WHERE selection = '[\"@\"]'")
    assert status == "stopped"
    stopping.is_clean()
    assert stopping.silver() == []
    stopping.release()
    assert stopping.silver() == RIGHT
    stopping.bench.sql(UNPAIRED)
