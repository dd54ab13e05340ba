"""Pushed query logs: each query with the tables it reads and writes, and edges of their own
origin, which expire like those of columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.digest.fingerprint import fingerprint
from goldsmith.gateway.checking import event_time
from goldsmith.gateway.lineage_rows import COLUMNS_COUNT_FOR
from goldsmith.gateway.mcon import Mcon
from goldsmith.gateway.read_queries import QueryTables, read_queries
from goldsmith.gateway.store import upsert
from goldsmith.journal.definitions import (
    gateway_edges,
    gateway_nodes,
    gateway_queries,
    pushed_tables,
)
from goldsmith.journal.gateway_tables import Delivery

#: The origin of edges that come from query logs.
QUERY_LOG = "query_log"
_DIALECTS = {
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "databricks": "databricks",
    "redshift": "redshift",
    "hive-s3": "hive",
    "athena": "trino",
    "presto-s3": "trino",
    "teradata": "teradata",
    "clickhouse": "clickhouse",
    "databricks-metastore-sql-warehouse": "databricks",
}
#: Longer queries are stored and not digested: the parser's time grows with them.
_LONGEST = 20_000


def read(body: Mapping[str, Any]) -> list[QueryTables]:
    """The tables of the queries of a request; this takes time, and needs no transaction."""
    dialect = _DIALECTS.get(str(body["resource"].get("log_type")), "ansi")
    texts: list[tuple[str, str | None]] = []
    for event in body["events"]:
        text = event["query_text"]
        database = (event.get("extra") or {}).get("database_name")
        given = database if isinstance(database, str) else None
        texts.append((text if len(text) <= _LONGEST else "", given))
    return read_queries(texts, dialect)


def store(
    connection: sa.Connection,
    delivery: Delivery,
    body: Mapping[str, Any],
    at: datetime,
    tables: Sequence[QueryTables],
) -> None:
    """Store the queries of a request."""
    resource = str(delivery.resource_uuid)
    names = _table_names(connection, resource)
    rows: list[dict[str, Any]] = []
    edges: dict[tuple[str, str], None] = {}
    for event, found in zip(body["events"], tables, strict=True):
        uses = [
            *((name, "read") for name in found.upstream),
            *((name, "write") for name in found.downstream),
        ]
        known = [(mcon, usage) for name, usage in uses if (mcon := names.get(name.lower()))]
        text = event["query_text"]
        started = event_time(event["start_time"])
        query_key = (
            str(event.get("query_id") or "")
            or hashlib.sha256(
                f"{event['start_time']} {text}".encode("utf-8", "replace")
            ).hexdigest()
        )
        for mcon, usage in known or [("", "read")]:
            rows.append(
                {
                    "resource_uuid": resource,
                    "query_key": query_key,
                    "mcon": mcon,
                    "usage": usage,
                    "query_hash": fingerprint_hash(text),
                    "query_text": text,
                    "category": _category(found.verb),
                    "user_name": event.get("user"),
                    "started_at": started,
                    "ended_at": event_time(event["end_time"]),
                    "invocation_id": delivery.invocation_id,
                }
            )
        if not event.get("error_text") and not event.get("error_code"):
            for up, down in found.edges:
                pair = (names.get(up.lower()), names.get(down.lower()))
                if pair[0] and pair[1] and pair[0] != pair[1]:
                    edges[pair[0], pair[1]] = None
    upsert(connection, gateway_queries, rows)
    upsert(
        connection,
        gateway_edges,
        [
            {
                "source": source,
                "destination": destination,
                "origin": QUERY_LOG,
                "origin_type": "QUERY_LOG",
                "edge_type": "IS_DOWNSTREAM",
                "seen_at": at,
                "expires_at": at + COLUMNS_COUNT_FOR,
                "invocation_id": delivery.invocation_id,
            }
            for source, destination in edges
        ],
    )


def _table_names(connection: sa.Connection, resource: str) -> dict[str, str]:
    """MCONs of the resource's tables by `database.schema.name` and `schema.name`."""
    query = sa.select(
        pushed_tables.c.database,
        pushed_tables.c.schema_name,
        pushed_tables.c.table_name,
        pushed_tables.c.full_table_id,
    ).where(pushed_tables.c.resource_uuid == resource, pushed_tables.c.deleted_at.is_(None))
    found: dict[str, str] = {}
    ambiguous: set[str] = set()

    def add(name: str, mcon: str) -> None:
        folded = name.lower()
        if found.setdefault(folded, mcon) != mcon:
            ambiguous.add(folded)

    for database, schema, name, table_id in connection.execute(query):
        mcon = str(Mcon(resource, "table", table_id))
        add(f"{database}.{schema}.{name}", mcon)
        add(f"{schema}.{name}", mcon)
    nodes = sa.select(gateway_nodes.c.object_id, gateway_nodes.c.mcon).where(
        gateway_nodes.c.resource_uuid == resource, gateway_nodes.c.object_type == "table"
    )
    for object_id, mcon in connection.execute(nodes):
        add(str(object_id).replace(":", ".", 1), mcon)
    return {name: mcon for name, mcon in found.items() if name not in ambiguous}


def fingerprint_hash(text: str) -> str:
    """The same for queries that differ in their values only."""
    shape = fingerprint(text) if len(text) <= _LONGEST else text
    return hashlib.sha256(shape.encode("utf-8", "replace")).hexdigest()


def _category(verb: str) -> str:
    folded = verb.lower().replace(" ", "_")
    return {
        "select": "query",
        "insert": "insert_into",
        "create_table": "create_table_as_select",
        "delete": "delete_from",
        "": "query",
    }.get(folded, folded)
