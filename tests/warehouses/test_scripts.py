"""Scripts written for a warehouse run by themselves, and collect what the collectors collect."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from goldsmith.assets import manifest
from goldsmith.assets.items import Flow
from goldsmith.collectors.collect import CollectRequest, collect
from goldsmith.collectors.collector import WAREHOUSES
from goldsmith.collectors.errors import BadConnectionSetting, FlowNotCollected
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.collectors.scripts import ScriptRequest, scripts, write_scripts
from goldsmith.credentials import Secrets
from goldsmith.errors import BadRequest
from servers.ingest import running

UUID = "11111111-1111-4111-8111-111111111111"
SECRET = "a-password-of-the-tests"
NOW = datetime.now(UTC)


def request_of(warehouse: str, flow: Flow, **more: Any) -> ScriptRequest:
    given: dict[str, Any] = {
        "settings": {},
        "patterns": TablePatterns(exclude=("hidden",)),
        "only_volume": False,
        "look_back": timedelta(hours=24),
        "limit": 1000,
        "command": "build",
    }
    return ScriptRequest(warehouse=warehouse, flow=flow, **given | more)


@pytest.mark.parametrize("warehouse", WAREHOUSES.shipped())
@pytest.mark.parametrize("flow", Flow)
def test_every_script_compiles_and_has_the_check_of_memory(warehouse: str, flow: Flow) -> None:
    try:
        found = scripts(request_of(warehouse, flow))
    except FlowNotCollected:
        assert flow is Flow.QUERY_LOGS
        return
    for name, text in found.items():
        compile(text, name, "exec")
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        assert "goldsmith" not in names
    collecting = found[f"collect_{flow.value}.py"]
    main = collecting[collecting.index("def collect(") :]
    assert main.index("_check_available_memory()") < main.index("connect(")
    assert 'scope="Ingestion"' in found[f"push_{flow.value}.py"]
    assert "MCD_INGEST_TOKEN" in found[f"push_{flow.value}.py"]


def test_a_secret_in_plain_text_is_refused_and_scripts_are_not_overwritten(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadConnectionSetting):
        scripts(request_of("postgres", Flow.METADATA, settings={"password": SECRET}))
    request = request_of("duckdb", Flow.METADATA, settings={"path": "x"})
    write_scripts(request, tmp_path, overwrite=False)
    (tmp_path / "collect_metadata.py").write_text("# mine")
    with pytest.raises(BadRequest, match="exists already"):
        write_scripts(request, tmp_path, overwrite=False)
    assert (tmp_path / "collect_metadata.py").read_text() == "# mine"


@pytest.mark.parametrize("flow", [Flow.METADATA, Flow.LINEAGE])
def test_scripts_for_duckdb_collect_and_push_what_goldsmith_would(
    tmp_path: Path, flow: Flow
) -> None:
    import duckdb

    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER, name VARCHAR)")
        connection.execute("CREATE TABLE orders (id INTEGER, amount DECIMAL(10, 2))")
        connection.execute("CREATE VIEW spent AS SELECT * FROM orders JOIN customers USING (id)")
        connection.execute('CREATE TABLE "with ""quotes"" and.dots" (x INTEGER)')
        for number in range(60):
            connection.execute(f"CREATE TABLE t{number} (x INTEGER)")
    settings = {"path": str(file)}
    write_scripts(request_of("duckdb", flow, settings=settings), tmp_path, overwrite=False)
    name = flow.value
    with running() as server:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", f"collect_and_push_{name}.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={
                **os.environ,
                "MCD_RESOURCE_UUID": UUID,
                "MCD_INGEST_ID": "K",
                "MCD_INGEST_TOKEN": SECRET,
                "MCD_API_ENDPOINT": server.url,
            },
        )
        assert done.returncode == 0, done.stderr
        sizes = [len(json.loads(body)["events"]) for body in server.bodies]
    ours = tmp_path / "ours.json"
    request = CollectRequest(warehouse="duckdb", flow=flow, resource_uuid=UUID, settings=settings)
    collect(request, ours, Secrets({}), now=NOW)
    theirs = manifest.read(tmp_path / f"{name}_output.json")
    content = json.loads(theirs.file.read_text())
    if flow is Flow.METADATA:
        assert list(theirs.items()) == list(manifest.read(ours).items())
        assert sizes == [50, 14]
    else:
        [edge] = theirs.items()
        assert sorted(each["name"] for each in edge["sources"]) == ["customers", "orders"]
        assert edge["destination"]["name"] == "spent"
    assert len(content["invocation_ids"]) == len(sizes)
    assert all(str(each) in done.stdout for each in content["invocation_ids"])
    for script in tmp_path.glob("*.py"):
        assert SECRET not in script.read_text()
    assert SECRET not in theirs.file.read_text() + done.stdout + done.stderr


def test_scripts_for_hive_read_its_log_into_query_logs_and_lineage(tmp_path: Path) -> None:
    log = tmp_path / "hiveserver2.log"
    at = (NOW - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S")
    log.write_text(
        f"{at},000 INFO Executing command(queryId=h1): CREATE TEMPORARY TABLE gold.picked AS "
        f"SELECT * FROM silver.orders\n"
        f"{at},100 INFO Executing command(queryId=h2): INSERT INTO gold.orders\n"
        f"SELECT * FROM silver.customers\n{at},200 INFO done\n"
    )
    settings = {"log_file": str(log)}
    for flow in (Flow.QUERY_LOGS, Flow.LINEAGE):
        write_scripts(request_of("hive", flow, settings=settings), tmp_path, overwrite=False)
        done = subprocess.run(
            [sys.executable, f"collect_{flow.value}.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "MCD_RESOURCE_UUID": UUID},
        )
        assert done.returncode == 0, done.stderr
        assert "scp" in done.stdout
    logs = manifest.read(tmp_path / "query_logs_output.json")
    assert (logs.kind, [entry["query_id"] for entry in logs.items()]) == ("hive-s3", ["h1", "h2"])
    [edge] = manifest.read(tmp_path / "lineage_output.json").items()
    assert edge["destination"]["schema"] == "gold"
    assert [source["name"] for source in edge["sources"]] == ["customers"]
