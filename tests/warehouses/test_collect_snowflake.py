"""Snowflake by its real connector, before fakesnow; both in environments of their own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracles.environments import python_of

pytestmark = pytest.mark.soak

_COLLECT = """
import json, sys, time
from datetime import UTC, datetime, timedelta
from pathlib import Path
import snowflake.connector
from goldsmith.assets import manifest
from goldsmith.assets.items import Flow
from goldsmith.collectors.collect import CollectRequest, collect
from goldsmith.credentials import Secrets

port, folder = sys.argv[1], Path(sys.argv[2])
settings = {"account": "acme", "user": "u", "password": "env:PASSWORD", "host": "127.0.0.1"}
settings |= {"port": port, "protocol": "http"}
for _ in range(300):
    try:
        connection = snowflake.connector.connect(**settings | {"password": "x", "port": int(port)})
        break
    except Exception:
        time.sleep(0.2)
cursor = connection.cursor()
for statement in (
    "CREATE DATABASE analytics", "CREATE SCHEMA analytics.shop", "USE SCHEMA analytics.shop",
    "CREATE TABLE orders (id INT, \\"amount\\" NUMBER(10,2)) COMMENT = 'Ordered'",
    "INSERT INTO orders VALUES (1, 2), (3, 4)",
    "CREATE DATABASE snowflake", "CREATE SCHEMA snowflake.account_usage",
    "CREATE TABLE snowflake.account_usage.query_history (query_id TEXT, query_text TEXT, "
    "start_time TIMESTAMP_TZ, end_time TIMESTAMP_TZ, user_name TEXT, error_code TEXT, "
    "error_message TEXT, rows_produced INT, database_name TEXT, schema_name TEXT, "
    "session_id INT, warehouse_name TEXT, bytes_scanned INT)",
    "INSERT INTO snowflake.account_usage.query_history VALUES ('q1', "
    "'CREATE TABLE paid AS SELECT id, \\"amount\\" AS much FROM orders', current_timestamp(), "
    "current_timestamp(), 'ANN', NULL, NULL, 3, 'ANALYTICS', 'SHOP', 1, 'WH', 10)",
):
    cursor.execute(statement)
found = {}
for flow in Flow:
    file = folder / f"{flow.value}.json"
    request = CollectRequest(
        warehouse="snowflake", flow=flow, resource_uuid="r", settings=settings
    )
    collect(request, file, Secrets({"PASSWORD": "x"}), now=datetime.now(UTC) + timedelta(hours=14))
    found[flow.value] = list(manifest.read(file).items())
print(json.dumps(found))
"""


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    fakesnow = python_of("fakesnow").with_name("fakesnow")
    process = subprocess.Popen(
        [str(fakesnow), "-s", "-p", str(number)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield number
    process.kill()
    process.wait()


def test_snowflake_metadata_lineage_and_query_logs(port: int, tmp_path: Path) -> None:
    source = Path(sys.modules["goldsmith"].__path__[0]).parent
    done = subprocess.run(
        [str(python_of("snowflake")), "-W", "ignore", "-c", _COLLECT, str(port), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    [orders] = found["metadata"]
    assert orders["metadata"]["database"] == "ANALYTICS"
    assert orders["fields"] == [
        {"name": "ID", "type": "NUMBER(38,0)"},
        {"name": "amount", "type": "NUMBER(10,2)"},
    ]
    assert orders["volume"]["row_count"] == 2
    [edge] = found["lineage"]
    assert (edge["destination"]["name"], edge["sources"][0]["name"]) == ("PAID", "ORDERS")
    columns = {field["name"]: field["source_fields"][0]["field_name"] for field in edge["fields"]}
    assert columns == {"ID": "ID", "MUCH": "amount"}
    [log] = found["query_logs"]
    assert (log["user"], log["extra"]) == ("ANN", {"warehouse_name": "WH", "bytes_scanned": 10})
