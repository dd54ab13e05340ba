"""Pushed tables: add each push to the stored rows; measurements are stored by the hour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.gateway.checking import event_time
from goldsmith.gateway.mcon import Mcon, full_table_id
from goldsmith.gateway.store import upsert
from goldsmith.journal import row_storage
from goldsmith.journal.definitions import gateway_measurements, gateway_nodes, pushed_tables
from goldsmith.journal.gateway_tables import Delivery, PushedTable

ROWS, BYTES, UPDATE = "total_row_count", "total_byte_count", "update"
_HOUR = 3600


def store(
    connection: sa.Connection, delivery: Delivery, body: Mapping[str, Any], at: datetime
) -> None:
    """Store the tables of a request."""
    resource = str(delivery.resource_uuid)
    assets = {
        full_table_id(
            each["metadata"]["database"], each["metadata"]["schema"], each["metadata"]["name"]
        ): each
        for each in (event["relational_asset"] for event in body["events"])
    }
    known = {
        row.full_table_id: row
        for row in row_storage.select(
            connection,
            PushedTable,
            sa.select(pushed_tables).where(
                pushed_tables.c.resource_uuid == resource,
                pushed_tables.c.full_table_id.in_(sorted(assets)),
            ),
        )
    }
    tables, measurements, nodes = [], [], []
    for table_id, asset in assets.items():
        measurements += _measurements(resource, table_id, asset, delivery.invocation_id, at)
        before = known.get(table_id)
        if before is not None and before.last_seen_at is not None and before.last_seen_at > at:
            continue  # another service has processed a later push already
        row = _table(asset, before, at)
        row |= {
            "resource_uuid": resource,
            "full_table_id": table_id,
            "resource_type": body["resource"].get("resource_type"),
            "invocation_id": delivery.invocation_id,
        }
        tables.append(row)
        nodes.append(
            {
                "mcon": str(Mcon(resource, "table", table_id)),
                "object_type": "table",
                "object_id": table_id,
                "resource_uuid": resource,
                "display_name": table_id,
                "is_custom": False,
                "seen_at": at,
                "expires_at": None,
            }
        )
    upsert(connection, pushed_tables, tables)
    upsert(connection, gateway_measurements, measurements)
    upsert(connection, gateway_nodes, nodes)


def _table(asset: Mapping[str, Any], before: PushedTable | None, at: datetime) -> dict[str, Any]:
    """The row of a table: parts that a push leaves out stay as they were."""
    about = asset["metadata"]
    volume, freshness = asset.get("volume") or {}, asset.get("freshness") or {}

    def kept(value: Any, name: str) -> Any:
        return getattr(before, name) if value is None and before is not None else value

    updated = freshness.get("last_update_time")
    rows = kept(volume.get("row_count"), "row_count")
    fields = kept(asset.get("fields"), "fields") or ()
    grew = before is None or rows != before.row_count
    altered = before is None or list(fields) != list(before.fields)
    return {
        "table_type": asset["type"],
        "database": about["database"],
        "schema_name": about["schema"],
        "table_name": about["name"],
        "description": kept(about.get("description"), "description"),
        "view_query": kept(about.get("view_query"), "view_query"),
        "created_on": kept(about.get("created_on"), "created_on"),
        "tags": list(kept(asset.get("tags"), "tags") or ()),
        "fields": list(fields),
        "row_count": rows,
        "byte_count": kept(volume.get("byte_count"), "byte_count"),
        "last_update": kept(None if updated is None else event_time(updated), "last_update"),
        "size_changed_at": at if grew or before is None else before.size_changed_at,
        "fields_changed_at": at if altered or before is None else before.fields_changed_at,
        "first_seen_at": at if before is None else before.first_seen_at,
        "last_seen_at": at,
        "deleted_at": None,
    }


def _measurements(
    resource: str, table_id: str, asset: Mapping[str, Any], invocation_id: str, at: datetime
) -> list[dict[str, Any]]:
    volume, freshness = asset.get("volume") or {}, asset.get("freshness") or {}
    hour = int(at.timestamp()) // _HOUR * _HOUR
    found = [
        (metric, hour, float(volume[name]))
        for metric, name in ((ROWS, "row_count"), (BYTES, "byte_count"))
        if volume.get(name) is not None
    ]
    if freshness.get("last_update_time") is not None:
        epoch = int(event_time(freshness["last_update_time"]).timestamp())
        found.append((UPDATE, epoch, float(epoch)))
    return [
        {
            "resource_uuid": resource,
            "full_table_id": table_id,
            "metric": metric,
            "epoch": epoch,
            "value": value,
            "invocation_id": invocation_id,
        }
        for metric, epoch, value in found
    ]
