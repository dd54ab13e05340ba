"""Collecting from real servers: PostgreSQL, the Redshift stand-in, DuckDB, Iceberg, Glue."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest
from psycopg import sql

from goldsmith.assets import manifest
from goldsmith.assets.items import Flow
from goldsmith.collectors.collect import Collected, CollectRequest, collect
from goldsmith.collectors.errors import (
    BadConnectionSetting,
    CollectionLost,
    FlowNotCollected,
    WarehouseRefused,
)
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.credentials import Secrets
from servers import redshift as redshift_server
from servers.s3 import S3

UUID = "11111111-1111-4111-8111-111111111111"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "a-password-of-the-tests"
SECRETS = Secrets({"PASSWORD": SECRET})
ODD = ['with "quotes"', "with.dots", "Zoë 表", "n" * 63, "back\\slash", "per%cent"]

Make = Callable[[str | None], str]


@pytest.fixture
def shop(new_database: Make) -> str:
    """A database with two schemas, odd names, a view and a schema that the reader may not use."""
    url = new_database(None)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE public.customers (customer_id bigint, name varchar(40));
            CREATE TABLE public.orders (customer_id bigint, amount numeric(10, 2));
            COMMENT ON TABLE public.orders IS 'What was ordered';
            COMMENT ON COLUMN public.orders.amount IS 'In euros';
            INSERT INTO public.orders SELECT n, n FROM generate_series(1, 250) n;
            CREATE TABLE public.empty ();
            CREATE VIEW public.spent AS
                SELECT c.name, o.amount FROM customers c JOIN orders o USING (customer_id);
            CREATE SCHEMA hidden; CREATE TABLE hidden.salaries (amount int);
            CREATE SCHEMA odd;
            ANALYZE;
            DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reader') THEN
                CREATE ROLE reader LOGIN; END IF; END $$;
            GRANT USAGE ON SCHEMA public, odd TO reader;
            GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
            """
        )
        for name in ODD:
            statement = sql.SQL("CREATE TABLE odd.{} ({} int)")
            connection.execute(statement.format(sql.Identifier(name), sql.Identifier(name)))
    return url


def settings_of(url: str) -> dict[str, str]:
    parts = psycopg.conninfo.conninfo_to_dict(url)
    return {
        "host": str(parts["host"]),
        "port": str(parts["port"]),
        "database": str(parts["dbname"]),
        "user": "reader",
        "password": "env:PASSWORD",
    }


def collected(
    folder: Path, warehouse: str, settings: dict[str, str], flow: Flow, **more: Any
) -> tuple[Collected, list[dict[str, Any]], dict[str, Any]]:
    file = folder / "manifest.json"
    request = CollectRequest(
        warehouse=warehouse, flow=flow, resource_uuid=UUID, settings=settings, **more
    )
    done = collect(request, file, SECRETS, now=NOW)
    text = file.read_text()
    assert SECRET not in text
    items = list(manifest.read(file).items())
    assert done.items == len(items)
    return done, items, json.loads(text)


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["metadata"]["name"]: item for item in items}


@pytest.mark.postgres
def test_postgres_metadata_has_columns_rows_and_bytes_and_names_what_is_hidden(
    shop: str, tmp_path: Path
) -> None:
    done, items, whole = collected(tmp_path, "postgres", settings_of(shop), Flow.METADATA)
    found = by_name(items)
    assert set(found) == {"customers", "orders", "empty", "spent", *ODD}
    orders = found["orders"]
    assert orders["metadata"]["description"] == "What was ordered"
    assert orders["fields"] == [
        {"name": "customer_id", "type": "bigint"},
        {"name": "amount", "type": "numeric(10,2)", "description": "In euros"},
    ]
    assert orders["volume"]["row_count"] == 250
    assert orders["volume"]["byte_count"] > 0
    assert "fields" not in found["empty"]
    assert found["customers"]["volume"]["row_count"] == 0
    assert (found["spent"]["type"], "volume" in found["spent"]) == ("VIEW", False)
    assert "JOIN" in found["spent"]["metadata"]["view_query"]
    assert found["with.dots"]["fields"][0]["name"] == "with.dots"
    [gap] = done.gaps
    assert (gap["schema"], "USAGE" in gap["because"]) == ("hidden", True)
    assert whole["gaps"] == [dict(gap)]
    assert (whole["resource_uuid"], whole["collected_at"]) == (UUID, NOW.isoformat())


