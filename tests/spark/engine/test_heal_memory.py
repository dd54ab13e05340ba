"""Memory and what Spark makes of it: real errors, each pair healed or left to a person."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from goldsmith.engine import faults
from spark.engine.conftest import Bench, Function
from spark.engine.healing import (
    BRONZE,
    ask,
    attempt,
    expected_story,
    healed,
    incident_of,
    run_until_over,
    story,
)

pytestmark = pytest.mark.soak

ONCE = """
retry_policies: [{retry_id: once, max_retries: 1, backoff_sec: 0}]
pipelines: [{pipeline_id: "@", default_retry_id: once}]
"""
SQL = """
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "bronze_@"
    options: {partial: ok}
    transform_sql: >-
      SQL
"""
#: 45 MB a key, all keys of a task at once.
COLLECTED = (
    "SELECT id, max(amount) AS amount, size(collect_list(repeat(CAST(100 + id AS STRING),"
    " 15000000))) AS n FROM raw_@ GROUP BY id"
)
#: More than any heap of a test has; a row's own value keeps it out of the plan.
ENDLESS = "SELECT id, amount, length(repeat(CAST(id AS STRING), 2000000000)) AS n FROM raw_@"
#: The other table is small by its statistics, so Spark sends it to every task.
JOINED = (
    "SELECT {hint} b.id, b.amount FROM raw_@ b LEFT JOIN (SELECT id, sha2(CAST(id AS STRING), 512)"
    " AS t FROM range(20000)) r ON b.id = r.id WHERE r.t <> 'x' OR r.t IS NULL"
)


def sql(text: str, *, whole: bool = False) -> str:
    """A stage of that SQL, which reads what is new, or the whole of its source."""
    stage_yaml = SQL.replace("SQL", text)
    return (
        stage_yaml.replace("{partial: ok}", "{partial: ok}\n    write_mode: overwrite")
        if whole
        else stage_yaml
    )


def bring(bench: Bench, files: int = 1, rows: int = 1) -> None:
    for file in range(files):
        lines = ({"id": file * rows + row, "amount": row} for row in range(rows))
        bench.bring(f"{file:03}.jsonl", *lines)


def begins(bench: Bench, request: Any, *steps: str) -> None:
    """The request is done, and its story begins like this; what is left to read comes after."""
    assert request.status == "done", request.because
    whole = expected_story(*steps)
    assert story(bench, request)[: len(whole)] == whole


def held(bench: Bench, request: Any, *steps: str) -> None:
    """The request failed after that, and a person is asked."""
    assert request.status == "failed"
    assert story(bench, request) == expected_story(*steps)
    assert incident_of(bench, 1).error_code == steps[0]


def test_tasks_without_memory_read_fewer_files_at_once(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(sql(COLLECTED))
    bring(bench, files=20)
    done = run_until_over(bench)

    assert done.status == "done", done.because
    assert bench.rows("bronze", "id", "n") == [(number, 1) for number in range(20)]
    first = story(bench, done)[:3]
    assert first == expected_story("ExecutorOutOfMemory", "smaller_batches")[:3]
    assert "StageHealed smaller_batches" in story(bench, done)


def test_tasks_without_memory_that_must_read_everything_are_made_smaller(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(sql(COLLECTED, whole=True))
    bring(bench, files=20)
    done = run_until_over(bench)

    begins(bench, done, "ExecutorOutOfMemory", "more_partitions")
    assert bench.rows("bronze", "id", "n") == [(number, 1) for number in range(20)]


def test_a_row_too_large_for_any_task_is_left_to_a_person(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(ONCE)
    bench.apply(sql(ENDLESS))
    bring(bench)
    held(bench, run_until_over(bench), "ExecutorOutOfMemory", "smaller_batches", "open_incident")


def full(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """A driver without memory, for so many attempts.

    A JVM that is full takes its whole session down, and the session of the tests is shared: it is
    the driver's Python here that asks its allocator for more than there is.
    """
    left = [None] * times
    real = faults.reach

    def reach(name: str) -> None:
        if name == "shaped" and left:
            left.pop()
            bytearray(1 << 60)
        real(name)

    monkeypatch.setattr(faults, "reach", reach)


@pytest.mark.parametrize(
    "remedies",
    [("new_session",), ("new_session", "new_session", "smaller_batches")],
    ids=lambda remedies: remedies[-1],
)
def test_a_full_driver_is_started_anew_and_then_given_less(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, remedies: tuple[str, ...]
) -> None:
    bench.apply(BRONZE)
    bring(bench)
    full(monkeypatch, len(remedies))
    renewed: list[None] = []
    resources = replace(bench.resources(), renew=lambda: renewed.append(None))

    begins(bench, run_until_over(bench, resources=resources), "DriverOutOfMemory", *remedies)
    assert bench.rows("bronze", "id") == [(0,)]
    assert len(renewed) == remedies.count("new_session")


def test_work_too_large_for_any_driver_is_left_to_a_person(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(BRONZE)
    bench.apply(sql("SELECT id, amount FROM raw_@", whole=True))
    bring(bench)
    full(monkeypatch, 9)
    again = ("new_session", "new_session")
    held(bench, run_until_over(bench), "DriverOutOfMemory", *again, "open_incident")


@contextlib.contextmanager
def with_settings(conf: Any, **settings: str) -> Iterator[None]:
    """Settings of Spark, for sessions or jobs that begin meanwhile."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    for name, value in named.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name in named:
            conf.remove(name)


