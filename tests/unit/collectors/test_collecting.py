"""What needs no server: patterns, free memory, recorded answers, Hive's log, drivers missing."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from goldsmith.assets import manifest
from goldsmith.assets.items import Flow
from goldsmith.collectors import collect as collecting
from goldsmith.collectors import memory
from goldsmith.collectors.collect import CollectRequest, collect
from goldsmith.collectors.collector import WAREHOUSES
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.credentials import LibraryMissing, Secrets

UUID = "11111111-1111-4111-8111-111111111111"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRETS = Secrets({"TOKEN": "a-token-of-the-tests"})


def run(
    folder: Path, warehouse: str, flow: Flow, settings: dict[str, str], **more: Any
) -> tuple[list[dict[str, Any]], list[Any], list[str]]:
    heard: list[str] = []
    request = CollectRequest(
        warehouse=warehouse, flow=flow, resource_uuid=UUID, settings=settings, **more
    )
    file = folder / "m.json"
    done = collect(request, file, SECRETS, now=NOW, tell=heard.append)
    return list(manifest.read(file).items()), list(done.gaps), heard


@pytest.mark.parametrize(
    ("include", "exclude", "wanted"),
    [
        ((), (), True),
        (("d",), (), True),
        (("D.S",), (), True),
        (("s.orders",), (), True),
        (("d.s.ord*",), (), True),
        (("d.s",), ("d.s.orders",), False),
        (("other.*",), (), False),
        ((), ("?.s.*",), False),
        ((), ("orders",), True),
    ],
)
def test_patterns_choose_tables(
    include: tuple[str, ...], exclude: tuple[str, ...], wanted: bool
) -> None:
    assert TablePatterns(include, exclude).wants("d", "s", "Orders") is wanted


@pytest.mark.parametrize("pages", [100, 10**9])
def test_little_memory_is_warned_of_before_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    size = {"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": pages}
    monkeypatch.setattr(os, "sysconf", lambda name: size[name])
    settings = {"path": str(tmp_path / "missing.duckdb")}
    heard: list[str] = []
    request = CollectRequest(
        warehouse="duckdb", flow=Flow.METADATA, resource_uuid=UUID, settings=settings
    )
    with pytest.raises(collecting.WarehouseRefused):
        collect(request, tmp_path / "m.json", SECRETS, now=NOW, tell=heard.append)
    assert any("WARNING: Only 0.0 GB" in text for text in heard) is (pages == 100)
    monkeypatch.setattr(os, "sysconf", lambda name: (_ for _ in ()).throw(ValueError(name)))
    assert memory.memory_warning() is None


def test_a_driver_that_is_missing_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("snowflake"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    settings = {"account": "a", "user": "u", "password": "env:TOKEN"}
    with pytest.raises(LibraryMissing) as missing:
        run(tmp_path, "snowflake", Flow.METADATA, settings)
    assert "goldsmith[snowflake]" in missing.value.hint


def test_every_warehouse_says_what_it_lacks_and_takes_no_secret_as_text() -> None:
    found = dict(WAREHOUSES.all())
    assert {"bigquery", "bigquery_iceberg", "databricks", "duckdb", "glue", "hive"} <= set(found)
    assert {"iceberg", "information_schema", "postgres", "redshift", "snowflake"} <= set(found)
    for collector in found.values():
        assert collector.lacks
        for setting in collector.settings:
            assert setting.secret is (
                setting.name in ("password", "access_token", "token", "credential")
                or setting.name in ("access_key", "secret_key")
            )


class RecordedCursor:
    """A cursor that answers with what was recorded for the beginning of a statement."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers
        self.description: Any = []
        self._rows: list[Any] = []

    def execute(self, statement: str, values: Any = None) -> None:
        text = " ".join(statement.split())
        found = next((value for key, value in self._answers.items() if key in text), None)
        assert found is not None, text
        if isinstance(found, Exception):
            raise found
        names, rows = found
        self.description = [(name,) for name in names]
        self._rows = list(rows)

    def fetchmany(self, size: int) -> list[Any]:
        taken, self._rows = self._rows[:size], self._rows[size:]
        return taken

    def fetchall(self) -> list[Any]:
        return self.fetchmany(len(self._rows))

    def fetchone(self) -> Any:
        return next(iter(self.fetchmany(1)), None)

    def close(self) -> None:
        """Close nothing."""


