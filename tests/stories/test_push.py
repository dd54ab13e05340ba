"""Push, from two keys to a deleted table: real processes, the real pycarlo, the real gateway."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from goldsmith.assets import items, manifest
from goldsmith.assets.items import Flow
from stories.shop import GOLDSMITH

UUID = "11111111-1111-4111-8111-111111111111"


@dataclass
class Team:
    """A platform team with a project, a served gateway and the five variables."""

    folder: Path
    process: Any
    url: str
    environ: dict[str, str]

    def run(self, *arguments: str, code: int = 0, **variables: str) -> str:
        done = subprocess.run(
            [str(GOLDSMITH), "--project", str(self.folder), *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**self.environ, **variables},
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def json(self, *arguments: str, code: int = 0, **variables: str) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code, **variables))

    def sql(self, statement: str) -> list[Any]:
        with sqlite3.connect(self.folder / ".goldsmith" / "catalog.db", timeout=30) as connection:
            return connection.execute(statement).fetchall()

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def serve(folder: Path, *arguments: str) -> tuple[Any, str]:
    process = subprocess.Popen(
        [
            *(str(GOLDSMITH), "--project", str(folder), "serve", "--workers", "0"),
            *("--port", "0", "--probe-port", "0", "--json", *arguments),
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}"):
            break
    return process, json.loads(text)["url"]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    folder = tmp_path / "platform"
    subprocess.run([str(GOLDSMITH), "init", str(folder)], check=True, capture_output=True)
    process, url = serve(folder)
    made = Team(folder=folder, process=process, url=url, environ=dict(os.environ))
    try:
        ingestion = made.json("gateway", "create-key", "push", "--scope", "ingestion")
        asking = made.json("gateway", "create-key", "ask", "--scope", "graphql")
        made.environ |= {
            "MCD_INGEST_ID": ingestion["id"],
            "MCD_INGEST_TOKEN": ingestion["secret"],
            "MCD_ID": asking["id"],
            "MCD_TOKEN": asking["secret"],
            "MCD_RESOURCE_UUID": UUID,
            "MCD_API_ENDPOINT": f"{url}/graphql",
        }
        yield made
    finally:
        if made.process.poll() is None:
            made.kill()
        assert made.process.stdout is not None
        made.process.stdout.close()


def make_lake(folder: Path, tables: int) -> dict[str, str]:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    uri = f"sqlite:///{folder}/lake.db"
    lake = SqlCatalog("lake", uri=uri, warehouse=f"file://{folder}/lake")
    lake.create_namespace("gold")
    rows = pa.table({"id": [1, 2, 3], "amount": [1.0, 2.0, 3.0]})
    lake.create_table("gold.a_orders", rows.schema).append(rows)
    for number in range(tables - 1):
        lake.create_table(f"gold.t{number:03}", rows.schema)
    lake.close()
    return {"name": "lake", "type": "sql", "uri": uri, "warehouse": f"file://{folder}/lake"}


def test_two_keys_build_collect_push_validate_doctor_delete(team: Team, tmp_path: Path) -> None:
    settings = make_lake(tmp_path, 53)
    pairs = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    scripts = tmp_path / "scripts"
    team.run("push", "build-metadata-collector", "iceberg", *pairs, "-o", str(scripts))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "collect_and_push_metadata.py"],
        cwd=scripts,
        env=team.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    file = scripts / "metadata_output.json"
    content = json.loads(file.read_text())
    assert [each in done.stdout for each in content["invocation_ids"]] == [True, True]
    assert content["pushed_count"] == 53
    team.run("gateway", "process")
    found = team.json("push", "validate-metadata", str(file))
    assert found["status"] == "ok"
    assert {check["checkpoint"] for check in found["checks"]} == {
        *("table", "columns", "volume", "freshness")
    }
    # Goldsmith's own commands do the same within the hour when a reason is given.
    team.run("collect", "iceberg", "metadata", *pairs, "-o", "own.json")
    own = team.json("push", "push", "own.json", "--with", "pycarlo")
    assert len(own["invocation_ids"]) == 2
    refused = team.json("push", "push", "own.json", code=1)
    assert refused["error"]["code"] == "PushedWithinTheHour"
    assert [row["resource_uuid"] for row in team.json("push", "list")] == [UUID]
    team.run("gateway", "process")
    assert team.json("push", "doctor", str(file))[-1]["checkpoint"] == 5

    def doctor(**variables: str) -> tuple[int, str]:
        last = team.json("push", "doctor", str(file), code=1, **variables)[-1]
        assert last["state"] == "failed"
        return last["checkpoint"], last["found"]

    number, found_text = doctor(MCD_INGEST_TOKEN="wrong")
    assert (number, "401" in found_text) == (2, True)
    number, _ = doctor(
        MCD_INGEST_ID=team.environ["MCD_ID"], MCD_INGEST_TOKEN=team.environ["MCD_TOKEN"]
    )
    assert number == 2
    limited = team.json(
        *("gateway", "create-key", "other", "--scope", "ingestion"),
        *("--resource", "22222222-2222-4222-8222-222222222222"),
    )
    number, _ = doctor(MCD_INGEST_ID=limited["id"], MCD_INGEST_TOKEN=limited["secret"])
    assert number == 3
    assert doctor(MCD_TOKEN="wrong")[0] == 5
    deleted = team.json("push", "delete-push-tables", "--manifest", str(file), "--yes")
    assert deleted == {"deleted": 53}
    again = team.json("push", "validate-metadata", str(file), code=1)
    # Within the documented delay nothing is missing: it may only not be shown yet.
    assert (again["status"], bool(again["try_after"])) == ("not_yet", True)
    content["pushed_at"] = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    file.write_text(json.dumps(content))
    again = team.json("push", "validate-metadata", str(file), code=1)
    assert (again["status"], again["checks"][0]["checkpoint"]) == ("failed", "table")
    secrets = [team.environ["MCD_INGEST_TOKEN"], team.environ["MCD_TOKEN"]]
    for written in [*scripts.glob("*.*"), *team.folder.rglob("*.json")]:
        assert not any(secret in written.read_text() for secret in secrets)


def test_lineage_from_a_history_of_queries_and_what_expires(team: Team, tmp_path: Path) -> None:
    log = tmp_path / "hiveserver2.log"
    at = (datetime.now(UTC) - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S")
    log.write_text(
        f"{at},000 INFO Executing command(queryId=h1): CREATE TABLE shop.customer_orders AS "
        "SELECT c.customer_id, o.amount AS order_amount FROM shop.customers c "
        f"JOIN shop.orders o ON c.customer_id = o.customer_id\n{at},900 INFO done\n"
    )
    given = ("--set", f"log_file={log}")
    team.run("collect", "hive", "lineage", *given, "-o", "collected.json")
    [edge] = manifest.read(team.folder / "collected.json").items()
    assert [source["name"] for source in edge["sources"]] == ["customers", "orders"]
    names = [("shop", "shop", name) for name in ("customers", "orders", "customer_orders")]

    def write(name: str, edges: list[dict[str, Any]]) -> str:
        file = team.folder / name
        manifest.write(
            file,
            edges,
            flow=Flow.LINEAGE,
            resource_uuid=UUID,
            kind="data-lake",
            collected_at=datetime.now(UTC),
        )
        return str(file)

    tables_alone = write("tables.json", [items.edge(names[2], names[:2])])
    team.run("push", "push", tables_alone)
    team.run("gateway", "process")
    assert team.json("push", "validate-lineage", tables_alone)["status"] == "ok"
    origins = "SELECT DISTINCT origin, origin_type, expires_at FROM gateway_edges"
    assert team.sql(origins) == [("push_ingest", "DIRECT_LINEAGE", None)]
    # Column lineage alone makes the edge of the tables as well.
    columns = {"id": [(names[2], "customer_id")]}
    columns_alone = write("columns.json", [items.edge(("shop", "shop", "r"), names[2:], columns)])
    team.run("push", "push", columns_alone, "--override-reason", "the story goes on")
    team.run("gateway", "process")
    assert team.json("push", "validate-lineage", columns_alone)["status"] == "ok"
    # Edges of query logs stand beside the pushed ones.
    team.run("collect", "hive", "query-logs", *given, "-o", "logs.json")
    team.run("push", "push", "logs.json")
    team.run("gateway", "process")
    pair = (
        "SELECT origin FROM gateway_edges WHERE source LIKE '%:shop.orders' "
        "AND destination LIKE '%:shop.customer_orders' ORDER BY origin"
    )
    assert team.sql(pair)[0] == ("push_ingest",)
    assert team.json("push", "validate-query-logs", "logs.json", code=1)["status"] == "not_yet"
    # Eleven days later.
    for table in ("gateway_edges", "gateway_column_edges", "gateway_nodes"):
        team.sql(f"UPDATE {table} SET expires_at = datetime(expires_at, '-11 days')")
    assert team.json("gateway", "sweep")["removed"] >= 1
    assert team.sql("SELECT * FROM gateway_column_edges") == []
    assert team.sql(pair) == [("push_ingest",)]
    # A node made by hand is permanent unless told otherwise.
    node = team.json("push", "create-lineage-node", "dag", "nightly", "--name", "Nightly")
    team.run("push", "create-lineage-edge", node["mcon"], "table=shop:shop.orders")
    edges = team.sql("SELECT expires_at FROM gateway_edges WHERE origin = 'custom'")
    assert edges == [(None,)]
    gone = team.json("push", "delete-lineage-node", node["mcon"], "--yes")
    assert gone["edgesDeleted"] == 1


def test_what_was_accepted_before_a_kill_is_processed_after_it(team: Team) -> None:
    accepted: list[str] = []
    enough = threading.Event()
    address = urlsplit(team.url)

    def send(thread: int) -> None:
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
        headers = {
            "Content-Type": "application/json",
            "x-mcd-id": team.environ["MCD_INGEST_ID"],
            "x-mcd-token": team.environ["MCD_INGEST_TOKEN"],
        }
        for number in range(10_000):
            about = {"name": f"t{thread}_{number}", "database": "d", "schema": "s"}
            body = {
                "event_type": "METADATA",
                "resource": {"uuid": UUID, "resource_type": "data-lake"},
                "events": [{"relational_asset": {"type": "TABLE", "metadata": about}}],
            }
            try:
                connection.request("POST", "/ingest/v1/metadata", json.dumps(body), headers)
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 202:
                accepted.append(json.loads(content)["invocation_id"])
                if len(accepted) >= 60:
                    enough.set()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    assert enough.wait(60)
    team.kill()
    for thread in threads:
        thread.join()
    team.run("gateway", "process")
    stored = dict(team.sql("SELECT invocation_id, status FROM gateway_deliveries"))
    assert len(accepted) == len(set(accepted)) >= 60
    assert {stored[each] for each in accepted} == {"processed"}
    [(tables,)] = team.sql("SELECT count(*) FROM gateway_tables")
    assert tables == len(stored)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_pushes_and_asks_as_the_page_says(team: Team) -> None:
    page = (Path(__file__).parents[2] / "docs/push/direct-http-api.md").read_text("utf-8")
    blocks = [part.partition("```")[0] for part in page.split("```sh\n")[1:]]
    assert len(blocks) >= 5
    answers = []
    for block in blocks:
        done = subprocess.run(
            ["sh", "-euc", block],
            env={**team.environ, "INGEST": team.url, "GRAPHQL": f"{team.url}/graphql"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
        team.run("gateway", "process")
    assert sum("invocation_id" in answer for answer in answers) >= 4
    assert answers[-1]["data"]["getTable"]["mcon"].endswith("analytics:public.orders")
