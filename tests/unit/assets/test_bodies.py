"""Bodies of pushes: the recorded ones byte for byte, batches by number and by size."""

from __future__ import annotations

import json
import random
import string
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from goldsmith.assets import items
from goldsmith.assets.bodies import batches, body_of, compressed_size, encoded
from goldsmith.assets.errors import BadItem, ItemTooLarge, UnknownLogType
from goldsmith.assets.items import Flow

UUID = "11111111-1111-4111-8111-111111111111"
TABLE = items.table(
    database="analytics",
    schema="public",
    name="my_table",
    kind="BASE TABLE",
    description="optional description",
    columns=[{"name": "id", "type": "INTEGER"}, {"name": "amount", "type": "DECIMAL(10,2)"}],
    rows=Decimal("1000000"),
    size=111111111,
    updated=datetime(2026, 3, 12, 14, 30, tzinfo=UTC),
)
CUSTOMERS, ORDERS = ("analytics", "public", "customers"), ("analytics", "public", "orders")
MADE = ("analytics", "public", "customer_orders")
EDGE = items.edge(MADE, [CUSTOMERS, ORDERS])
COLUMNS = items.edge(
    MADE,
    [CUSTOMERS, ORDERS],
    {"customer_id": [(CUSTOMERS, "customer_id")], "order_amount": [(ORDERS, "amount")]},
)
ENTRY = items.log_entry(
    started=datetime(2024, 3, 1, 10, tzinfo=UTC),
    ended=datetime(2024, 3, 1, 10, 0, 5, tzinfo=UTC),
    text="SELECT 'é'",
    query_id="query-abc-123",
    user="analyst@company.com",
    error_code=57014,
    error_text="cancelled",
    rows=847,
    extra={"database_name": "dev", "elapsed_time_us": Decimal(123456), "none": None},
)
#: The bodies recorded from Monte Carlo's client, with the keys in the order received.
RECORDED = {
    "metadata": (
        Flow.METADATA,
        TABLE,
        "data-lake",
        '{"event_type": "METADATA", "resource": {"uuid": "%s", "resource_type": "data-lake"}, '
        '"events": [{"relational_asset": {"type": "TABLE", "metadata": {"name": "my_table", '
        '"database": "analytics", "schema": "public", "description": "optional description"}, '
        '"fields": [{"name": "id", "type": "INTEGER"}, {"name": "amount", "type": '
        '"DECIMAL(10,2)"}], "volume": {"row_count": 1000000, "byte_count": 111111111}, '
        '"freshness": {"last_update_time": "2026-03-12T14:30:00Z"}}}]}',
    ),
    "table lineage": (
        Flow.LINEAGE,
        EDGE,
        "data-lake",
        '{"event_type": "LINEAGE", "resource": {"uuid": "%s", "resource_type": "data-lake"}, '
        '"events": [{"destination": {"type": "TABLE", "name": "customer_orders", "database": '
        '"analytics", "schema": "public"}, "sources": [{"type": "TABLE", "name": "customers", '
        '"database": "analytics", "schema": "public"}, {"type": "TABLE", "name": "orders", '
        '"database": "analytics", "schema": "public"}]}]}',
    ),
    "column lineage": (
        Flow.LINEAGE,
        COLUMNS,
        "data-lake",
        '{"event_type": "COLUMN_LINEAGE", "resource": {"uuid": "%s", "resource_type": '
        '"data-lake"}, "events": [{"destination": {"type": "TABLE", "name": "customer_orders", '
        '"database": "analytics", "schema": "public", "asset_id": '
        '"analytics__public__customer_orders"}, "sources": [{"type": "TABLE", "name": '
        '"customers", "database": "analytics", "schema": "public", "asset_id": '
        '"analytics__public__customers"}, {"type": "TABLE", "name": "orders", "database": '
        '"analytics", "schema": "public", "asset_id": "analytics__public__orders"}], "fields": '
        '[{"name": "customer_id", "source_fields": [{"asset_id": '
        '"analytics__public__customers", "field_name": "customer_id"}]}, {"name": '
        '"order_amount", "source_fields": [{"asset_id": "analytics__public__orders", '
        '"field_name": "amount"}]}]}]}',
    ),
    "query logs": (
        Flow.QUERY_LOGS,
        ENTRY,
        "redshift",
        '{"event_type": "QUERY_LOG", "resource": {"uuid": "%s", "log_type": "redshift"}, '
        '"events": [{"start_time": "2024-03-01T10:00:00Z", "end_time": "2024-03-01T10:00:05Z", '
        '"query_text": "SELECT \'\\u00e9\'", "query_id": "query-abc-123", "user": '
        '"analyst@company.com", "error_code": 57014, "error_text": "cancelled", '
        '"returned_rows": 847, "extra": {"database_name": "dev", "elapsed_time_us": 123456}}]}',
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_body_equals_the_recorded_body_byte_for_byte(name: str) -> None:
    flow, item, kind, recorded = RECORDED[name]
    body = encoded(body_of(flow, [items.checked(flow, item)], resource_uuid=UUID, kind=kind))
    assert body.decode() == recorded.replace("%s", UUID)


@pytest.mark.parametrize("name", RECORDED)
def test_the_models_of_pycarlo_give_the_same_body(name: str) -> None:
    models = pytest.importorskip("pycarlo.features.ingestion.models")
    flow, item, kind, recorded = RECORDED[name]
    if flow is Flow.METADATA:
        event = models.RelationalAsset.from_dict(item)
        built = models.build_metadata_payload(UUID, kind, [event])
    elif flow is Flow.LINEAGE:
        event = models.LineageEvent.from_dict(item)
        built = models.build_lineage_payload(UUID, kind, [event])
    else:
        times = {name: datetime.fromisoformat(item[name]) for name in ("start_time", "end_time")}
        event = models.QueryLogEntry(**{**item, **times})
        built = models.build_query_log_payload(UUID, kind, [event])
    assert json.dumps(built) == recorded.replace("%s", UUID)


def test_batches_hold_fifty_and_keep_the_order() -> None:
    many = [items.table(database="d", schema="s", name=f"t{n}") for n in range(120)]
    made = list(batches(Flow.METADATA, iter(many), resource_uuid=UUID, kind="data-lake"))
    assert [len(batch.items) for batch in made] == [50, 50, 20]
    assert [item for batch in made for item in batch.items] == many


def _noise(size: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(string.ascii_letters, k=size))


def _entry(text: str) -> dict[str, Any]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return {**items.log_entry(started=at, ended=at, text="x"), "query_text": text}


def test_a_batch_that_is_too_large_compressed_is_split_and_nothing_is_lost() -> None:
    entries = [_entry(_noise(9_000, seed)) for seed in range(40)]
    made = list(
        batches(Flow.QUERY_LOGS, entries, resource_uuid=UUID, kind="redshift", largest=60_000)
    )
    assert len(made) > 1
    assert all(compressed_size(batch.body) <= 60_000 for batch in made)
    assert [item for batch in made for item in batch.items] == entries


def test_an_item_too_large_by_itself_is_refused_by_name() -> None:
    with pytest.raises(ItemTooLarge, match="2026-01-01"):
        list(
            batches(
                Flow.QUERY_LOGS,
                [_entry(_noise(200_000, 1))],
                resource_uuid=UUID,
                kind="redshift",
                largest=50_000,
            )
        )


def test_hive_is_hive_s3() -> None:
    with pytest.raises(UnknownLogType) as wrong:
        items.check_log_type("hive")
    assert "hive-s3" in wrong.value.hint


def test_counts_and_times_come_out_plain() -> None:
    assert [items.whole(value) for value in (None, Decimal("7"), "8", 9.0, -1, "x", True)] == [
        *(None, 7, 8, 9, None, None, None)
    ]
    east = timezone(timedelta(hours=2))
    assert items.moment_text(datetime(1969, 5, 1, 2, 0, 0, 5, tzinfo=east)) == (
        "1969-05-01T00:00:00.000005Z"
    )


def test_native_types_become_table_or_view() -> None:
    native = ("BASE TABLE", "MANAGED", "MATERIALIZED VIEW", "view", None, "EXTERNAL_TABLE")
    assert [items.asset_type(name) for name in native] == [
        *("TABLE", "TABLE", "VIEW", "VIEW", "TABLE", "TABLE")
    ]


@pytest.mark.parametrize(
    ("flow", "item", "problem"),
    [
        (Flow.METADATA, {**TABLE, "type": "BASE TABLE"}, "BASE TABLE"),
        (Flow.METADATA, {"type": "TABLE", "metadata": {"name": "t"}}, "database"),
        (Flow.METADATA, [], "not an object"),
        (Flow.LINEAGE, {**EDGE, "sources": []}, "no sources"),
        (Flow.LINEAGE, {**COLUMNS, "sources": [{**EDGE["sources"][0]}]}, "asset_id"),
        (Flow.QUERY_LOGS, {"start_time": "x"}, "end_time"),
    ],
)
def test_an_item_a_receiver_would_refuse_is_refused_here(
    flow: Flow, item: Any, problem: str
) -> None:
    with pytest.raises(BadItem, match=problem):
        items.checked(flow, item)
