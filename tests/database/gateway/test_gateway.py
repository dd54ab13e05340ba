"""The gateway: what it takes, what it answers, what becomes of it, and what it refuses."""

from __future__ import annotations

import gzip
import json
import random
import string
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from database.gateway.conftest import OTHER, UUID, Gateway
from goldsmith.emitters import documents
from goldsmith.gateway.mcon import table_mcon
from goldsmith.gateway.process import process_waiting
from goldsmith.gateway.receive import delivery
from goldsmith.gateway.sweep import sweep
from goldsmith.journal.evidence import current_evidence
from goldsmith.journal.gateway_tables import KeyScope
from plain_sql import PlainSql

NOW = datetime.now(UTC)
RESOURCE = {"uuid": UUID, "resource_type": "data-lake"}
METADATA: dict[str, Any] = {
    "event_type": "METADATA",
    "resource": RESOURCE,
    "events": [
        {
            "relational_asset": {
                "type": "TABLE",
                "metadata": {
                    "name": "my_table",
                    "database": "analytics",
                    "schema": "public",
                    "description": "optional description",
                },
                "fields": [
                    {"name": "id", "type": "INTEGER"},
                    {"name": "amount", "type": "DECIMAL(10,2)"},
                ],
                "volume": {"row_count": 1000000, "byte_count": 111111111},
                "freshness": {"last_update_time": "2026-03-12T14:30:00Z"},
            }
        }
    ],
}


def reference(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "TABLE", "name": name, "database": "analytics", "schema": "public", **more}


def column_lineage() -> dict[str, Any]:
    def named(name: str) -> dict[str, Any]:
        return reference(name, asset_id=f"analytics__public__{name}")

    return {
        "event_type": "COLUMN_LINEAGE",
        "resource": RESOURCE,
        "events": [
            {
                "destination": named("customer_orders"),
                "sources": [named("customers"), named("orders")],
                "fields": [
                    {
                        "name": "order_amount",
                        "source_fields": [
                            {"asset_id": "analytics__public__orders", "field_name": "amount"}
                        ],
                    }
                ],
            }
        ],
    }


def mcon(name: str, resource: str = UUID) -> str:
    return table_mcon(resource, "analytics", "public", name)


def sources_of(gateway: Gateway, name: str) -> list[str]:
    found = gateway.ask(documents.LINEAGE, m=mcon(name), w="upstream")["getTableLineage"]
    return sorted(node["mcon"].rpartition(".")[2] for node in found["connectedNodes"])


def test_a_pushed_table_is_shown_with_columns_volume_and_freshness(gateway: Gateway) -> None:
    invocation = gateway.push("metadata", METADATA)
    found = gateway.ask(documents.TABLE, f="analytics:public.my_table", d=UUID)["getTable"]
    assert found["mcon"] == mcon("my_table")
    assert (found["ingestType"], found["ingestInvocationId"]) == ("push", invocation)
    [version] = found["versions"]["edges"]
    fields = [edge["node"] for edge in version["node"]["fields"]["edges"]]
    assert fields == [
        {"name": "id", "fieldType": "INTEGER"},
        {"name": "amount", "fieldType": "DECIMAL(10,2)"},
    ]
    assert found["thresholds"]["freshness"]["status"] == "TRAINING"
    start = (NOW - timedelta(hours=2)).isoformat()
    for name, value in (("total_row_count", 1e6), ("total_byte_count", 111111111.0)):
        metrics = gateway.ask(documents.METRICS, m=mcon("my_table"), n=name, s=start)
        points = metrics["getMetricsV4"]
        assert [point["value"] for point in points["metrics"]] == [value]
        assert json.loads(points["metricsJson"])[0]["value"] == value
    changed = gateway.ask(
        documents.METRICS, m=mcon("my_table"), n="total_row_count_last_changed_on", s=start
    )
    at = datetime(2026, 3, 12, 14, 30, tzinfo=UTC).timestamp()
    assert changed["getMetricsV4"]["metrics"][0]["value"] == at


