"""One catalog with its raw files, and an environment to run it in: only settings may differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CATALOG = """
pipelines:
  - {pipeline_id: customers}
  - {pipeline_id: orders}

sources:
  - {source_id: raw_customers, s3_path: "s3://shop/raw/customers/", file_format: csv}
  - source_id: raw_orders
    s3_path: s3://shop/raw/orders/
    file_format: jsonl
    declared_schema: >-
      order_id BIGINT, customer_id STRING, amount DECIMAL(12,2), items ARRAY<STRING>, at TIMESTAMP

targets:
  - {target_id: bronze_customers, location: "s3://shop/bronze/customers/", type: s3}
  - {target_id: silver_customers, location: "s3://shop/silver/customers/", type: s3}
  - {target_id: bronze_orders, location: "s3://shop/bronze/orders/", type: s3}
  - {target_id: silver_orders, location: "s3://shop/silver/orders/", type: s3}
  - {target_id: gold_cities, location: shop.gold_cities, type: redshift}
  - {target_id: gold_orders, location: shop.gold_orders, type: redshift}

stages:
  - {pipeline_id: customers, stage_order: 1, source_id: raw_customers, target_id: bronze_customers}
  - pipeline_id: customers
    stage_order: 2
    source_id: bronze_customers
    target_id: silver_customers
    write_mode: scd2
    keys: [customer_id]
    watermark_column: changed_at
    transform_sql: >-
      SELECT customer_id, city, CAST(changed_at AS TIMESTAMP) AS changed_at FROM bronze_customers
  - {pipeline_id: orders, stage_order: 1, source_id: raw_orders, target_id: bronze_orders}
  - pipeline_id: orders
    stage_order: 2
    source_id: bronze_orders
    target_id: silver_orders
    write_mode: merge
    keys: [order_id]
    watermark_column: at
    partition_by: [day]
    validation_set_id: orders_are_sound
    transform_sql: >-
      SELECT order_id, customer_id, amount, items, at, DATE(at) AS day FROM bronze_orders
  - pipeline_id: orders
    stage_order: 3
    source_id: silver_orders
    target_id: gold_cities
    validation_set_id: row_count_gt0
    transform_sql: >-
      SELECT c.city, COUNT(*) AS orders, SUM(o.amount) AS amount, MAX(o.day) AS last_day
      FROM silver_orders o JOIN silver_customers c
        ON c.customer_id = o.customer_id AND c._is_current
      GROUP BY c.city
  - pipeline_id: orders
    stage_order: 4
    source_id: silver_orders
    target_id: gold_orders
    write_mode: merge
    keys: [order_id]
    watermark_column: at
    transform_sql: SELECT order_id, customer_id, amount, items, at FROM silver_orders

validation_rules:
  - rule_set_id: orders_are_sound
    check_def:
      - {type: not_null, column: order_id}
      - {type: in_range, column: amount, min: 0}
      - {type: query, sql: "SELECT order_id FROM {rows} GROUP BY order_id HAVING COUNT(*) > 1"}
"""

LAKE = ("bronze_customers", "silver_customers", "bronze_orders", "silver_orders")
WAREHOUSE = ("gold_cities", "gold_orders")


def _order(number: int, customer: str, amount: str, day: int, *items: str) -> str:
    at = f"2026-03-{day:02}T10:00:00Z"
    fields = {
        "order_id": number,
        "customer_id": customer,
        "amount": amount,
        "items": items,
        "at": at,
    }
    return json.dumps(fields, ensure_ascii=False)


#: What lies under s3://shop/raw/ before the first run, and what comes before the second.
BATCHES: tuple[Mapping[str, str], ...] = (
    {
        "customers/1.csv": (
            "customer_id,city,changed_at\n"
            "a,Zürich,2026-01-01 00:00:00\nb,Basel,2026-01-01 00:00:00\n"
        ),
        "orders/day=1/a b+c.jsonl": "\n".join(
            [_order(1, "a", "10.50", 1, "ring"), "{broken", _order(2, "b", "20", 1)]
        ),
        "orders/day=2/1.jsonl": _order(3, "a", "0.01", 2, "ring", "“chain”"),
    },
    {
        # A move, one that happened before what is known, and one known already.
        "customers/2.csv": (
            "customer_id,city,changed_at\nb,Bern,2026-02-01 00:00:00\n"
            "a,Chur,2025-06-01 00:00:00\na,Zürich,2026-01-01 00:00:00\n"
        ),
        # A correction, an old state that comes late, and a new order.
        "orders/day=3/1.jsonl": "\n".join(
            [
                _order(2, "b", "25", 3, "brooch"),
                _order(3, "a", "99", 1),
                _order(4, "b", "7.25", 3),
            ]
        ),
    },
)

#: Differ between any two runs.
_OWN = ("_id", "_run_id", "_ingested_at", "_kept_at", "_stage_run_id")
_COUNTS = ("rows_read", "rows_written", "rows_quarantined")


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Where the catalog runs: its settings, and ways to it that are not goldsmith's."""

    name: str
    folder: Path
    #: What goldsmith.toml says.
    toml: str
    #: Puts a raw file where s3://shop/raw/ really is.
    put: Callable[[str, bytes], None]
    #: Every row of a warehouse table, looked up by the warehouse's own driver.
    gold: Callable[[str], list[dict[str, Any]]]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Story:
    """What three runs said, and what was there in the end; run ids and times left out."""

    #: Of each run: stage → how it ended and what it counted.
    runs: list[dict[str, dict[str, Any]]]
    plans: list[dict[str, str]]
    tables: dict[str, list[dict[str, Any]]]
    shown: dict[str, dict[str, Any]]
    listed: list[dict[str, Any]]
    malformed: list[dict[str, Any]]


