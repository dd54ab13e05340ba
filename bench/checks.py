"""What checks cost, beside a write and at rest. `make bench-checks`.

Everything is measured in one run on one machine, on orders of 12 columns in Parquet and the suite
of 20 checks (row count, 6 not-null, 2 exact unique, 3 ranges, 2 accepted values, 2 regex, mean,
freshness, referential, expression); every row check keeps broken rows aside:

- `write alone`: the rows appended to an Iceberg table.
- `write, checks and split`: what a stage does before it publishes.
- `audit at rest`: the same checks on a table, against Great Expectations in its fastest mode, which
  runs in an environment of its own: $GREAT_EXPECTATIONS_PYTHON, or the one that `make soak` made;
  skipped where there is neither.
- `200 checks`: against the 20 of them. Bounds, values and patterns of each ten are others; keys and
  the reference are the same, as they are where several rule sets speak of one table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from goldsmith.catalog.datasets import Target
from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation, evaluate
from goldsmith.checks.planned_check import planned
from goldsmith.engine.audit import samples
from goldsmith.engine.lake import parquet_files
from goldsmith.engine.lake.lake_table import LakeTable
from goldsmith.engine.personal_data import personal
from goldsmith.engine.quarantine.quarantine_table import QuarantineWriter
from goldsmith.engine.quarantine.row_router import RowRouter
from goldsmith.engine.session import spark_session
from goldsmith.engine.shape.schema_policy import Fitted
from goldsmith.engine.write.destinations.destination import WriteRequest
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.runtime import Runtime
from goldsmith.setup.java import cache_folder
from goldsmith.storage.spark_addresses import lake_address

PEER = Path(__file__).with_name("great_expectations_peer.py")
_TOML = """\
name = "bench"