def test_a_push_of_volume_alone_leaves_the_columns_as_they_were(gateway: Gateway) -> None:
    gateway.push("metadata", METADATA)
    again = json.loads(json.dumps(METADATA))
    asset = again["events"][0]["relational_asset"]
    del asset["fields"], asset["freshness"]
    asset["volume"] = {"row_count": 5}
    gateway.push("metadata", again)
    found = gateway.ask(documents.TABLE, f="analytics:public.my_table", d=UUID)["getTable"]
    [version] = found["versions"]["edges"]
    assert len(version["node"]["fields"]["edges"]) == 2


def test_the_same_body_is_one_push_and_is_processed_once(gateway: Gateway, plain: PlainSql) -> None:
    ids = {gateway.push("metadata", METADATA) for _ in range(9)}
    assert len(ids) == 1
    other = json.loads(json.dumps(METADATA))
    other["events"][0]["relational_asset"]["metadata"]["name"] = "another"
    assert gateway.push("metadata", other) not in ids
    plain.run("UPDATE gateway_deliveries SET received_at = '2026-01-01 00:00:00+00:00', slot = 1")
    assert gateway.push("metadata", METADATA) not in ids


def test_column_lineage_alone_makes_the_table_edge_and_expires_without_it(
    gateway: Gateway, plain: PlainSql
) -> None:
    invocation = gateway.push("lineage", column_lineage())
    assert sources_of(gateway, "customer_orders") == ["customers", "orders"]
    derived = gateway.ask(documents.COLUMNS, m=mcon("orders"), c="amount")
    [destination] = derived["getDerivedTablesPartialLineage"]["destinations"]
    assert destination["mcon"] == mcon("customer_orders")
    assert destination["columns"] == [{"columnName": "order_amount"}]
    rows = plain.run("SELECT DISTINCT origin, origin_type, expires_at FROM gateway_edges")
    assert [tuple(row) for row in rows] == [("push_ingest", "DIRECT_LINEAGE", None)]
    with gateway.journal.reading() as connection:
        evidence = current_evidence(connection, NOW + timedelta(days=4000))
    assert {(each.from_dataset_id, each.to_dataset_id, each.origin) for each in evidence} == {
        ("analytics.public.customers", "analytics.public.customer_orders", "push_ingest"),
        ("analytics.public.orders", "analytics.public.customer_orders", "push_ingest"),
    }
    assert {each.seen_by for each in evidence} == {invocation}
    # Eleven days later: everything is eleven days older.
    old = (NOW - timedelta(days=1)).strftime("%Y-%m-%d %H:%M:%S+00:00")
    plain.run(f"UPDATE gateway_column_edges SET expires_at = '{old}'")
    derived = gateway.ask(documents.COLUMNS, m=mcon("orders"), c="amount")
    assert derived["getDerivedTablesPartialLineage"]["destinations"] == []
    assert sweep(gateway.journal) == 1
    assert sources_of(gateway, "customer_orders") == ["customers", "orders"]


def test_a_column_edge_is_stored_to_expire_after_ten_days(
    gateway: Gateway, plain: PlainSql
) -> None:
    gateway.push("lineage", column_lineage())
    [row] = plain.run("SELECT seen_at, expires_at FROM gateway_column_edges")
    seen, expires = (
        value if isinstance(value, datetime) else datetime.fromisoformat(value) for value in row
    )
    assert expires - seen == timedelta(days=10)


def test_lineage_across_resources_names_the_resource_of_each_table(gateway: Gateway) -> None:
    first = {"resource_uuid": UUID, "resource_type": "redshift"}
    second = {"resource_uuid": OTHER, "resource_type": "snowflake"}
    body = {
        "event_type": "LINEAGE",
        "events": [
            {"destination": reference("gold", **first), "sources": [reference("raw", **second)]}
        ],
    }
    gateway.push("lineage", body)
    found = gateway.ask(documents.LINEAGE, m=mcon("gold"), w="upstream")["getTableLineage"]
    assert [node["mcon"] for node in found["connectedNodes"]] == [mcon("raw", OTHER)]
    assert found["flattenedEdges"] == [
        {"mcon": mcon("gold"), "directlyConnectedMcons": [mcon("raw", OTHER)]}
    ]


def query_log(text: str, number: int = 1, **more: Any) -> dict[str, Any]:
    at = NOW - timedelta(minutes=number)
    return {
        "start_time": at.isoformat(),
        "end_time": (at + timedelta(seconds=2)).isoformat(),
        "query_text": text,
        "query_id": f"q{number}",
        "user": "ann",
        **more,
    }