def connected_to(monkeypatch: pytest.MonkeyPatch, connection: Any) -> None:
    monkeypatch.setattr(collecting, "connected", lambda *_: connection)


def test_databricks_recorded_tables_native_lineage_and_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded: no server of Databricks can be run here."""
    answers: dict[str, Any] = {
        "information_schema.schemata": (("c", "s"), [("main", "gold")]),
        "information_schema.columns": (
            ("t", "c", "d", "e"),
            [("orders", "id", "bigint", "The key"), ("orders", "amount", "decimal(10,2)", None)],
        ),
        "information_schema.table_tags": (("t", "n", "v"), [("orders", "pii", "no")]),
        "information_schema.views": (("t", "v"), [("big", "SELECT * FROM main.gold.orders")]),
        "information_schema.tables": (
            ("n", "k", "c", "cr", "a"),
            [
                ("big", "VIEW", None, NOW, NOW),
                ("denied", "MANAGED", None, NOW, NOW),
                ("orders", "MANAGED", "Ordered", NOW, NOW),
            ],
        ),
        "DESCRIBE DETAIL `main`.`gold`.`denied`": PermissionError("PERMISSION_DENIED"),
        "DESCRIBE DETAIL": (
            ("sizeInBytes", "numRows", "lastModified"),
            [(4096, 10, NOW - timedelta(hours=1))],
        ),
        "system.access": (
            ("to_table", "from_table", "to_column", "from_column"),
            [
                ("main.gold.orders", "main.silver.orders", "id", "ID"),
                ("main.gold.orders", "main.silver.customers", None, None),
            ],
        ),
        "system.query.history": (
            ("query_id", "text", "started", "ended", "user", "x_read_rows"),
            [("q1", "SELECT 1", NOW, NOW, "ann", 7)],
        ),
    }
    connection = SimpleNamespace(cursor=lambda: RecordedCursor(answers), close=lambda: None)
    connected_to(monkeypatch, connection)
    settings = {"server_hostname": "h", "http_path": "p", "access_token": "env:TOKEN"}
    tables, gaps, _ = run(tmp_path, "databricks", Flow.METADATA, settings)
    found = {item["metadata"]["name"]: item for item in tables}
    assert found["orders"]["volume"] == {"row_count": 10, "byte_count": 4096}
    assert found["orders"]["freshness"] == {"last_update_time": "2026-03-01T11:00:00Z"}
    assert found["orders"]["tags"] == [{"key": "pii", "value": "no"}]
    assert (found["big"]["type"], found["orders"]["type"]) == ("VIEW", "TABLE")
    assert "PERMISSION_DENIED" in gaps[0]["because"]
    assert "denied" in found
    [edge], _, _ = run(tmp_path, "databricks", Flow.LINEAGE, settings)
    assert [source["name"] for source in edge["sources"]] == ["orders", "customers"]
    assert edge["fields"][0]["source_fields"][0]["field_name"] == "ID"
    [log, *_], _, _ = run(
        tmp_path, "databricks", Flow.QUERY_LOGS, settings, look_back=timedelta(hours=1)
    )
    assert (log["query_text"], log["extra"]) == ("SELECT 1", {"read_rows": 7})


def test_bigquery_recorded_tables_and_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded: the emulator needs another Python than ours."""

    class Refused(Exception):
        """As the client raises it."""

    def get_table(reference: str) -> Any:
        if reference == "gone":
            raise Refused("404 Not found: Table gone")
        field = SimpleNamespace(name="id", field_type="INTEGER", description=None)
        return SimpleNamespace(
            table_id=reference,
            table_type="TABLE",
            description="Ordered",
            num_rows=3,
            num_bytes=30,
            modified=NOW,
            created=NOW,
            view_query=None,
            schema=[field],
            labels={"team": "sales"},
        )

    def list_jobs(**given: Any) -> Iterator[Any]:
        assert given["all_users"]
        for number, kind in enumerate(("query", "load")):
            yield SimpleNamespace(
                job_type=kind,
                state="DONE",
                error_result=None,
                job_id=f"job{number}",
                query="INSERT INTO sales.big SELECT id AS big_id FROM sales.orders",
                started=NOW,
                created=NOW,
                ended=NOW,
                user_email="ann@example.com",
                project="acme",
                default_dataset=None,
                total_bytes_billed=1024,
                statement_type="INSERT",
            )

    connection = SimpleNamespace(
        project="acme",
        close=lambda: None,
        list_datasets=lambda: [SimpleNamespace(dataset_id="sales")],
        list_tables=lambda _name: [
            SimpleNamespace(table_id=name, reference=name) for name in ("orders", "gone")
        ],
        get_table=get_table,
        list_jobs=list_jobs,
    )
    connected_to(monkeypatch, connection)
    [item], [gap], _ = run(tmp_path, "bigquery", Flow.METADATA, {"project": "acme"})
    assert item["metadata"]["database"] == "acme"
    assert item["freshness"] == {"last_update_time": "2026-03-01T12:00:00Z"}
    assert item["tags"] == [{"key": "team", "value": "sales"}]
    assert "404" in gap["because"]
    day = {"look_back": timedelta(hours=1)}
    [log], _, _ = run(tmp_path, "bigquery", Flow.QUERY_LOGS, {"project": "acme"}, **day)
    assert log["extra"] == {"total_bytes_billed": 1024, "statement_type": "INSERT"}
    [edge], _, _ = run(tmp_path, "bigquery", Flow.LINEAGE, {"project": "acme"}, **day)
    assert edge["destination"]["name"] == "big"
    assert edge["fields"][0]["source_fields"][0]["asset_id"] == "acme__sales__orders"


