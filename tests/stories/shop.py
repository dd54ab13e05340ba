"""A small project for stories: orders from files to bronze, silver and gold, in plain sight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stories import leftovers

GOLDSMITH = Path(sys.executable).with_name("goldsmith")
#: One small JVM: these runs are many and short.
SMALL = '\n[spark.conf]\n"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1"\n'

CATALOG = """
pipelines:
  - {pipeline_id: orders}
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: orders_raw, target_id: bronze_orders}
  - pipeline_id: orders
    stage_order: 2
    source_id: bronze_orders
    target_id: silver_orders
    write_mode: merge
    keys: [order_id]
    watermark_column: at
    transform_sql: SELECT order_id, amount, at FROM bronze_orders
  - pipeline_id: orders
    stage_order: 3
    source_id: silver_orders
    target_id: gold_orders
    validation_set_id: row_count_gt0
    transform_sql: SELECT COUNT(*) AS orders, SUM(amount) AS amount FROM silver_orders
sources:
  - source_id: orders_raw
    s3_path: s3://shop/raw/orders/
    file_format: jsonl
    declared_schema: "order_id BIGINT, amount BIGINT, at TIMESTAMP"
targets:
  - {target_id: bronze_orders, location: s3://shop/bronze/orders/, type: s3}
  - {target_id: silver_orders, location: s3://shop/silver/orders/, type: s3}
  - {target_id: gold_orders, location: shop.gold_orders, type: redshift}
"""


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The project, as its user sees it."""

    folder: Path
    #: The address of its catalog.
    catalog: str

    @classmethod
    def make(cls, folder: Path, *, catalog: str | None = None, toml: str = SMALL) -> Shop:
        """A project of these settings; in the catalog at an address, or in one of its own."""
        home = folder / ".goldsmith"
        shop = cls(folder=folder, catalog=catalog or f"sqlite:///{home / 'catalog.db'}")
        shop.goldsmith("init", str(folder))
        if catalog is not None:
            toml += f'\n[catalog]\nurl = "{catalog}"\n[lake]\nuri = "sqlite:///{home}/lake.db"\n'
        file = folder / "goldsmith.toml"
        file.write_text(file.read_text() + toml)
        shop.apply(CATALOG)
        return shop

    def apply(self, text: str) -> None:
        file = self.folder / "shop.yaml"
        file.write_text(text)
        self.goldsmith("--project", str(self.folder), "apply", str(file), "--yes")

    def goldsmith(
        self, *arguments: str, fault: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, **({"GOLDSMITH_FAULT": fault} if fault else {})}
        done = subprocess.run(
            [str(GOLDSMITH), *arguments], capture_output=True, text=True, env=environ, check=False
        )
        if fault is None and done.returncode != 0:
            raise AssertionError(f"goldsmith {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}")
        return done

    def run(self, *arguments: str, fault: str | None = None) -> subprocess.CompletedProcess[str]:
        return self.goldsmith(
            "--project", str(self.folder), "run", "orders", *arguments, fault=fault
        )

    def ask(self, *arguments: str) -> Any:
        return json.loads(
            self.goldsmith("--project", str(self.folder), *arguments, "--json").stdout
        )

    def bring(self, name: str, *orders: tuple[int, int, str]) -> None:
        """Put a raw file there: order_id, amount and day of each order."""
        file = self.folder / ".goldsmith" / "s3" / "shop" / "raw" / "orders" / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"order_id": o, "amount": a, "at": at}) for o, a, at in orders]
        file.write_text("\n".join(lines) + "\n")

    def rows(self, dataset: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("datasets", "sample", dataset, "--most", "1000")
        return found

    def gold(self) -> list[tuple[int, int]]:
        import duckdb

        file = self.folder / ".goldsmith" / "warehouse.duckdb"
        with duckdb.connect(str(file), read_only=True) as connection:
            return connection.execute("SELECT orders, amount FROM shop.gold_orders").fetchall()

    def leftovers(self) -> dict[str, list[Any]]:
        return leftovers.of_project(self.folder, catalog=self.catalog)
