"""Stops while something long is under way: a job of any step, a load, a wait, a script."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from goldsmith.engine.cancel import tagged, tasks_left
from goldsmith.engine.ending import Stopped
from goldsmith.engine.work import Asked, Work
from goldsmith.journal import requests
from goldsmith.scheduling import loop
from goldsmith.settings.sections import WarehouseKind
from spark.engine.stopping import LONG, MEND, QUICK, SLEEP, TIMES, Stopping, on

#: Rows without end go into files of the table, one small file a task: a range does not listen.
WRITES = (
    "SELECT r.id, amount, at FROM bronze_@ CROSS JOIN range(0, 40000000, 1, 20000) AS r "
    "WHERE amount = 10"
)
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
#: A megabyte of the same line, over and over, is one small file of one task that takes a while.
LINES = gzip.compress(b'{"id": 1, "amount": 10}\n' * 50_000) * 100


def times(stopping: Stopping) -> list[datetime]:
    facts = stopping.stopped()
    assert "zombie_tasks" not in facts
    return [datetime.fromisoformat(facts[name]) for name in TIMES]


def stop_now(stopping: Stopping) -> None:
    """Flag the pipeline; everything of its stage has ended, in the order in which it must."""
    flagged = datetime.now(UTC)
    stopping.flag("pipeline", "@")
    stopping.let_go()
    returned, last, nothing = times(stopping)
    assert flagged < returned <= last <= nothing
    assert stopping.leases() == []
    assert stopping.bench.litter() == []


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
    file.write_bytes(LINES)
    stopping.start()
    stopping.until(lambda: stopping.works(1))
    stop_now(stopping)

    assert bench.rows("bronze", "id") == []
    file.unlink()
    stopping.release()
    assert stopping.silver() == RIGHT


@pytest.mark.parametrize("how", ["asleep", "busy"])
def test_a_python_function_is_stopped_with_its_workers(stopping: Stopping, how: str) -> None:
    """Rows cannot name one, but what a reader brings may be one: its jobs carry the tag as well."""
    bench = stopping.bench
    stopping.prepare()
    survey = bench.runtime.surveyor.survey()
    work = Work(
        near=survey.stages[f"{bench.tag}-2"],
        run_id="run",
        stage_run_id=f"try_{bench.tag}",
        attempt=1,
        asked=Asked(),
        at=datetime.now(UTC),
    )

    def slow(batches: Iterator[object]) -> Iterator[object]:
        import time

        for batch in batches:
            until = time.monotonic() + 600
            while time.monotonic() < until:
                time.sleep(1) if how == "asleep" else None
            yield batch

    failures: list[Exception] = []

    def count() -> None:
        with tagged(bench.spark, work):
            try:
                bench.spark.range(4).mapInPandas(slow, "id bigint").count()  # type: ignore[arg-type]
            except Exception as error:
                failures.append(error)

    stopping.thread = threading.Thread(target=count)
    stopping.thread.start()
    stopping.until(stopping.has_tasks)
    work.ended.order(Stopped(because="a test says so"))
    stopping.thread.join(60)
    assert failures
    assert tasks_left(bench.spark, work.stage_run_id, seconds=20) == 0


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """A table that somebody reads and lets nobody else write."""
    with psycopg.connect(url) as other:
        other.execute(f"LOCK TABLE {table} IN SHARE MODE")
        yield
        other.rollback()


@pytest.mark.postgres
@on("sqlite")
def test_a_load_that_waits_for_a_lock_is_cancelled_in_the_warehouse(
    stopping: Stopping, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("new_database")(None)
    said = conninfo_to_dict(url)
    stopping.with_warehouse(
        "redshift",
        kind=WarehouseKind.POSTGRES,
        host=said["host"],
        port=int(said["port"] or 0),
        user=said["user"],
        database=said["dbname"],
    )
    gold = f"shop.gold_{stopping.bench.tag}"
    stopping.prepare()
    stopping.bench.apply(GOLD)
    stopping.bench.run()
    stopping.bench.bring("b.jsonl", {"id": 3, "amount": 30})
    blocked = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with locked(url, gold), psycopg.connect(url, autocommit=True) as looking:
        stopping.start()
        stopping.until(lambda: looking.execute(blocked).fetchone() != (0,))
        stopping.flag("target", "gold_@")
        stopping.let_go()

    facts = stopping.stopped()
    assert facts["statement_cancelled_at"] <= facts["driver_returned_at"]
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
POLICY = """
retry_policies: [{retry_id: "later_@", max_retries: 3, backoff_sec: 600}]
pipelines: [{pipeline_id: "@", default_retry_id: "later_@"}]
"""
HEALING = (
    "INSERT INTO healing_actions (error_code, action_script) VALUES ('DivideByZero', ?) "
    "ON CONFLICT (error_code) DO UPDATE SET action_script = excluded.action_script"
)
UNPAIRED = "DELETE FROM healing_actions WHERE error_code = 'DivideByZero'"
BROKEN = "SELECT id, CAST(amount / (amount - 10) AS BIGINT) AS amount, at FROM bronze_@"
REQUEST = "SELECT status, because FROM requests WHERE request_id = ?"


@on("sqlite", "postgresql")
def test_a_retry_is_stopped_while_it_waits(stopping: Stopping) -> None:
    bench = stopping.bench
    stopping.prepare()
    bench.apply(POLICY)
    bench.sql(HEALING, """echo '{"do": "rerun", "after_seconds": 600, "because": "later"}'""")
    bench.sql(MEND, BROKEN.replace("@", bench.tag))
    asked = loop.ask(bench.runtime, [bench.tag], {}, "test")
    bench.turn(stopping.tools)
    waits = requests.get(bench.runtime.journal, asked.request_id)
    assert (waits.status, waits.not_before is not None) == ("waiting", True), waits.because
    stopping.flag("pipeline", "@")
    bench.turn(stopping.tools)

    assert bench.sql(REQUEST, asked.request_id) == [
        ("stopped", f"pipeline '{bench.tag}' is switched off (paged at night)")
    ]
    stopping.release()
    assert stopping.silver() == RIGHT
    bench.sql(UNPAIRED)


SCRIPT = """
import os, pathlib, time
pathlib.Path("PLACE").write_text(str(os.getpid()))
time.sleep(600)
"""


@on("sqlite")
def test_a_remedys_script_is_killed(stopping: Stopping, tmp_path: Path) -> None:
    file, began = tmp_path / "remedy.py", tmp_path / "began"
    file.write_text(SCRIPT.replace("PLACE", str(began)))
    stopping.prepare()
    stopping.bench.apply(POLICY)
    stopping.bench.sql(HEALING, f"{sys.executable} {file}")
    stopping.begin(silver=BROKEN)
    stopping.until(lambda: began.exists() and began.read_text())
    stopping.flag("pipeline", "@")
    stopping.let_go()

    assert not Path(f"/proc/{began.read_text()}").exists()
    [(status,)] = stopping.bench.sql("SELECT status FROM requests WHERE selection = '[\"@\"]'")
    assert status == "stopped"
    stopping.release()
    assert stopping.silver() == RIGHT
    stopping.bench.sql(UNPAIRED)