def test_query_logs_are_counted_by_table_and_overwrite_no_pushed_edge(
    gateway: Gateway, plain: PlainSql
) -> None:
    gateway.push("lineage", column_lineage())
    logs = {
        "event_type": "QUERY_LOG",
        "resource": {"uuid": UUID, "log_type": "redshift"},
        "events": [
            query_log(f"SELECT * FROM analytics.public.orders WHERE customer_id = {number}", number)
            for number in range(1, 4)
        ]
        + [
            query_log(
                "INSERT INTO public.customer_orders SELECT * FROM public.orders",
                9,
                extra={"database_name": "analytics"},
            ),
            query_log("THIS IS NOT SQL", 10),
        ],
    }
    gateway.push("querylogs", logs)
    gateway.push("querylogs", {**logs, "events": logs["events"][:2]})
    start, end = (NOW - timedelta(days=1)).isoformat(), NOW.isoformat()
    found = gateway.ask(documents.QUERIES, m=mcon("orders"), s=start, e=end)
    counts = sorted(each["count"] for each in found["getAggregatedQueries"]["aggregatedQueries"])
    assert counts == [1, 3] or counts == [1, 1, 2]  # around midnight
    origins = plain.run(
        "SELECT origin FROM gateway_edges WHERE source LIKE '%orders' ORDER BY origin"
    )
    assert [row[0] for row in origins] == ["push_ingest", "query_log"]
    sweep_at = (NOW - timedelta(days=1)).strftime("%Y-%m-%d %H:%M:%S+00:00")
    plain.run(f"UPDATE gateway_edges SET expires_at = '{sweep_at}' WHERE origin = 'query_log'")
    assert sweep(gateway.journal) == 1
    assert sources_of(gateway, "customer_orders") == ["customers", "orders"]


def test_custom_nodes_and_edges_count_for_seven_days_unless_told_otherwise(
    gateway: Gateway, plain: PlainSql
) -> None:
    made = gateway.ask(documents.CREATE_NODE, t="dag", o="nightly", r=UUID, n="Nightly")
    node = made["createOrUpdateLineageNode"]["node"]
    ends = {"s": {"objectType": "dag", "objectId": "nightly", "resourceId": UUID}}
    ends["d"] = {
        "objectType": "table",
        "objectId": "analytics:public.gold",
        "resourceId": UUID,
    }
    edge = gateway.ask(documents.CREATE_EDGE, **ends)["createOrUpdateLineageEdge"]["edge"]
    expires = datetime.fromisoformat(edge["expireAt"])
    assert timedelta(days=6, hours=23) < expires - NOW < timedelta(days=7, hours=1)
    edge = gateway.ask(documents.CREATE_EDGE, **ends, e="9999-12-31")
    assert edge["createOrUpdateLineageEdge"]["edge"]["expireAt"].startswith("9999-12-31")
    found = gateway.ask(documents.LINEAGE, m=mcon("gold"), w="upstream")["getTableLineage"]
    assert [each["displayName"] for each in found["connectedNodes"]] == ["Nightly"]
    old = (NOW - timedelta(days=1)).strftime("%Y-%m-%d %H:%M:%S+00:00")
    plain.run(f"UPDATE gateway_nodes SET expires_at = '{old}' WHERE object_type = 'dag'")
    assert sweep(gateway.journal) == 2
    gateway.ask(documents.CREATE_NODE, t="dag", o="nightly", r=UUID, n="Nightly")
    gateway.ask(documents.CREATE_EDGE, **ends)
    gone = gateway.ask(documents.DELETE_NODE, m=node["mcon"])["deleteLineageNode"]
    assert gone == {"objectsDeleted": 1, "nodesDeleted": 1, "edgesDeleted": 1}


