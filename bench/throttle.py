"""How exact throttles are: four processes on one source and one target. `make bench-throttle`.

Each process takes micro-batches as a stage does: it estimates their records, waits for the tokens,
and settles with the actual numbers, which differ by up to a third. Records are limited on the
source and bytes on the target, and both thresholds are changed in the middle. Measured is each
minute after the burst was spent, by the clock of the processes.

`--stages` runs real stages instead: two pipelines in one process that share the throttle of their
source, loaded into a lake table and into DuckDB; measured by the rows of `throttle_usage`.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from goldsmith.catalog import bundle
from goldsmith.catalog.catalog import Catalog
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.pace.stage_pace import PacedFile, StagePace
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner
from goldsmith.planning import apply_files
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.planning.run_options import RunOptions
from goldsmith.planning.throttled import Direction

GOLDSMITH = Path(sys.executable).with_name("goldsmith")
#: Spent before the first minute: the burst is three seconds' worth.
_BURST_SECONDS, _MINUTE = 6.0, 60.0
ROWS = """
pipelines: [{pipeline_id: p}]
sources: [{source_id: raw, s3_path: "s3://bench/raw/", file_format: jsonl}]
targets: [{target_id: gold, location: "s3://bench/gold/", type: s3}]
stages: [{pipeline_id: p, stage_order: 1, source_id: raw, target_id: gold}]
throttles:
  - {throttle_id: read, entity_type: source, entity_id: raw, metric: records_per_minute,
     threshold: 60000}
  - {throttle_id: load, entity_type: target, entity_id: gold, metric: GB_per_hour, threshold: 3.6}