class Prompt:
    """A goldsmith that takes one command after the other."""

    def __init__(self, process: subprocess.Popen[str], project: Path) -> None:
        self._process = process
        self._project = project

    def say(self, *arguments: str, code: int = 0) -> str:
        """The output of a command that has to succeed, or to end as is said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(["--project", str(self._project), *arguments]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"code": "the process ended"}')
        assert answer["code"] == code, f"goldsmith {' '.join(arguments)}: {answer}"
        return str(answer["out"])

    def ask(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.say(*arguments, "--json", code=code))


@contextmanager
def prompt(environment: Environment) -> Iterator[Prompt]:
    """Start the process, end it."""
    # What the machine has of its own must not help.
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "GOLDSMITH_ENV"))}
    ours |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull}
    log = environment.folder / "stderr.txt"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("command_server.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**ours, **environment.environ},
            cwd=environment.folder,
        ) as process,
    ):
        try:
            yield Prompt(process, environment.folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(60)
            finally:
                process.kill()


def tell(environment: Environment) -> Story:
    """Three runs: over the first files, over more, and with nothing to do."""
    folder = environment.folder
    (folder / "goldsmith.toml").write_text(environment.toml)
    (folder / "catalog.yaml").write_text(CATALOG)
    runs, plans = [], []
    with prompt(environment) as goldsmith:
        goldsmith.say("catalog", "migrate", "--yes")
        goldsmith.say("apply", str(folder / "catalog.yaml"), "--yes")
        for batch in (*BATCHES, {}):
            for name, text in batch.items():
                environment.put(name, text.encode())
            plans.append(_fates(goldsmith.ask("plan")))
            runs.append(_counts(goldsmith.ask("run")))
        tables = {
            table: _plain(goldsmith.ask("datasets", "sample", table, "--most", "1000"))
            for table in LAKE
        }
        shown = {table: _shown(goldsmith.ask("datasets", "show", table)) for table in LAKE}
        listed = goldsmith.ask("datasets", "list")
    tables |= {table: _plain(environment.gold(table)) for table in WAREHOUSE}
    return Story(
        runs=runs,
        plans=plans,
        tables=tables,
        shown=shown,
        listed=listed,
        malformed=_malformed(environment),
    )


def _fates(plan: Any) -> dict[str, str]:
    return {stage["stage_id"]: stage["fate"] for stage in plan["stages"]}


def _counts(runs: Any) -> dict[str, dict[str, Any]]:
    return {
        f"{run['pipeline_id']}-{stage['stage_order']}": {
            "status": stage["status"],
            "error": stage["error_message"],
            **{count: stage[count] for count in _COUNTS},
        }
        for run in runs
        for stage in run["stages"]
    }


def _shown(held: Any) -> dict[str, Any]:
    """What is shown of a dataset, but for sizes and ids."""
    kept = {name: held[name] for name in ("kind", "location", "empty", "rows", "columns")}
    kept["operations"] = [snapshot["operation"] for snapshot in held["snapshots"]]
    return kept


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as text that is equal where they are, in an order of their own."""
    kept = [{name: _value(row[name]) for name in row if name not in _OWN} for row in rows]
    written = sorted(json.dumps(row, sort_keys=True, default=str) for row in kept)
    return [json.loads(row) for row in written]


def _value(value: Any) -> Any:
    # Lists are JSON in a warehouse, which some drivers give as text.
    return json.loads(value) if isinstance(value, str) and value.startswith("[") else value


def _malformed(environment: Environment) -> list[dict[str, Any]]:
    from goldsmith.runtime import Runtime

    runtime = Runtime.of(
        {**os.environ, **environment.environ},
        project=environment.folder,
        environment=None,
        cwd=environment.folder,
    )
    lake = runtime.storage.lake()
    assert lake is not None
    kept = lake.load_table(("quarantine", "bronze_orders")).scan().to_arrow().to_pylist()
    runtime.close()
    return _plain(kept)
