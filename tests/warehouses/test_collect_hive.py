"""Hive's tables by PyHive, before Spark's Thrift server, which speaks HiveServer2's protocol."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from oracles.environments import python_of

pytestmark = pytest.mark.soak

_COLLECT = """
import json, sys, time
from datetime import UTC, datetime
from pathlib import Path
from pyhive import hive
from goldsmith.assets import manifest
from goldsmith.assets.items import Flow
from goldsmith.collectors.collect import CollectRequest, collect
from goldsmith.credentials import Secrets

port, folder = sys.argv[1], Path(sys.argv[2])
for _ in range(600):
    try:
        connection = hive.connect(host="127.0.0.1", port=int(port), username="u", auth="NONE")
        break
    except Exception:
        time.sleep(0.2)
cursor = connection.cursor()
for statement in (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.orders (id INT COMMENT 'The key', amount DECIMAL(10,2)) "
    "COMMENT 'Ordered' STORED AS PARQUET",
    "INSERT INTO shop.orders VALUES (1, 2.5), (2, 3.5)",
    "ANALYZE TABLE shop.orders COMPUTE STATISTICS",
    "CREATE VIEW shop.big AS SELECT id AS order_id FROM shop.orders",
):
    cursor.execute(statement)
found = {}
for flow in (Flow.METADATA, Flow.LINEAGE):
    file = folder / f"{flow.value}.json"
    settings = {"host": "127.0.0.1", "port": port, "user": "u"}
    request = CollectRequest(warehouse="hive", flow=flow, resource_uuid="r", settings=settings)
    collect(request, file, Secrets({}), now=datetime.now(UTC))
    found[flow.value] = list(manifest.read(file).items())
print(json.dumps(found))
"""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    home = Path(pyspark.__file__).parent
    process = subprocess.Popen(
        [
            *(str(home / "bin/spark-submit"), "--master", "local[1]", "--driver-memory", "700m"),
            *("--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"),
            *("--conf", "spark.ui.enabled=false"),
            *("--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse", "spark-internal"),
            *("--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"),
            *("--hiveconf", f"hive.server2.thrift.port={number}"),
            *("--hiveconf", "javax.jdo.option.ConnectionURL=jdbc:derby:memory:m;create=true"),
        ],
        cwd=tmp_path,
        env={**os.environ, "SPARK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield number
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_hive_tables_have_columns_rows_and_bytes_and_views_have_lineage(
    port: int, tmp_path: Path
) -> None:
    source = Path(sys.modules["goldsmith"].__path__[0]).parent
    done = subprocess.run(
        [str(python_of("hive")), "-W", "ignore", "-c", _COLLECT, str(port), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    tables = {item["metadata"]["name"]: item for item in found["metadata"]}
    assert set(tables) == {"orders", "big"}
    assert tables["orders"]["fields"] == [
        {"name": "id", "type": "int", "description": "The key"},
        {"name": "amount", "type": "decimal(10,2)"},
    ]
    assert tables["orders"]["volume"]["row_count"] == 2
    assert tables["orders"]["volume"]["byte_count"] > 0
    assert tables["orders"]["freshness"]["last_update_time"].startswith("20")
    assert tables["orders"]["metadata"]["description"] == "Ordered"
    assert tables["big"]["type"] == "VIEW"
    [edge] = found["lineage"]
    assert (edge["destination"]["name"], edge["sources"][0]["name"]) == ("big", "orders")
    assert edge["fields"][0]["name"] == "order_id"
