"""How long a stop takes: by a flag in plain SQL, and by cancelJobGroup alone. `make bench-stop`.

Every trial runs one stage of a real project and raises a flag on its pipeline with nothing but
SQL; the times are the ones the audit log has of that stop, counted from the commit of the flag:

- `a write`: files of JSON go into an Iceberg table; the driver, and then the last task.
- `before submission`: the flag is raised just before the stage submits its job.
- `a cross join`: ranges crossed by the thousand million, whose tasks hear of nothing for half a
  minute; a process each time, because its JVM is ended.

Beside each: the same SQL in plain Spark, cancelled once by its job group.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from goldsmith.catalog import bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.engine.attempt import WorkerResources
from goldsmith.engine.run import ExecutionOptions
from goldsmith.engine.session import cancel, spark_session
from goldsmith.engine.stop_stage import GRACE_SECONDS
from goldsmith.planning import apply_files
from goldsmith.planning.run_options import RunOptions
from goldsmith.runtime import Runtime
from goldsmith.worker import loop
from goldsmith.worker.resources import worker_resources

GOLDSMITH = Path(sys.executable).with_name("goldsmith")
_TOML = 'name = "bench"\n[spark]\ndriver_memory = "1g"\n'
BRONZE = """
pipelines: [{pipeline_id: raw}]
sources:
  - {source_id: raw, s3_path: "s3://bench/raw/", file_format: jsonl, declared_schema: "n BIGINT"}
  - source_id: slow
    s3_path: s3://bench/slow/
    file_format: jsonl
    declared_schema: "n BIGINT, text STRING"
targets: [{target_id: bronze, location: "s3://bench/bronze/", type: s3}]
stages: [{pipeline_id: raw, stage_order: 1, source_id: raw, target_id: bronze}]
"""
SILVER = """
pipelines: [{pipeline_id: "@"}]
targets: [{target_id: "silver_@", location: "s3://bench/silver/@/", type: s3}]
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: SOURCE
    target_id: "silver_@"
    transform_sql: SQL