def test_pushed_tables_are_deleted_all_or_none_with_their_edges(gateway: Gateway) -> None:
    gateway.push("metadata", METADATA)
    body = {
        "event_type": "LINEAGE",
        "resource": RESOURCE,
        "events": [{"destination": reference("my_table"), "sources": [reference("raw")]}],
    }
    gateway.push("lineage", body)
    for wrong in ([mcon("my_table"), mcon("raw")], ["nonsense"], []):
        answer = gateway.client.post(
            "/graphql",
            json={"query": documents.DELETE_TABLES, "variables": {"m": wrong}},
            headers=gateway.graphql,
        ).json()
        assert answer["errors"], wrong
    assert sources_of(gateway, "my_table") == ["raw"]
    done = gateway.ask(documents.DELETE_TABLES, m=[mcon("my_table")])
    assert done["deletePushIngestedTables"] == {"success": True, "deletedCount": 1}
    found = gateway.ask(documents.TABLE, f="analytics:public.my_table", d=UUID)["getTable"]
    assert found["isDeleted"]
    assert sources_of(gateway, "my_table") == []
    with gateway.journal.reading() as connection:
        assert current_evidence(connection, NOW) == []
    changed = json.loads(json.dumps(METADATA))
    changed["events"][0]["relational_asset"]["volume"] = {"row_count": 7}
    gateway.push("metadata", changed)
    found = gateway.ask(documents.TABLE, f="analytics:public.my_table", d=UUID)["getTable"]
    assert not found["isDeleted"]


def broken(**changes: Any) -> dict[str, Any]:
    body = json.loads(json.dumps(METADATA))
    asset = body["events"][0]["relational_asset"]
    for name, value in changes.items():
        if name in body:
            body[name] = value
        else:
            asset[name] = value
    return dict(body)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("metadata", broken(type="BASE TABLE"), "TABLE or VIEW"),
        ("metadata", broken(event_type="LINEAGE"), "METADATA"),
        ("metadata", broken(events=[]), "at least one"),
        ("metadata", broken(events=[7]), "events[0]"),
        ("metadata", broken(resource={"uuid": "x", "resource_type": "r"}), "UUID"),
        ("metadata", broken(resource={"uuid": UUID}), "resource_type"),
        ("metadata", broken(volume={"row_count": "many"}), "row_count"),
        ("metadata", broken(volume={"row_count": 2**70}), "row_count"),
        ("metadata", broken(freshness={"last_update_time": "yesterday"}), "yesterday"),
        ("metadata", broken(colour="red"), "colour"),
        ("metadata", {**METADATA, "extra": 1}, "extra"),
        ("metadata", [], "object"),
        ("lineage", {**column_lineage(), "resource": None}, "resource"),
        (
            "querylogs",
            {
                "event_type": "QUERY_LOG",
                "resource": {"uuid": UUID, "log_type": "hive"},
                "events": [1],
            },
            "Unsupported ingest query-log log_type",
        ),
        (
            "querylogs",
            {"event_type": "QUERY_LOG", "resource": RESOURCE, "events": [query_log("SELECT 1")]},
            "Unsupported ingest query-log log_type",
        ),
        (
            "querylogs",
            {
                "event_type": "QUERY_LOG",
                "resource": {"uuid": UUID, "log_type": "redshift"},
                "events": [{**query_log("SELECT 1"), "bytes_scanned": 7}],
            },
            "bytes_scanned",
        ),
        (
            "etl/runs",
            {"event_type": "ETLRUN", "resource": RESOURCE, "events": [{}]},
            "run_source_id",
        ),
    ],
)
def test_a_body_of_the_wrong_shape_is_refused_with_the_field(
    gateway: Gateway, plain: PlainSql, path: str, body: Any, words: str
) -> None:
    answer = gateway.client.post(f"/ingest/v1/{path}", json=body, headers=gateway.ingestion)
    assert answer.status_code == 400
    assert words in answer.text[:500]
    assert set(answer.json()) == {"message", "details"}
    assert plain.run("SELECT count(*) FROM gateway_deliveries")[0][0] == 0


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}', b'{"events": ' * 5_000]
)
def test_a_body_that_is_no_json_is_refused(gateway: Gateway, raw: bytes) -> None:
    answer = gateway.client.post("/ingest/v1/metadata", content=raw, headers=gateway.ingestion)
    assert (answer.status_code, set(answer.json())) == (400, {"message", "details"})