@pytest.mark.postgres
def test_patterns_choose_tables_and_the_quick_flow_leaves_the_columns_out(
    shop: str, tmp_path: Path
) -> None:
    patterns = TablePatterns(include=("*.PUBLIC.*", "odd.zoë*"), exclude=("customers", "*.empty"))
    _, items, _ = collected(
        tmp_path,
        "postgres",
        settings_of(shop),
        Flow.METADATA,
        patterns=patterns,
        only_volume=True,
    )
    assert set(by_name(items)) == {"customers", "orders", "spent", "Zoë 表"}
    assert not any("fields" in item for item in items)
    assert by_name(items)["orders"]["volume"]["row_count"] == 250


@pytest.mark.postgres
def test_postgres_lineage_comes_from_views_column_by_column(shop: str, tmp_path: Path) -> None:
    _, items, whole = collected(tmp_path, "postgres", settings_of(shop), Flow.LINEAGE)
    [edge] = items
    assert whole["edges"] == items
    assert edge["destination"]["name"] == "spent"
    assert [source["name"] for source in edge["sources"]] == ["customers", "orders"]
    assert [field["name"] for field in edge["fields"]] == ["name", "amount"]


def test_what_a_warehouse_does_not_have_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(FlowNotCollected, match="no query history"):
        collected(tmp_path, "duckdb", {"path": "x"}, Flow.QUERY_LOGS)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"pasword": "x"}, "does not exist"),
        ({"password": "hunter2"}, "plain text"),
        ({"database": None}, "is missing"),
    ],
)
def test_wrong_settings_are_refused_before_a_connection(
    tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    given = {"host": "h", "database": "d", "user": "u"} | changed
    settings = {name: value for name, value in given.items() if value is not None}
    with pytest.raises(BadConnectionSetting, match=problem) as refused:
        collected(tmp_path, "postgres", settings, Flow.METADATA)
    assert "hunter2" not in str(refused.value) + refused.value.hint


def test_a_warehouse_that_is_not_there_is_named(tmp_path: Path) -> None:
    settings = {"host": "127.0.0.1", "port": "1", "database": "d", "user": "u"}
    with pytest.raises(WarehouseRefused, match="postgres cannot be collected"):
        collected(tmp_path, "postgres", settings, Flow.METADATA)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.postgres
def test_a_connection_that_breaks_ends_the_collection_and_writes_nothing(
    shop: str, tmp_path: Path
) -> None:
    def end_it(_text: str) -> None:
        with psycopg.connect(shop, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'"
            )

    request = CollectRequest(
        warehouse="postgres",
        flow=Flow.METADATA,
        resource_uuid=UUID,
        settings=settings_of(shop),
        patterns=TablePatterns(exclude=("hidden",)),
    )
    with pytest.raises(CollectionLost):
        collect(request, tmp_path / "m.json", SECRETS, now=NOW, tell=end_it)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.postgres
def test_an_information_schema_is_read_through_sqlalchemy(shop: str, tmp_path: Path) -> None:
    parts = settings_of(shop)
    url = f"postgresql+psycopg://reader@{parts['host']}:{parts['port']}/{parts['database']}"
    settings = {"url": url, "password": "env:PASSWORD"}
    _, items, _ = collected(tmp_path, "information_schema", settings, Flow.METADATA)
    found = by_name(items)
    assert {"customers", "orders", "spent"} <= set(found)
    assert found["orders"]["fields"][1] == {"name": "amount", "type": "numeric(10,2)"}
    assert found["spent"]["type"] == "VIEW"


@pytest.fixture
def redshift(shop: str, s3: S3) -> Iterator[tuple[dict[str, str], str]]:
    with redshift_server.running(shop, s3) as server:
        settings = settings_of(shop) | {"port": str(server.port), "ssl": "false"}
        yield {**settings, "host": "127.0.0.1", "user": "postgres"}, shop


HISTORY = (
    ("success", 1, "CREATE TEMP TABLE picked AS SELECT customer_id, amount FROM public.orders"),
    (
        "success",
        1,
        "INSERT INTO public.customer_orders SELECT c.customer_id, p.amount AS order_amount "
        "FROM public.customers c JOIN picked p USING (customer_id) -- " + "x" * 9_000,
    ),
    ("failed", 2, "INSERT INTO public.wrong SELECT * FROM public.orders"),
    ("success", 2, "THIS IS NOT SQL INSERT"),
)


def write_history(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for number, (status, session, text) in enumerate(HISTORY):
            started = (NOW - timedelta(hours=3, minutes=-number)).replace(tzinfo=None)
            connection.execute(
                "INSERT INTO redshift_system.history VALUES "
                "(10, %s, %s, current_database(), %s, %s, %s, 5000, %s, 7, %s)",
                (
                    *(number, session, status, started, started + timedelta(seconds=5)),
                    *("relation is locked" if status == "failed" else None, text),
                ),
            )


@pytest.mark.postgres
def test_redshift_has_rows_types_and_the_whole_text_of_queries(
    redshift: tuple[dict[str, str], str], tmp_path: Path
) -> None:
    settings, url = redshift
    write_history(url)
    _, tables, _ = collected(tmp_path, "redshift", settings, Flow.METADATA)
    found = by_name(tables)
    assert found["orders"]["volume"] == {"row_count": 250, "byte_count": 1 << 20}
    assert "volume" not in found["empty"]
    assert [field["type"] for field in found["customers"]["fields"]] == [
        "bigint",
        "character varying(40)",
    ]
    _, logs, whole = collected(tmp_path, "redshift", settings, Flow.QUERY_LOGS)
    assert (whole["log_type"], "resource_type" in whole) == ("redshift", False)
    assert [log["query_text"][:6] for log in logs] == ["CREATE", "INSERT", "INSERT", "THIS I"]
    assert len(logs[1]["query_text"]) > 9_000
    assert logs[1]["extra"]["elapsed_time_us"] == 5000
    assert (logs[2]["error_text"], logs[1].get("error_text")) == ("relation is locked", None)
    _, few, whole = collected(tmp_path, "redshift", settings, Flow.QUERY_LOGS, limit=2)
    assert (len(few), "limit of 2" in whole["gaps"][0]["because"]) == (2, True)


@pytest.mark.postgres
def test_redshift_lineage_looks_through_temporary_tables_and_leaves_failures_out(
    redshift: tuple[dict[str, str], str], tmp_path: Path
) -> None:
    settings, url = redshift
    write_history(url)
    patterns = TablePatterns(exclude=("public.s*_*",))  # the stand-in's own views
    _, edges, whole = collected(tmp_path, "redshift", settings, Flow.LINEAGE, patterns=patterns)
    found = {edge["destination"]["name"]: edge for edge in edges}
    assert set(found) == {"spent", "customer_orders"}
    made = found["customer_orders"]
    assert sorted(source["name"] for source in made["sources"]) == ["customers", "orders"]
    fields = {field["name"]: field["source_fields"] for field in made["fields"]}
    assert [origin["field_name"] for origin in fields["order_amount"]] == ["amount"]
    assert any("THIS" in gap["because"] or "query 3" in gap["query"] for gap in whole["gaps"])


def test_duckdb_is_read_without_writing(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, amount DECIMAL(10, 2))")
        connection.execute("INSERT INTO orders SELECT n, n FROM range(10) t(n)")
        connection.execute('CREATE VIEW big AS SELECT amount AS "Much" FROM orders')
        connection.execute('CREATE SCHEMA "odd ""schema"""')
        connection.execute('CREATE TABLE "odd ""schema"""."t.1" (x INT)')
        connection.execute("COMMENT ON TABLE orders IS 'Ordered'")
    before = file.read_bytes()
    _, items, _ = collected(tmp_path, "duckdb", {"path": str(file)}, Flow.METADATA)
    found = by_name(items)
    assert set(found) == {"orders", "big", "t.1"}
    assert found["orders"]["fields"][1]["type"] == "DECIMAL(10,2)"
    assert found["orders"]["volume"] == {"row_count": 10}
    assert found["orders"]["metadata"]["description"] == "Ordered"
    assert found["t.1"]["metadata"]["schema"] == 'odd "schema"'
    _, [edge], _ = collected(tmp_path, "duckdb", {"path": str(file)}, Flow.LINEAGE)
    assert (edge["destination"]["name"], edge["fields"][0]["name"]) == ("big", "Much")
    assert file.read_bytes() == before


def test_iceberg_has_rows_bytes_and_the_last_update_of_the_snapshot(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    uri = f"sqlite:///{tmp_path}/lake.db"
    lake = SqlCatalog("lake", uri=uri, warehouse=f"file://{tmp_path}/lake")
    lake.create_namespace("gold")
    rows = pa.table({"id": [1, 2, 3], "Größe": ["a", None, "c"]})
    table = lake.create_table("gold.orders", rows.schema, properties={"comment": "Ordered"})
    table.append(rows)
    lake.create_table("gold.empty", rows.schema)
    at = table.current_snapshot()
    lake.close()
    settings = {"name": "lake", "type": "sql", "uri": uri, "warehouse": f"file://{tmp_path}/lake"}
    _, items, _ = collected(tmp_path, "iceberg", settings, Flow.METADATA)
    found = by_name(items)
    assert found["orders"]["metadata"] == {
        "name": "orders",
        "database": "lake",
        "schema": "gold",
        "description": "Ordered",
    }
    assert found["orders"]["volume"]["row_count"] == 3
    assert found["orders"]["volume"]["byte_count"] > 0
    assert at is not None
    updated = datetime.fromisoformat(found["orders"]["freshness"]["last_update_time"])
    assert round(updated.timestamp() * 1000) == at.timestamp_ms
    assert found["orders"]["fields"][1] == {"name": "Größe", "type": "string"}
    assert found["empty"]["volume"] == {"row_count": 0, "byte_count": 0}


def test_glue_has_the_tables_of_its_catalog(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    client = boto3.client("glue", region_name="eu-west-1", endpoint_url=s3.endpoint)
    client.create_database(DatabaseInput={"Name": "collected"})
    for number in range(3):
        client.create_table(
            DatabaseName="collected",
            TableInput={
                "Name": f"orders_{number}",
                "TableType": "EXTERNAL_TABLE",
                "Parameters": {"numRows": "12", "owner": "ann"},
                "PartitionKeys": [{"Name": "day", "Type": "date"}],
                "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}]},
            },
        )
    settings = {"region": "eu-west-1", "endpoint": s3.endpoint}
    _, items, _ = collected(
        tmp_path, "glue", settings, Flow.METADATA, patterns=TablePatterns(include=("collected",))
    )
    found = by_name(items)
    assert set(found) == {"orders_0", "orders_1", "orders_2"}
    assert found["orders_1"]["type"] == "TABLE"
    assert [field["name"] for field in found["orders_1"]["fields"]] == ["id", "day"]
    assert found["orders_1"]["volume"] == {"row_count": 12}
    assert {"key": "owner", "value": "ann"} in found["orders_1"]["tags"]