"""
#: A megabyte of the same line, over and over: files that take a minute each, in little room.
LINES = gzip.compress(b'{"n": 1, "text": "the quick brown fox jumps over the lazy dog"}\n' * 16_000)
WRITE = "SELECT n, text, sha2(text, 256) AS hash FROM slow"
#: Tasks look up only between two rows of the first: ten thousand million rows of the others.
CROSS = (
    "SELECT n, a.id FROM bronze CROSS JOIN range(1000) AS a CROSS JOIN range(100000) AS b "
    "CROSS JOIN range(100000) AS c WHERE xxhash64(a.id, b.id, c.id) = 0"
)
FLAG = (
    "INSERT INTO control_flags (entity_type, entity_id, flag_name, flag_value) "
    "VALUES ('pipeline', ?, 'enabled', false)"
)
TIMES = ("driver_returned_at", "last_task_ended_at")
#: What plain Spark is given to end by itself before it is ended.
PATIENCE = 30.0
HEAD = f"{'seconds from the flag':38} {'p50':>7} {'p95':>7}   {'plain':>7} {'p95':>7}    goal"
Trial = Mapping[str, float]


@dataclass
class Project:
    """A project of one bronze row, and a pipeline more with every trial."""

    folder: Path
    runtime: Runtime = field(init=False)
    slow: Path = field(init=False)
    number: int = 0

    def __post_init__(self) -> None:
        (self.folder / "goldsmith.toml").write_text(_TOML)
        there = self.folder / ".goldsmith" / "s3" / "bench"
        (there / "raw").mkdir(parents=True)
        (there / "raw" / "1.jsonl").write_text('{"n": 1}\n')
        self.slow = there / "slow"
        self.slow.mkdir()
        for number in range(8):
            (self.slow / f"{number}.jsonl.gz").write_bytes(LINES * 200)
        environ = {name: value for name, value in os.environ.items() if "GOLDSMITH" not in name}
        self.runtime = Runtime.of(environ, project=self.folder, environment=None, cwd=self.folder)
        Catalog.open(self.runtime.settings.catalog.url, create=True).close()
        self.apply(BRONZE)

    def apply(self, text: str) -> None:
        declared = bundle.load([("bench.yaml", text)])
        proposal = apply_files.propose(self.runtime.catalog_indexer, declared)
        apply_files.apply(
            self.runtime.catalog_indexer, declared, proposal, actor="bench", reason=None
        )

    def pipeline(self, sql: str) -> str:
        """A pipeline of its own for a trial."""
        self.number += 1
        name = f"p{self.number}"
        text = SILVER.replace("@", name).replace("SQL", json.dumps(sql))
        self.apply(text.replace("SOURCE", "slow" if sql == WRITE else "bronze"))
        return name

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        file = self.runtime.settings.catalog.file
        assert file is not None
        with closing(sqlite3.connect(file, timeout=30)) as connection:
            found = connection.execute(statement, values).fetchall()
            connection.commit()
        return found

    def flag(self, pipeline: str) -> datetime:
        """Raise the flag; when it was there for everybody."""
        self.sql(FLAG, pipeline)
        return datetime.now(UTC)

    def is_written(self, pipeline: str) -> bool:
        query = "SELECT 1 FROM stage_runs WHERE pipeline_id = ? AND step = 'write'"
        return bool(self.sql(query, pipeline))

    def times(self, pipeline: str, flagged: datetime) -> Trial:
        """Seconds from the flag to each thing the audit log has a time of."""
        query = "SELECT facts FROM audit_log WHERE kind = 'StageStopped' AND pipeline_id = ?"
        [(facts,)] = self.sql(query, pipeline)
        recorded = json.loads(facts)
        return {
            name: (datetime.fromisoformat(recorded[name]) - flagged).total_seconds()
            for name in TIMES
            if name in recorded
        }


def until(holds: Callable[[], object], lives: Callable[[], bool]) -> None:
    while not holds():
        if not lives():
            raise RuntimeError("The stage ended before it was stopped.")
        time.sleep(0.01)


@contextmanager
def working(attempt: Callable[[], object]) -> Iterator[threading.Thread]:
    """Something that is done in a thread and comes to its end."""

    def quietly() -> None:
        try:
            attempt()
        except Exception as error:
            if "cancelled" not in str(error).lower():
                raise

    thread = threading.Thread(target=quietly, daemon=True)
    thread.start()
    yield thread
    thread.join()


def run(project: Project, resources: WorkerResources, pipeline: str) -> None:
    orders = ExecutionOptions(
        request_id=None, run_options=RunOptions(), asked_by="bench", at_once=1
    )
    request = loop.submit_request(project.runtime, [pipeline], {}, "bench")
    loop.tick(project.runtime, resources, orders, awaited=request.request_id)


def tasks(spark: SparkSession) -> int:
    tracker = spark.sparkContext.statusTracker()
    found = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numActiveTasks for stage in found if stage is not None)


def by_flag(project: Project, resources: WorkerResources, sql: str, seconds: float) -> Trial:
    """Stop a stage that has worked for so long."""
    pipeline = project.pipeline(sql)
    spark = resources.spark()
    with working(lambda: run(project, resources, pipeline)) as thread:
        until(lambda: project.is_written(pipeline) and tasks(spark), thread.is_alive)
        time.sleep(seconds)
        flagged = project.flag(pipeline)
    return project.times(pipeline, flagged)


def before_submission(project: Project, resources: WorkerResources, sql: str) -> Trial:
    """Stop a stage that is about to submit its job."""
    pipeline, holds = project.pipeline(sql), project.folder / "holds"
    os.environ["GOLDSMITH_FAULT"] = f"shaped:hold={holds}"
    with working(lambda: run(project, resources, pipeline)) as thread:
        until(holds.exists, thread.is_alive)
        flagged = project.flag(pipeline)
        holds.unlink()
    del os.environ["GOLDSMITH_FAULT"]
    return project.times(pipeline, flagged)


def by_process(project: Project, sql: str, seconds: float) -> Trial:
    """Stop a stage in a process of its own whose JVM has worked for so long."""
    pipeline = project.pipeline(sql)
    arguments = [str(GOLDSMITH), "--project", str(project.folder), "run", pipeline]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(arguments, stdout=quiet, stderr=quiet) as process:
        until(lambda: project.is_written(pipeline), lambda: process.poll() is None)
        began = _worked(process.pid)
        until(lambda: _worked(process.pid) > began + seconds, lambda: process.poll() is None)
        flagged = project.flag(pipeline)
        process.wait()
    return project.times(pipeline, flagged)


def _worked(pid: int) -> float:
    """CPU seconds of the tasks in the JVM that a process has started."""
    found: list[str] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in listed.read_text().split():
            for thread in Path(f"/proc/{child}/task").glob("*/stat"):
                with suppress(OSError):  # a thread that has ended meanwhile
                    found.append(thread.read_text())
    ticks = 0
    for line in found:
        name, _, stat = line.partition("(")[2].rpartition(")")
        if name.startswith("Executor task"):
            ticks += sum(map(int, stat.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _still_works(since: float) -> float:
    """When the tasks of this process's JVM worked last: Spark forgets tasks it has cancelled."""
    last, before = time.monotonic(), _worked(os.getpid())
    while time.monotonic() < min(last + 0.5, since + PATIENCE):
        time.sleep(0.05)
        if (now := _worked(os.getpid())) > before + 0.02:
            last, before = time.monotonic(), now
    return last if last + 0.5 < since + PATIENCE else since + PATIENCE


