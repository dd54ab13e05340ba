"""How fast the catalog and the plan are at 10,000 pipelines of 3 stages. `make bench-catalog`.

Everything is measured in one run on one machine, in new processes where it says so:

- `apply`: the files read, checked and written, once.
- `plan, first time ever`: a new process, no parse result kept, rows put there by plain SQL.
- `plan, new process`: a new process, parse results kept by an earlier one.
- `plan after one row changed`: the same process, one row changed by plain SQL.
- `nothing changed`: asking an open catalog whether anything changed.
- `status`: the command in a new process, against `python -c pass`.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

GOLDSMITH = Path(sys.executable).with_name("goldsmith")
MINE = Path(__file__).resolve()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pipelines", type=int, default=10_000)
    options.add_argument("--measure", choices=["plan", "again"], help=argparse.SUPPRESS)
    options.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.measure == "plan":
        measure_plan(arguments.project)
    elif arguments.measure == "again":
        measure_again(arguments.project)
    else:
        measure_all(arguments.pipelines)


def measure_all(pipelines: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "bench"
        command("init", str(project))
        files = project / "generated.yaml"
        files.write_text(catalog_yaml(pipelines))
        size = files.stat().st_size / 1e6
        print(f"{pipelines:,} pipelines of 3 stages, {size:.1f} MB of YAML", flush=True)

        apply = timed(lambda: command("--project", str(project), "apply", str(files), "--yes"))
        say("apply of that catalog, new process", apply)
        warm = [child("plan", project) for _ in range(3)]
        ever = min((first_time(project) for _ in range(3)), key=lambda run: run["whole"])
        say("plan, first time ever, new process (best of 3)", ever["whole"], goal=2.0)
        say("  of which inside the process", ever["inside"])
        best = min(warm, key=lambda run: run["whole"])
        say("plan, new process, parses kept (best of 3)", best["whole"], goal=2.0)
        again = child("again", project)
        say("plan again after one row changed (median of 9)", again["again"], goal=0.2)
        say("  worst of them", again["worst"])
        say("seeing that nothing changed (median of 200)", again["nothing"], goal=0.001)

        bare = min(timed(lambda: run([sys.executable, "-c", "pass"])) for _ in range(7))
        status = min(timed(lambda: command("--project", str(project), "status")) for _ in range(7))
        say("python -c pass (best of 7)", bare)
        say("goldsmith status, new process (best of 7)", status, goal=0.4)


def say(what: str, seconds: float, *, goal: float | None = None) -> None:
    wanted = (
        "" if goal is None else f"   goal ≤ {goal:g} s: {'met' if seconds <= goal else 'MISSED'}"
    )
    print(f"  {what:52} {seconds:9.4f} s{wanted}", flush=True)


def timed(attempt: Callable[[], object]) -> float:
    start = time.perf_counter()
    attempt()
    return time.perf_counter() - start


def run(arguments: list[str]) -> None:
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def command(*arguments: str) -> None:
    run([str(GOLDSMITH), *arguments])


def child(measure: str, project: Path) -> dict[str, float]:
    start = time.perf_counter()
    arguments = [sys.executable, str(MINE), "--measure", measure, "--project", str(project)]
    answer = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    return {**json.loads(answer), "whole": time.perf_counter() - start}


def first_time(project: Path) -> dict[str, float]:
    """A plan of everything in a new process, with no parse result kept."""
    with sqlite3.connect(project / ".goldsmith" / "catalog.db") as connection:
        connection.execute("DELETE FROM sql_facts")
    connection.close()
    return child("plan", project)


def measure_plan(project: Path) -> None:
    """One plan of everything, in this process."""
    start = time.perf_counter()
    stages = len(_plan(_surveyor(project)).stages)  # type: ignore[attr-defined]
    print(json.dumps({"inside": time.perf_counter() - start, "stages": stages}))


def measure_again(project: Path) -> None:
    """Plans after one changed row each, and asking whether anything changed."""
    catalog_indexer = _surveyor(project)
    _plan(catalog_indexer)
    again = []
    for turn in range(9):
        with sqlite3.connect(project / ".goldsmith" / "catalog.db") as connection:
            connection.execute(
                "UPDATE stages SET timeout_sec = ? WHERE pipeline_id = ? AND stage_order = 2",
                (100 + turn, f"pipeline_{turn * 7:05}"),
            )
        connection.close()
        again.append(timed(lambda: _plan(catalog_indexer)))
    nothing = [timed(catalog_indexer.catalog.revision) for _ in range(200)]
    answer = {
        "again": statistics.median(again),
        "worst": max(again),
        "nothing": statistics.median(nothing),
    }
    print(json.dumps(answer))


def _surveyor(project: Path):  # type: ignore[no-untyped-def]
    from goldsmith.runtime import Runtime

    return Runtime.open(project, None).catalog_indexer


def _plan(catalog_indexer):  # type: ignore[no-untyped-def]
    from datetime import UTC, datetime

    from goldsmith.planning import planner

    return planner.plan(
        catalog_indexer.catalog_index(), (), now=datetime.now(UTC), environment="embedded"
    )


def catalog_yaml(pipelines: int) -> str:
    """Pipelines made from a few templates, as people make thousands of them."""
    parts: dict[str, list[str]] = {"pipelines": [], "stages": [], "sources": [], "targets": []}
    for number in range(pipelines):
        name = f"pipeline_{number:05}"
        # Every tenth one also reads what the one before it made.
        lookup = f"silver_{number - 1:05}" if number % 10 else None
        parts["pipelines"].append(
            f"- pipeline_id: {name}\n  owner: team_{number % 40}\n  default_retry_id: std_retry\n"
            f"  tags: [generated, group_{number % 100}]\n"
        )
        parts["sources"].append(
            f"- source_id: raw_{number:05}\n  s3_path: s3://company/raw/{number:05}/\n"
            "  file_format: jsonl\n"
        )
        for layer, kind, location in (
            ("bronze", "s3", f"s3://company/bronze/{number:05}/"),
            ("silver", "s3", f"s3://company/silver/{number:05}/"),
            ("gold", "redshift", f"analytics.gold_{number:05}"),
        ):
            parts["targets"].append(
                f"- target_id: {layer}_{number:05}\n  location: {location}\n  type: {kind}\n"
            )
        parts["stages"] += _stages(number, name, lookup)
    return "".join(f"{table}:\n" + "".join(rows) for table, rows in parts.items())


def _stages(number: int, name: str, lookup: str | None) -> list[str]:
    join = f" LEFT JOIN {lookup} AS other ON other.id = b.id" if lookup else ""
    silver = (
        f"SELECT b.id, b.user_id, CAST(b.amount AS DECIMAL(12, 2)) AS amount, b.at "
        f"FROM bronze_{number:05} AS b{join} WHERE b.id IS NOT NULL"
    )
    gold = (
        f"SELECT DATE(at) AS day, COUNT(*) AS orders, SUM(amount) AS amount "
        f"FROM silver_{number:05} GROUP BY DATE(at)"
    )
    return [
        f"- {{pipeline_id: {name}, stage_order: 1, stage_name: bronze_ingest, "
        f"source_id: raw_{number:05}, target_id: bronze_{number:05}, "
        "validation_set_id: not_empty}\n",
        f"- {{pipeline_id: {name}, stage_order: 2, stage_name: silver_clean, "
        f"source_id: bronze_{number:05}, target_id: silver_{number:05}, keys: [id], "
        f'validation_set_id: schema_match, transform_sql: "{silver}"}}\n',
        f"- {{pipeline_id: {name}, stage_order: 3, stage_name: gold_daily, "
        f"source_id: silver_{number:05}, target_id: gold_{number:05}, "
        f'validation_set_id: row_count_gt0, transform_sql: "{gold}"}}\n',
    ]


if __name__ == "__main__":
    main()