def test_the_limit_of_a_megabyte_is_that_of_the_compressed_body(gateway: Gateway) -> None:
    body = broken(description=None)
    del body["events"][0]["relational_asset"]["description"]
    about = body["events"][0]["relational_asset"]["metadata"]
    about["description"] = "x" * 2_000_000
    assert gateway.push("metadata", body)
    # Random letters have 6 bits each: 2 MB of them are over 1 MB compressed.
    about["description"] = "".join(random.Random(7).choices(string.printable, k=2_000_000))
    answer = gateway.client.post("/ingest/v1/metadata", json=body, headers=gateway.ingestion)
    assert answer.status_code == 413
    packed = gzip.compress(json.dumps(METADATA).encode())
    headers = {**gateway.ingestion, "content-encoding": "gzip"}
    sent = gateway.client.post("/ingest/v1/metadata", content=packed, headers=headers)
    assert sent.status_code == 202
    bomb = gzip.compress(b" " * 50_000_000)
    sent = gateway.client.post("/ingest/v1/metadata", content=bomb, headers=headers)
    assert sent.status_code == 413
    sent = gateway.client.post("/ingest/v1/metadata", content=b"no gzip", headers=headers)
    assert sent.status_code == 400


def test_a_key_must_be_known_of_the_scope_and_of_the_resource(
    gateway: Gateway, plain: PlainSql
) -> None:
    def status(path: str, headers: dict[str, str], body: Any = METADATA) -> int:
        return gateway.client.post(path, json=body, headers=headers).status_code

    ingest = "/ingest/v1/metadata"
    wrong = {**gateway.ingestion, "x-mcd-token": "wrong"}
    for headers in ({}, wrong, {"x-mcd-id": "\x01", "x-mcd-token": "y"}):
        assert status(ingest, headers) == 401
    assert status(ingest, gateway.graphql) == 403
    assert status("/graphql", gateway.ingestion, {"query": "{getUser{id}}"}) == 403
    limited = gateway.key(KeyScope.INGESTION, resources=[OTHER])
    assert status(ingest, limited) == 403
    cross = column_lineage()
    cross["resource"] = {"uuid": OTHER, "resource_type": "data-lake"}
    cross["events"][0]["sources"][0] |= {"resource_uuid": UUID, "resource_type": "redshift"}
    assert status("/ingest/v1/lineage", limited, cross) == 403
    expired = gateway.key(KeyScope.INGESTION, expires_at=NOW - timedelta(hours=1))
    assert status(ingest, expired) == 401
    assert status(ingest, gateway.ingestion) == 202
    plain.run("UPDATE gateway_keys SET revoked_at = created_at")
    assert status(ingest, gateway.ingestion) == 401
    secrets = plain.run("SELECT secret_hash FROM gateway_keys")
    assert gateway.ingestion["x-mcd-token"] not in str(secrets)


def test_a_limited_graphql_key_sees_its_resources_only(gateway: Gateway) -> None:
    gateway.push("metadata", METADATA)
    limited = gateway.key(KeyScope.GRAPHQL, resources=[OTHER])
    answer = gateway.client.post(
        "/graphql",
        json={
            "query": documents.TABLE,
            "variables": {"f": "analytics:public.my_table", "d": UUID},
        },
        headers=limited,
    ).json()
    assert "not authorized" in answer["errors"][0]["message"]
    found = gateway.ask("{getTables(first:5){edges{node{fullTableId}}}}", limited)
    assert found["getTables"]["edges"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": 7},
        {"query": "{" * 1_000 + "}" * 1_000},
        {"query": "{getTable" + "(" * 1_000},
        {"query": "{getTable{nothing}}"},
        {"query": "{getUser{id}}", "variables": []},
        {"query": "{" + " getUser{id}" * 20_000 + "}"},
        [],
    ],
)
def test_a_bad_graphql_request_is_answered_with_its_errors(gateway: Gateway, body: Any) -> None:
    answer = gateway.client.post("/graphql", json=body, headers=gateway.graphql)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["message"]