HIVE_LOG = """\
2026-03-01T09:00:00,100 INFO  [HiveServer2-Handler-Pool: Thread-51] session user=ann ok
2026-03-01T09:00:00,200 INFO  [pool: Thread-51] ql.Driver: Executing command(queryId=hive_1): \
INSERT INTO gold.orders
SELECT id, amount
FROM silver.orders
2026-03-01T09:00:05,700 INFO  [pool: Thread-51] ql.Driver: Completed executing command
2026-03-01T09:01:00,000 INFO  [pool] ql.Driver: Starting command(queryId=hive_2): SELECT 1
\x00\xff garbage
2026-03-01T09:01:01,000 INFO  [pool] ql.Driver: Executing command(queryId=hive_2): SELECT 1
"""


def test_hive_queries_are_read_from_its_log_and_the_command_that_fetches_it_is_printed(
    tmp_path: Path,
) -> None:
    log = tmp_path / "hiveserver2.log"
    log.write_bytes(HIVE_LOG.encode("latin-1"))
    settings = {"log_file": str(log)}
    entries, _, heard = run(tmp_path, "hive", Flow.QUERY_LOGS, settings)
    assert manifest.read(tmp_path / "m.json").kind == "hive-s3"
    assert [entry["query_id"] for entry in entries] == ["hive_1", "hive_2"]
    assert entries[0]["query_text"].startswith("INSERT INTO gold.orders\nSELECT id, amount")
    assert (entries[0]["start_time"], entries[0]["end_time"], entries[0]["user"]) == (
        "2026-03-01T09:00:00.200000Z",
        "2026-03-01T09:00:05.700000Z",
        "ann",
    )
    assert any("scp" in text for text in heard)
    [edge], _, _ = run(tmp_path, "hive", Flow.LINEAGE, settings)
    assert edge["destination"] == {
        "type": "TABLE",
        "name": "orders",
        "database": "gold",
        "schema": "gold",
        "asset_id": "gold__gold__orders",
    }
