"""A served lakehouse, and files of raw records as both clients write them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi.testclient import TestClient

from goldsmith.lakehouse.carry_out import process_waiting
from goldsmith.lakehouse.raw_tables import find_table
from goldsmith.runtime import Runtime

RUN = "artifacts/apps/redshift/workflows/wf-1/run-1"
DAY = 1_763_424_000_000


def record(name: str, **more: Any) -> dict[str, Any]:
    return {
        "typename": "table",
        "connection_qualified_name": "default/redshift/1",
        "workflow_id": "wf-1",
        "workflow_run_id": "run-1",
        "extracted_at": DAY + 5,
        "tenant_id": "tenant-a",
        "entity_name": name,
        "raw_record": json.dumps({"table_name": name, "n": 1.50}),
    } | more


@dataclass
class Lakehouse:
    """The lakehouse, its API and the files of its tenants."""

    client: TestClient
    runtime: Runtime
    folder: Path

    def file(self, key: str, *records: dict[str, Any], tenant: str = "tenant-a") -> Path:
        path = self.folder / tenant / key
        path.parent.mkdir(parents=True, exist_ok=True)
        if key.endswith(".parquet"):  # every column OPTIONAL, as the clients write it
            pq.write_table(pa.Table.from_pylist(list(records)), path, compression="snappy")
        else:
            path.write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
        return path

    def post(self, body: Any, tenant: str = "tenant-a", **headers: str) -> Any:
        sent = {"X-Atlan-Tenant-Id": tenant} | headers
        return self.client.post(f"/atlan/lh/v1/{tenant}/load", json=body, headers=sent)

    def submit(self, pattern: str, **more: Any) -> str:
        body = {"patterns": [pattern], "namespace": "entity_raw", "tableName": "redshift"}
        answer = self.post(body | {"mode": "APPEND"} | more)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["jobId"])

    def load(self, pattern: str, **more: Any) -> dict[str, Any]:
        job = self.submit(pattern, **more)
        self.process()
        return self.status(job)

    def process(self) -> int:
        runtime = self.runtime
        return process_waiting(runtime.catalog, runtime.journal, runtime.storage)

    def status(self, job: str, tenant: str = "tenant-a") -> Any:
        answer = self.client.get(
            f"/atlan/lh/v1/{tenant}/load/{job}/status",
            headers={"X-Atlan-Tenant-Id": tenant, "X-Lakehouse-Job-Id": job},
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rows(self, application: str = "redshift") -> list[dict[str, Any]]:
        table = find_table(self.runtime.storage, application)
        if table is None:
            return []
        found: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
        return sorted(found, key=lambda row: (row["entity_name"] or "", row["raw_record"]))

    def names(self) -> list[str]:
        return [row["entity_name"] for row in self.rows()]

    def data_files(self) -> int:
        lake = self.runtime.settings.project / ".goldsmith" / "lake"
        return len(list(lake.rglob("*.parquet")))