def test_what_was_accepted_is_processed_after_a_kill_and_one_failure_holds_up_nothing(
    gateway: Gateway, plain: PlainSql, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(name: str) -> str:
        body = json.loads(json.dumps(METADATA))
        body["events"][0]["relational_asset"]["metadata"]["name"] = name
        answer = gateway.client.post("/ingest/v1/metadata", json=body, headers=gateway.ingestion)
        return str(answer.json()["invocation_id"])

    first, second = send("first"), send("second")
    plain.run(f"UPDATE gateway_deliveries SET body = '7' WHERE invocation_id = '{first}'")

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    # Killed at the last write: nothing of the request is there, and it still waits.
    with monkeypatch.context() as patched:
        patched.setattr("goldsmith.gateway.table_rows.upsert", killed)
        plain.run(f"UPDATE gateway_deliveries SET status = 'failed' WHERE invocation_id='{first}'")
        with pytest.raises(KeyboardInterrupt):
            process_waiting(gateway.journal)
    waiting = delivery(gateway.journal, second)
    assert waiting is not None
    assert waiting.status == "received"
    assert plain.run("SELECT count(*) FROM gateway_tables")[0][0] == 0
    plain.run(f"UPDATE gateway_deliveries SET status = 'received' WHERE invocation_id='{first}'")
    process_waiting(gateway.journal)
    failed, done = delivery(gateway.journal, first), delivery(gateway.journal, second)
    assert failed is not None
    assert done is not None
    assert (failed.status, done.status) == ("failed", "processed")
    assert failed.problem
    assert plain.run("SELECT table_name FROM gateway_tables")[0][0] == "second"


def test_etl_and_bi_objects_are_stored(gateway: Gateway, plain: PlainSql) -> None:
    job = {"job_source_id": "orders_daily", "name": "Orders daily", "is_paused": False}
    gateway.push(
        "etl/metadata",
        {"event_type": "ETL_METADATA", "resource": RESOURCE, "events": [{"etl_asset": job}]},
    )
    run = {"job_source_id": "orders_daily", "run_source_id": "run-1", "status": "failed"}
    body = {"event_type": "ETLRUN", "resource": RESOURCE, "events": [run], "event_time": "x"}
    gateway.push("etl/runs", body)
    rows = plain.run("SELECT path, object_id FROM gateway_objects ORDER BY path")
    assert [tuple(row) for row in rows] == [
        ("etl/metadata", "orders_daily"),
        ("etl/runs", "run-1"),
    ]


def test_odd_names_survive(gateway: Gateway) -> None:
    names = ['with "quotes"', "with.dots", "Zoë 表", "n" * 1000, "back\\slash", "nul\x00", "'; --"]
    for name in names:
        body = json.loads(json.dumps(METADATA))
        body["events"][0]["relational_asset"]["metadata"]["name"] = name
        body["events"][0]["relational_asset"]["freshness"]["last_update_time"] = "1901-01-01"
        gateway.push("metadata", body)
        kept = name.replace("\x00", "�")
        found = gateway.ask(documents.TABLE, f=f"analytics:public.{kept}", d=UUID)["getTable"]
        assert found["mcon"].endswith(kept), name


#: What `montecarlo integrations create-key` asks first, recorded; the repeated parts are shortened.
RECORDED_USER = """
query getUser { getUser { firstName lastName account { uuid activeCollectionRegions
  warehouses { uuid name connectionType isDeleted connections { uuid type createdOn jobTypes
    isActive disabledOn connectionIdentifiers { key value } } dataCollector { customerAwsRegion } }
  bi { uuid name connections { uuid } dataCollector { uuid, customerAwsRegion } }
  etlContainers { uuid name connections { uuid } }
  tableauAccounts { uuid dataCollector { uuid, customerAwsRegion } }
  dataCollectors { uuid stackArn active customerAwsAccountId templateProvider templateVariant
    templateVersion codeVersion lastUpdated agents { uuid agentType platform storageType endpoint
    createdTime isDeleted imageVersion lastUpdatedTime } } } } }
"""


def test_the_command_line_of_monte_carlo_makes_a_key_that_pushes(gateway: Gateway) -> None:
    gateway.push("metadata", METADATA)
    account = gateway.ask(RECORDED_USER)["getUser"]["account"]
    assert [each["uuid"] for each in account["warehouses"]] == [UUID]
    document = """mutation($description:String!,$scope:IntegrationKeyScope!){
      createIntegrationKey(description:$description,scope:$scope){key{id secret}}}"""
    made = gateway.ask(document, description="cli", scope="Ingestion")["createIntegrationKey"]
    gateway.ingestion = {"x-mcd-id": made["key"]["id"], "x-mcd-token": made["key"]["secret"]}
    gateway.push("lineage", column_lineage())
    listed = gateway.ask("{getIntegrationKeys{id description scope}}")["getIntegrationKeys"]
    assert {"id": made["key"]["id"], "description": "cli", "scope": "Ingestion"} in listed