"""
#: Throttle → quantity, threshold before and after the change, and units a minute for each unit.
THROTTLES = {
    "read": ("records", 60_000.0, 90_000.0, 1.0),
    "load": ("bytes", 3.6, 1.8, 1e9 / 60),
}


@dataclass(frozen=True)
class Use:
    """One micro-batch of one process."""

    throttle: str
    at: float
    used: float


def declare(url: str, text: str) -> None:
    catalog = Catalog.open(url, create=True)
    indexer, declared = CatalogIndexer(catalog), bundle.load([("bench.yaml", text)])
    proposal = apply_files.propose(indexer, declared)
    apply_files.apply(indexer, declared, proposal, actor="bench", reason=None)
    catalog.close()


def work(url: str, until: float, seed: int) -> None:
    """One process: a stage that reads and one that loads; prints what it used and when."""
    catalog = Catalog.open(url)
    journal, chance = Journal(catalog.engine), random.Random(seed)
    context = CatalogIndexer(catalog).catalog_index().stages["p-1"]
    uses: list[Use] = []
    lock = threading.Lock()

    def stage(throttle: str, direction: Direction) -> None:
        attempt = Attempt(
            context=context,
            run_id="run",
            stage_run_id=f"try_{seed}_{throttle}",
            attempt=1,
            run_options=RunOptions(),
            at=datetime.now(UTC),
        )
        # Only the journal and the owner are used: nothing is read or written here.
        resources = WorkerResources(
            **{name: MagicMock() for name in ("spark", "storage", "increments", "warehouse")},
            **{name: MagicMock() for name in ("kept_schema", "code_of", "renew")},
            journal=journal,
            owner=Owner.this_process(),
        )
        dataset = context.inputs[0] if direction is Direction.READ else context.target
        assert dataset is not None
        pace = StagePace(attempt, resources)
        while time.time() < until:
            files = [
                PacedFile(address=str(n), bytes=chance.randrange(20_000, 60_000))
                for n in range(200)
            ]
            batches = pace.batches(dataset, direction, files, lambda file: file.bytes / 300)
            with closing(batches):
                for batch in batches:
                    at = time.time()
                    batch.records *= chance.uniform(0.67, 1.33)
                    used = batch.records if throttle == "read" else batch.bytes
                    with lock:
                        uses.append(Use(throttle, at, used))
                    time.sleep(chance.uniform(0.0, 0.2))  # what Spark would take
                    if at >= until:
                        break

    pairs = (("read", Direction.READ), ("load", Direction.LOAD))
    threads = [threading.Thread(target=stage, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    catalog.close()
    print(json.dumps([(use.throttle, use.at, use.used) for use in uses]))


def bucket_bench(url: str, minutes: int, processes: int) -> list[Use]:
    """The uses of all processes; the thresholds change after half the minutes."""
    declare(url, ROWS)
    begins = time.time() + 5  # they start within this
    until = begins + _BURST_SECONDS + 2 * minutes * _MINUTE
    command = [sys.executable, __file__, "--work", url, str(until)]
    running = [
        subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in range(processes)
    ]
    change_at = begins + _BURST_SECONDS + minutes * _MINUTE
    time.sleep(max(0.0, change_at - time.time()))
    catalog = Catalog.open(url)
    with catalog.engine.begin() as connection:  # as somebody with psql or sqlite3 would
        for name, (_, _, after, _) in THROTTLES.items():
            connection.exec_driver_sql(
                f"UPDATE throttles SET threshold = {after} WHERE throttle_id = '{name}'"
            )
    catalog.close()
    found = [json.loads(process.communicate()[0]) for process in running]
    uses = [Use(*use) for each in found for use in each]
    show(uses, begins + _BURST_SECONDS, minutes)
    return uses


def show(uses: list[Use], begins: float, minutes: int) -> None:
    """A line for each minute, and a plot of five seconds a column."""
    print(f"{'throttle':10}{'minute':>7}{'threshold':>14}{'measured':>14}{'off by':>9}")
    worst = 0.0
    for name, (quantity, before, after, unit) in THROTTLES.items():
        mine = [use for use in uses if use.throttle == name]
        for minute in range(2 * minutes):
            start = begins + minute * _MINUTE
            used = sum(use.used for use in mine if start <= use.at < start + _MINUTE)
            threshold = before if minute < minutes else after
            off = used / (threshold * unit) - 1
            worst = max(worst, abs(off))
            print(
                f"{quantity:10}{minute + 1:>7}{threshold * unit:>14,.0f}{used:>14,.0f}{off:>9.1%}"
            )
        print(f"{quantity:10}{plot(mine, begins, 2 * minutes * 12, before * unit / 12)}")
    print(f"The worst minute is off by {worst:.1%}.")


def plot(uses: list[Use], begins: float, columns: int, full: float) -> str:
    """The use of each five seconds; a block in the middle is the threshold at the start."""
    blocks = " ▁▂▃▄▅▆▇█"
    used = [0.0] * columns
    for use in uses:
        index = int((use.at - begins) // 5)
        if 0 <= index < columns:
            used[index] += use.used
    return "".join(blocks[min(8, round(4 * each / full))] for each in used)


def stage_rows() -> Iterator[str]:
    yield "pipelines: [{pipeline_id: a}, {pipeline_id: b}]"
    yield "sources:"
    for name in "ab":
        path = f"s3://bench/{name}/"
        yield f"  - {{source_id: raw_{name}, s3_path: '{path}', file_format: jsonl,"
        yield "     declared_schema: 'n BIGINT, text STRING', options: {throttle_group: raw}}"
    yield "targets:"
    yield "  - {target_id: kept_a, location: 's3://bench/kept/', type: s3}"
    yield "  - {target_id: kept_b, location: bench.kept, type: redshift}"
    yield "stages:"
    for name in "ab":
        yield f"  - {{pipeline_id: {name}, stage_order: 1, source_id: raw_{name},"
        yield f"     target_id: kept_{name}, write_mode: append}}"
    yield "throttles:"
    yield "  - {throttle_id: read, entity_type: group, entity_id: raw,"
    yield "     metric: records_per_minute, threshold: 60000}"


def stage_bench(folder: Path, records: int) -> None:
    """Two pipelines read at once under one throttle."""
    subprocess.run([GOLDSMITH, "init", str(folder)], check=True, stdout=subprocess.DEVNULL)
    (folder / "bench.yaml").write_text("\n".join(stage_rows()) + "\n")
    numbers = count()
    for name in "ab":
        raw = folder / ".goldsmith" / "s3" / "bench" / name
        raw.mkdir(parents=True)
        for file in range(records // 2 // 500):
            lines = (json.dumps({"n": next(numbers), "text": "x" * 40}) for _ in range(500))
            (raw / f"{file:05}.jsonl").write_text("\n".join(lines) + "\n")
    command = [str(GOLDSMITH), "--project", str(folder)]
    subprocess.run([*command, "apply", str(folder / "bench.yaml"), "--yes"], check=True)
    began = time.monotonic()
    subprocess.run([*command, "run", "a", "b"], check=True)
    seconds = time.monotonic() - began
    with closing(sqlite3.connect(folder / ".goldsmith" / "catalog.db")) as plain:
        usage = plain.execute("SELECT minute, used FROM throttle_usage ORDER BY minute").fetchall()
    for minute, used in usage:
        print(f"{minute[:16]}  {used:>12,.0f} records   threshold 60,000")
    total = sum(used for _, used in usage)
    print(f"{total:,.0f} records in {seconds:.0f} s, Spark's start included.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=1, help="before and after the change")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--url", help="a catalog; default: SQLite in a folder of its own")
    parser.add_argument("--stages", action="store_true", help="run real stages")
    parser.add_argument("--records", type=int, default=90_000, help="of --stages")
    parser.add_argument("--work", nargs=3, metavar=("URL", "UNTIL", "SEED"), help="one process")
    given: Any = parser.parse_args()
    if given.work:
        work(given.work[0], float(given.work[1]), int(given.work[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        if given.stages:
            stage_bench(Path(folder) / "bench", given.records)
        else:
            url = given.url or f"sqlite:///{folder}/catalog.db"
            bucket_bench(url, given.minutes, given.processes)


if __name__ == "__main__":
    main()