def of_sessions(spark: SparkSession) -> Any:
    return spark._jsparkSession.sharedState().conf()


def of_jobs(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.sc().conf()


@pytest.mark.parametrize("forced", [False, True])
def test_a_broadcast_that_is_too_large_is_shuffled_unless_the_sql_forces_it(
    bench: Bench, forced: bool
) -> None:
    bench.apply(BRONZE)
    bench.apply(ONCE)
    bench.apply(sql(JOINED.format(hint="/*+ BROADCAST(r) */" if forced else "")))
    bring(bench)
    with with_settings(of_sessions(bench.spark), spark__sql__maxBroadcastTableSize="1m"):
        ended = run_until_over(bench)

    if forced:
        held(bench, ended, "BroadcastTooLarge", "more_partitions", "open_incident")
    else:
        begins(bench, ended, "BroadcastTooLarge", "more_partitions")
        assert bench.rows("bronze", "id") == [(0,)]


@pytest.mark.parametrize("forced", [False, True])
def test_a_result_too_large_for_the_driver_stays_with_the_tasks_unless_the_sql_forces_it(
    bench: Bench, forced: bool
) -> None:
    bench.apply(BRONZE)
    bench.apply(ONCE)
    bench.apply(sql(JOINED.format(hint="/*+ BROADCAST(r) */" if forced else "")))
    bring(bench)
    with with_settings(of_jobs(bench.spark), spark__driver__maxResultSize="1m"):
        ended = run_until_over(bench)

    if forced:
        held(bench, ended, "ResultTooLarge", "smaller_batches", "open_incident")
    else:
        begins(bench, ended, "ResultTooLarge", "smaller_batches")
        assert bench.rows("bronze", "id") == [(0,)]


def test_a_container_that_is_killed_is_given_smaller_work_and_then_more_time(bench: Bench) -> None:
    """Only YARN and Kubernetes kill containers: the words are Kubernetes's, the error Spark's."""
    killed = (
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: The "
        "executor with id 1 exited with exit code 137(SIGKILL, possible container OOM)."
    )
    is_killed = "reflect('java.lang.Boolean', 'getBoolean', 'killed.@') = 'true'"
    bench.apply(BRONZE)
    text = f"SELECT id, IF({is_killed}, raise_error('{killed}'), amount) AS amount FROM raw_@"
    bench.apply(sql(text))
    bring(bench)
    system: Any = bench.spark.sparkContext._jvm.java.lang.System  # type: ignore[union-attr]
    system.setProperty(f"killed.{bench.tag}", "true")
    request = ask(bench)
    remedies = ("more_partitions", "more_partitions", "more_partitions", "retry_later")
    for remedy in remedies:
        assert attempt(bench, request).status == "waiting", remedy
    system.clearProperty(f"killed.{bench.tag}")

    begins(bench, run_until_over(bench, request), "ContainerKilled", *remedies)
    assert bench.rows("bronze", "id", "amount") == [(0, 0)]


def eats(bytes_a_row: int) -> Any:
    """It needs memory for each row of a batch, and has a quarter of a gigabyte."""

    def eaten(values: pd.Series) -> pd.Series:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm") as file:
            mine = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mine + (256 << 20), hard))
        try:
            bytearray(len(values) * bytes_a_row)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        return values

    return F.pandas_udf(eaten, "bigint")  # type: ignore[call-overload]


@pytest.mark.parametrize("whole", [False, True])
def test_a_python_worker_without_memory_gets_smaller_batches(
    bench: Bench, function: Function, whole: bool
) -> None:
    bench.apply(BRONZE)
    name = function(eats(200_000))
    bench.apply(sql(f"SELECT id, {name}(amount) AS amount FROM raw_@", whole=whole))
    bring(bench, rows=3000)
    remedy = "more_partitions" if whole else "smaller_batches"

    begins(bench, run_until_over(bench), "PythonWorkerOutOfMemory", remedy)
    assert len(bench.rows("bronze", "id")) == 3000


def test_a_row_too_large_for_a_python_worker_is_left_to_a_person(
    bench: Bench, function: Function
) -> None:
    bench.apply(BRONZE)
    bench.apply(ONCE)
    name = function(eats(1_000_000_000))
    bench.apply(sql(f"SELECT id, {name}(amount) AS amount FROM raw_@", whole=True))
    bring(bench)
    held(
        bench, run_until_over(bench), "PythonWorkerOutOfMemory", "more_partitions", "open_incident"
    )


def test_a_python_worker_that_is_killed_is_tried_again_and_then_gets_smaller_batches(
    bench: Bench, function: Function
) -> None:
    def dies(values: pd.Series) -> pd.Series:
        if len(values) > 1000:
            os.kill(os.getpid(), 9)
        return values

    bench.apply(BRONZE)
    name = function(F.pandas_udf(dies, "bigint"))  # type: ignore[call-overload]
    bench.apply(sql(f"SELECT id, {name}(amount) AS amount FROM raw_@"))
    bring(bench, rows=3000)
    done = run_until_over(bench)

    begins(bench, done, "PythonWorkerLost", "retry_later", "retry_later", "more_partitions")
    assert len(bench.rows("bronze", "id")) == 3000
    assert healed(bench).status == "done"