def plainly(spark: SparkSession, job: Callable[[], object], seconds: float | None) -> Trial:
    """Cancel a job once by its group: after it worked so long, or just before it is submitted."""
    context, group = spark.sparkContext, f"group {time.monotonic()}"
    returned: list[float] = []
    submitted = threading.Event()

    def attempt() -> None:
        context.setJobGroup(group, "bench")
        if seconds is None:
            submitted.wait()
        try:
            job()
        finally:
            returned.append(time.monotonic())

    with working(attempt) as thread:
        if seconds is not None:
            until(lambda: tasks(spark), thread.is_alive)
            time.sleep(seconds)
        flagged = time.monotonic()
        context.cancelJobGroup(group)
        submitted.set()
        while thread.is_alive() and time.monotonic() < flagged + PATIENCE:
            thread.join(0.01)
        is_ignored = thread.is_alive()
        while thread.is_alive():
            context.cancelJobGroup(group)
            thread.join(0.1)
    last = _still_works(flagged) - flagged
    is_lost = is_ignored or last >= PATIENCE
    driver = math.inf if is_ignored else returned[0] - flagged
    return {"driver_returned_at": driver, "last_task_ended_at": math.inf if is_lost else last}


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def say(what: str, goal: float, ours: list[Trial], plain: list[Trial], name: str) -> bool:
    """One line of the table; whether the goal was met."""

    def summary(trials: list[Trial]) -> str:
        values = [trial[name] for trial in trials if name in trial]
        if not values:
            return f"{'—':>7} {'—':>7}"
        shown = (statistics.median(values), percentile(values, 0.95))
        return " ".join(f"{f'>{PATIENCE:.0f}' if math.isinf(v) else f'{v:.2f}':>7}" for v in shown)

    met = percentile([trial.get(name, math.inf) for trial in ours], 0.95) <= goal
    mark = "met" if met else "MISSED"
    print(
        f"{what:38} {summary(ours)}   {summary(plain)}   {goal:5.1f} {mark:7} {len(ours)}",
        flush=True,
    )
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--processes", type=int, default=20, help="trials that end their JVM")
    parser.add_argument("--plain", type=int, default=5, help="trials of plain Spark")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        subprocess.run([GOLDSMITH, "--project", folder, "run", "raw", "--quiet"], check=True)
        with worker_resources(project.runtime) as resources:
            spark = resources.spark()
            spark.sparkContext.setLogLevel("OFF")
            print(HEAD)
            with spark_session.own_session(spark) as own:
                own.table("lake.bronze.bronze").createOrReplaceTempView("bronze")
                met = [
                    *_of_files(project, resources, own, arguments),
                    _early(project, resources, own, arguments),
                ]
                # One is enough: its tasks run on, and keep the slots.
                crossed = [plainly(own, _counts(own, CROSS), 4)]
        cancel.end_jvm(spark)
        met += _crossed(project, arguments, crossed)
        project.runtime.close()
    sys.exit(0 if all(met) else 1)


def _of_files(
    project: Project, resources: WorkerResources, spark: SparkSession, arguments: Any
) -> Iterator[bool]:
    slow = spark.read.schema("n BIGINT, text STRING").json(str(project.slow))
    slow.createOrReplaceTempView("slow")
    ours = [by_flag(project, resources, WRITE, 1) for _ in range(arguments.trials)]
    plain = [plainly(spark, _writes(spark, WRITE, number), 1) for number in range(arguments.plain)]
    yield say("a write: the driver is back", 0.5, ours, plain, TIMES[0])
    yield say("a write: the last task ended", 2.0, ours, plain, TIMES[1])


def _early(
    project: Project, resources: WorkerResources, spark: SparkSession, arguments: Any
) -> bool:
    ours = [before_submission(project, resources, WRITE) for _ in range(arguments.trials)]
    # One is enough: the cancel is lost, and the job runs until nobody waits any longer.
    plain = [plainly(spark, _writes(spark, WRITE, arguments.plain), None)]
    return say("before submission: the driver is back", 0.5, ours, plain, TIMES[0])


def _crossed(project: Project, arguments: Any, plain: list[Trial]) -> Iterator[bool]:
    ours = [by_process(project, CROSS, 3) for _ in range(arguments.processes)]
    yield say("a cross join: the driver is back", 0.5, ours, plain, TIMES[0])
    yield say("a cross join: the last task ended", GRACE_SECONDS + 2, ours, plain, TIMES[1])


def _writes(spark: SparkSession, sql: str, number: int) -> Callable[[], object]:
    return lambda: spark.sql(sql).writeTo(f"lake.silver.plain_{number}").using("iceberg").create()


def _counts(spark: SparkSession, sql: str) -> Callable[[], object]:
    return lambda: spark.sql(sql).write.format("noop").mode("overwrite").save()


if __name__ == "__main__":
    main()
