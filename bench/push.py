"""How much memory and time a large collection and push take, and how fast the gateway takes pushes.

python bench/push.py [TABLES]
"""

from __future__ import annotations

import http.client
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

UUID = "11111111-1111-4111-8111-111111111111"
COLUMNS = 20


class _Tables:
    """A connection to a warehouse of one schema with many tables of 20 columns."""

    def __init__(self, number: int) -> None:
        self.number = number

    def close(self) -> None:
        """Close nothing."""


def _schemas(_connection: Any) -> Iterator[dict[str, Any]]:
    yield {"database": "warehouse", "schema": "wide", "problem": None}


def _tables(connection: _Tables, *_: Any) -> Iterator[dict[str, Any]]:
    for number in range(connection.number):
        columns = [
            {"name": f"column_{n}_of_table_{number}", "type": "DECIMAL(10,2)", "description": None}
            for n in range(COLUMNS)
        ]
        yield {"name": f"table_{number}", "rows": number, "size": number, "columns": columns}


def collect_and_push(tables: int) -> None:
    """Peak memory and seconds of a collection and of its push to a receiver on loopback."""
    from dataclasses import replace

    from goldsmith.assets import manifest
    from goldsmith.assets.items import Flow
    from goldsmith.catalog.catalog import Catalog
    from goldsmith.collectors import collect as collecting
    from goldsmith.collectors.collector import WAREHOUSES, WarehouseFunctions
    from goldsmith.credentials import Secret, Secrets
    from goldsmith.emitters.push import push
    from goldsmith.emitters.receiver import HttpReceiver
    from goldsmith.journal.journal import Journal

    collector = replace(
        WAREHOUSES.get("iceberg"), functions=WarehouseFunctions(schemas=_schemas, tables=_tables)
    )
    collecting.WAREHOUSES.get = lambda _name: collector  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "metadata.json"
        request = collecting.CollectRequest(
            warehouse="iceberg", flow=Flow.METADATA, resource_uuid=UUID, settings={}
        )
        start, before = time.perf_counter(), _peak()
        collecting.collect(
            request, file, Secrets({}), now=datetime.now(UTC), connection=_Tables(tables)
        )
        seconds = time.perf_counter() - start
        size = file.stat().st_size / 1e6
        print(f"collect {tables:,} tables, {tables * COLUMNS:,} columns: {seconds:.1f} s")
        print(f"  manifest {size:.0f} MB, peak memory {_peak():.0f} MB (before {before:.0f} MB)")
        receiver = subprocess.Popen(
            [sys.executable, __file__, "--receive"], stdout=subprocess.PIPE, text=True
        )
        assert receiver.stdout is not None
        url = receiver.stdout.readline().strip()
        catalog = Catalog.open(f"sqlite:///{folder}/catalog.db", create=True)
        token = Secret("token", reference="env:TOKEN")
        start = time.perf_counter()
        done = push(
            manifest.read(file),
            HttpReceiver(key_id="K", token=token, endpoint=url),
            Journal(catalog.engine),
            requested_by="bench",
        )
        seconds = time.perf_counter() - start
        print(
            f"push {done.items:,} items in {len(done.invocation_ids):,} requests: {seconds:.1f} s"
        )
        print(f"  peak memory {_peak():.0f} MB")
        catalog.close()
        receiver.terminate()
        receiver.wait()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def receive() -> None:
    """A receiver that accepts everything and forgets it."""
    import uuid
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Accept(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            content = json.dumps({"invocation_id": str(uuid.uuid4())}).encode()
            self.send_response(202)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Accept)
    print(f"http://127.0.0.1:{server.server_port}/graphql", flush=True)
    server.serve_forever()


def gateway(seconds: float, per_second: int) -> None:
    """Requests a second that the gateway takes, and how long they wait."""
    goldsmith = str(Path(sys.executable).with_name("goldsmith"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([goldsmith, "init", folder], check=True, capture_output=True)
        key = json.loads(
            subprocess.run(
                [
                    *(goldsmith, "--project", folder, "gateway", "create-key", "bench"),
                    *("--scope", "ingestion", "--json"),
                ],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        server = subprocess.Popen(
            [
                *(goldsmith, "--project", folder, "serve", "--workers", "0", "--json"),
                *("--port", "0", "--probe-port", "0"),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        text = ""
        for line in server.stdout:
            text += line
            if line.startswith("}"):
                break
        waits = _send(json.loads(text)["url"], key, seconds, per_second)
        waits.sort()
        rate = len(waits) / seconds
        print(f"gateway: {rate:.0f} requests a second for {seconds:g} s, asked for {per_second}")
        print(f"  p50 {_at(waits, 0.5):.0f} ms, p95 {_at(waits, 0.95):.0f} ms")
        server.terminate()
        server.wait()


def _at(waits: list[float], share: float) -> float:
    return 1000 * waits[min(len(waits) - 1, int(share * len(waits)))]


def _send(url: str, key: dict[str, str], seconds: float, per_second: int) -> list[float]:
    address, threads = urlsplit(url), 8
    headers = {"Content-Type": "application/json"}
    headers |= {"x-mcd-id": key["id"], "x-mcd-token": key["secret"]}
    waits: list[float] = []
    begin = time.perf_counter() + 0.2

    def send(thread: int) -> None:
        connection = http.client.HTTPConnection(str(address.hostname), address.port)
        number = 0
        while True:
            due = begin + (number * threads + thread) / per_second
            if due > begin + seconds:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            about = {"name": f"t{thread}_{number}", "database": "d", "schema": "s"}
            asset = {"type": "TABLE", "metadata": about, "volume": {"row_count": number}}
            body = {
                "event_type": "METADATA",
                "resource": {"uuid": UUID, "resource_type": "data-lake"},
                "events": [{"relational_asset": asset}],
            }
            start = time.perf_counter()
            connection.request("POST", "/ingest/v1/metadata", json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 202, answer.status
            waits.append(time.perf_counter() - start)
            number += 1

    running = [threading.Thread(target=send, args=(number,)) for number in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return waits


if __name__ == "__main__":
    if sys.argv[1:] == ["--receive"]:
        receive()
    else:
        collect_and_push(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
        gateway(10, 200)