[spark]
driver_memory = "6g"
"""
NOW = datetime(2026, 1, 31, tzinfo=UTC)


def suite(on_fail: str, more: int = 0) -> list[dict[str, Any]]:
    """The twenty checks, or twenty like them that ask for a little more."""
    earlier = f" - INTERVAL {more} SECONDS" if more else ""
    rows: list[dict[str, Any]] = [
        *({"type": "not_null", "column": c} for c in
          ("order_id", "customer_id", "status", "currency", "amount", "created_at")),
        {"type": "in_range", "column": "amount", "min": 0, "max": 100_000 + more},
        {"type": "in_range", "column": "quantity", "min": 1, "max": 1000 + more},
        {"type": "in_range", "column": "discount", "min": 0, "max": 1 + more},
        {"type": "one_of", "column": "status",
         "values": ["new", "paid", "shipped", "delivered", "returned", *map(str, range(more))]},
        {"type": "one_of", "column": "currency", "values": ["EUR", "USD", "GBP", f"C{more}"]},
        {"type": "regex", "column": "email",
         "pattern": rf"^[^@\s]{{{1 + more % 4},}}@[^@\s]+\.[a-z]+$"},
        {"type": "regex", "column": "sku", "pattern": f"^[A-Z]{{3}}-[0-9]{{5,{5 + more}}}$"},
        {"type": "expression", "sql": "shipped_at IS NULL OR shipped_at >= created_at" + earlier},
    ]  # fmt: skip
    if more:
        rows = [{**check, "where": f"quantity <= {more}"} if check["type"] == "not_null" else check
                for check in rows]  # fmt: skip
    return [
        {"type": "row_count", "min": 1 + more},
        *({**check, "on_fail": on_fail} for check in rows),
        {"type": "unique", "column": "order_id", "severity": "warning"},
        {"type": "unique", "columns": ["customer_id", "line_id"], "severity": "warning"},
        {"type": "mean", "column": "amount", "min": 1, "max": 100_000 + more},
        {"type": "freshness", "column": "created_at", "max_age_hours": 1_000_000 + more},
        {"type": "referential", "column": "customer_id", "to": "customers", "field": "customer_id",
         "severity": "warning"},
    ]  # fmt: skip


def orders(spark: SparkSession, rows: int) -> DataFrame:
    """Orders, one in a thousand of them broken."""
    number = F.col("id")
    bad = number % 1000 == 7
    return spark.range(rows).select(
        number.alias("order_id"),
        (number % 100_000).alias("customer_id"),
        number.alias("line_id"),
        F.element_at(
            F.array(*map(F.lit, ("new", "paid", "shipped", "delivered", "returned"))),
            (number % 5 + 1).cast("int"),
        ).alias("status"),
        F.element_at(F.array(*map(F.lit, ("EUR", "USD", "GBP"))), (number % 3 + 1).cast("int"))
        .alias("currency"),
        F.when(bad, -1.0).otherwise((F.hash(number) % 10_000).cast("double") + 20_000)
        .alias("amount"),
        (number % 10 + 1).cast("int").alias("quantity"),
        ((number % 100) / 100).alias("discount"),
        F.concat(F.lit("user"), number % 500_000, F.lit("@shop.example")).alias("email"),
        F.format_string("ABC-%05d", number % 100_000).alias("sku"),
        F.timestamp_seconds(F.lit(1_760_000_000) + number % 8_000_000).alias("created_at"),
        F.timestamp_seconds(F.lit(1_769_000_000) + number % 1000).alias("shipped_at"),
    )  # fmt: skip


class Seconds(NamedTuple):
    """How long something took on the clock, and of the processors."""

    wall: float
    cpu: float


class Bench:
    """One project, one Spark, one file of orders."""

    def __init__(self, folder: Path, rows: int) -> None:
        (folder / "goldsmith.toml").write_text(_TOML)
        self.runtime = Runtime.of(os.environ, project=folder, environment=None, cwd=folder)
        self.spark = spark_session.start(self.runtime.storage)
        self.file = str(folder / "orders")
        self.customers = str(folder / "customers")
        orders(self.spark, rows).write.parquet(self.file)
        self.spark.range(100_000).select(F.col("id").alias("customer_id")).write.parquet(
            self.customers
        )
        self.number = 0
        #: The table that Spark wrote last by itself.
        self.alone = ""
        self.broken = len(range(7, rows, 1000))
        self.context = Context(
            now=NOW, dataset=lambda name: self.spark.read.parquet(self.customers)
        )

    def rows(self) -> DataFrame:
        return self.spark.read.parquet(self.file)

    def target(self) -> Target:
        self.number += 1
        name = f"orders_{self.number}"
        return Target(target_id=name, location=f"s3://lake/{name}/", type="s3")

    def write(self, checks: list[dict[str, Any]]) -> Seconds:
        """Seconds that a stage takes to write its rows aside."""
        storage, target = self.runtime.storage, self.target()
        spark = spark_session.new_session(self.spark)
        destination = LakeDestination(spark, storage, target, "bronze")
        rows = spark.read.parquet(self.file)
        evaluation = Evaluation(rows.schema, planned(checks, context=self.context), self.context)
        split = RowRouter(evaluation=evaluation)
        keeper = QuarantineWriter(
            storage=storage,
            target_id=target.target_id,
            stage_run_id=target.target_id,
            run_id="bench",
        )
        order = WriteRequest(
            stage_run_id=target.target_id, fitted=Fitted(rows=rows), mode="append", keys=(),
            watermark=None, partition_by=(), options={}, router=split,
            measure_beside=evaluation.measure_beside if checks else None,
            keep_broken=lambda broken, repeats: keeper.keep_broken(broken, split, repeats),
            sample_broken_rows=partial(
                samples.sample_broken_rows, evaluation, hide=personal(target)
            ),
            from_scratch=False,
        )  # fmt: skip
        seconds, staged = self.timed(lambda: destination.write_staged(order))
        outcomes = evaluation.outcomes(staged.measured, staged.beside)
        wrong = [outcome.message for outcome in outcomes if outcome.error is not None]
        assert not wrong, wrong
        assert not checks or staged.quarantined == self.broken, staged.quarantined
        return seconds

    def write_alone(self) -> Seconds:
        """Seconds that Spark takes to append the rows to an Iceberg table."""
        target = self.target()
        self.alone = target.target_id
        name = f"lake.alone.{self.alone}"
        location = lake_address(self.runtime.storage, str(target.location))
        self.spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.alone")
        rows = self.rows()
        columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in rows.schema.fields)
        self.spark.sql(
            f"CREATE TABLE {name} ({columns}) USING iceberg LOCATION '{location}'"
            " TBLPROPERTIES ('write.parquet.compression-codec' = 'zstd')"
        )
        return self.timed(lambda: rows.writeTo(name).append())[0]

    def timed(self, do: Callable[[], Any]) -> tuple[Seconds, Any]:
        begun, busy = time.perf_counter(), self._busy()
        made = do()
        return Seconds(time.perf_counter() - begun, self._busy() - busy), made

    def _busy(self) -> float:
        """CPU seconds of the whole machine so far: nobody counts those of workers that ended."""
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        user, nice, system, _idle, _waiting, *interrupts = map(int, fields[:7])
        return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")

    def audit(self, checks: list[dict[str, Any]], *, native: bool = True) -> Seconds:
        """Seconds that the audit of the table takes that was written last by Spark alone."""
        ready = planned(checks, context=self.context)
        name = ("alone", self.alone)
        storage, rows = self.runtime.storage, self.spark.table(f"lake.{'.'.join(name)}")

        def run() -> Any:
            lying = None
            if native:
                snapshot = LakeTable(self.spark, *name).current_snapshot()
                lying = parquet_files.of_table(storage, name, str(snapshot), at_least=0)
            return evaluate(rows, ready, self.context, stored=lying)

        seconds, outcomes = self.timed(run)
        wrong = [outcome.message for outcome in outcomes if outcome.error is not None]
        assert not wrong, wrong
        return seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--only", choices=("write", "audit"), help="one half of it")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), arguments.rows)
        print(f"{arguments.rows:,} orders of 12 columns, medians of {arguments.times}", flush=True)
        if arguments.only != "audit":
            write(bench, arguments.times)
        else:
            bench.write_alone()
        if arguments.only != "write":
            rest = audit(bench, arguments.times)
            bench.spark.stop()
            peer(bench.file, bench.customers, rest, arguments.times)


def write(bench: Bench, times: int) -> None:
    alone, checked = in_turns(times, bench.write_alone, lambda: bench.write(suite("quarantine")))
    say("write alone", alone)
    say("write, 20 checks and split", checked, against=alone, goal=1.8)


def audit(bench: Bench, times: int) -> Seconds:
    many = [check for more in range(10) for check in suite("fail", more)]
    rest, all_of_them, by_spark = in_turns(
        times,
        lambda: bench.audit(suite("fail")),
        lambda: bench.audit(many),
        lambda: bench.audit(suite("fail"), native=False),
    )
    say("audit at rest, 20 checks", rest)
    say("  by Spark's own expressions", by_spark, against=rest)
    say("audit at rest, 200 checks", all_of_them, against=rest, goal=3)
    return rest


def peer(file: str, customers: str, ours: Seconds, times: int) -> None:
    """Great Expectations on the same file, in its own environment."""
    made = (cache_folder() / "peers").glob("great_expectations-*/ready")
    found = [str(ready.with_name("bin") / "python") for ready in made]
    python = os.environ.get("GREAT_EXPECTATIONS_PYTHON", found[0] if found else "")
    if not Path(python).is_file():
        print("Great Expectations: skipped, $GREAT_EXPECTATIONS_PYTHON names no environment, and")
        print("  `make soak` has made none.")
        return
    done = subprocess.run(
        [python, str(PEER), file, customers, str(times)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(f"Great Expectations: skipped, it failed:\n{done.stderr[-2000:]}")
        return
    theirs = median(json.loads(done.stdout.splitlines()[-1]))
    say("Great Expectations, booleans only", theirs)
    say("  ours against it", ours, against=theirs, goal=0.5)


def in_turns(times: int, *ways: Callable[[], Seconds]) -> list[Seconds]:
    """The median of each way, tried one after the other: a machine is not always as fast."""
    for way in ways:  # warm
        way()
    found = [[way() for way in ways] for _ in range(times)]
    return [median(of_one) for of_one in zip(*found, strict=True)]


def median(found: Sequence[Sequence[float]]) -> Seconds:
    wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
    return Seconds(wall, cpu)


def say(
    what: str, took: Seconds, *, against: Seconds | None = None, goal: float | None = None
) -> None:
    ratio = ""
    if against is not None:
        ratio = f"  {took.wall / against.wall:.2f}× wall, {took.cpu / against.cpu:.2f}× CPU"
        ratio += f" (goal ≤ {goal:g}×)" if goal is not None else ""
    print(f"{what:36} {took.wall:8.2f} s wall {took.cpu:8.2f} s CPU{ratio}", flush=True)


if __name__ == "__main__":
    main()
