"""Pushed lineage: edges of tables that never expire, edges of columns that expire after ten days.

Each edge is stored by its origin, so that edges of query logs never overwrite pushed ones; table
edges are also evidence of our own lineage graph.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.gateway.mcon import full_table_id, table_mcon
from goldsmith.gateway.store import upsert
from goldsmith.journal.definitions import gateway_column_edges, gateway_edges, gateway_nodes
from goldsmith.journal.evidence import PUSH_INGEST, record_evidence
from goldsmith.journal.gateway_tables import Delivery

COLUMNS_COUNT_FOR = timedelta(days=10)
DIRECT_LINEAGE = "DIRECT_LINEAGE"


def store(
    connection: sa.Connection, delivery: Delivery, body: Mapping[str, Any], at: datetime
) -> None:
    """Store the edges of a request."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[dict[str, Any]] = []
    columns: list[dict[str, Any]] = []
    evidence: list[tuple[str, str]] = []

    def node(reference: Mapping[str, Any]) -> str:
        resource = str(uuid.UUID(reference.get("resource_uuid") or str(delivery.resource_uuid)))
        names = (reference["database"], reference["schema"], reference["name"])
        mcon = table_mcon(resource, *names)
        nodes[mcon] = node_row(mcon, "table", full_table_id(*names), resource, at)
        return mcon

    for event in body["events"]:
        destination = node(event["destination"])
        by_asset: dict[str, str] = {}
        for reference in event["sources"]:
            source = node(reference)
            if reference.get("asset_id"):
                by_asset[reference["asset_id"]] = source
            edges.append(
                {
                    "source": source,
                    "destination": destination,
                    "origin": PUSH_INGEST,
                    "origin_type": DIRECT_LINEAGE,
                    "edge_type": "IS_DOWNSTREAM",
                    "seen_at": at,
                    "expires_at": None,
                    "invocation_id": delivery.invocation_id,
                }
            )
            evidence.append((dataset_id(reference), dataset_id(event["destination"])))
        own = event["destination"].get("asset_id")
        for field in event.get("fields") or ():
            for origin in field.get("source_fields") or ():
                asset_id = origin["asset_id"]
                fed_by = by_asset.get(asset_id) or (destination if asset_id == own else None)
                if fed_by is not None:
                    columns.append(
                        {
                            "source": fed_by,
                            "source_column": origin["field_name"],
                            "destination": destination,
                            "destination_column": field["name"],
                            "seen_at": at,
                            "expires_at": at + COLUMNS_COUNT_FOR,
                            "invocation_id": delivery.invocation_id,
                        }
                    )
    upsert(connection, gateway_nodes, nodes.values())
    upsert(connection, gateway_edges, edges)
    upsert(connection, gateway_column_edges, columns)
    record_evidence(connection, evidence, PUSH_INGEST, seen_by=delivery.invocation_id)


def node_row(
    mcon: str, object_type: str, object_id: str, resource: str, at: datetime
) -> dict[str, Any]:
    """The row of a node that a push named; it never expires."""
    return {
        "mcon": mcon,
        "object_type": object_type,
        "object_id": object_id,
        "resource_uuid": resource,
        "display_name": object_id,
        "is_custom": False,
        "seen_at": at,
        "expires_at": None,
    }


def dataset_id(reference: Mapping[str, Any]) -> str:
    """The name of a table in our own lineage: `database.schema.name`."""
    return ".".join((reference["database"], reference["schema"], reference["name"]))
