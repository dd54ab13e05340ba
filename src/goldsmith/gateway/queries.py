"""Answer GraphQL queries: tables, metrics, lineage, queries, keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.gateway import keys, watch
from goldsmith.gateway.checking import event_time
from goldsmith.gateway.mcon import ACCOUNT, Mcon
from goldsmith.gateway.table_rows import BYTES, ROWS
from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import gateway_measurements, pushed_tables
from goldsmith.journal.gateway_tables import (
    GatewayKey,
    PushedMeasurement,
    PushedTable,
)
from goldsmith.journal.journal import Journal

FOR_EVER = datetime(9999, 12, 31, tzinfo=UTC)
#: When the rows of a table last changed, as a metric.
CHANGED_ON = "total_row_count_last_changed_on"
_MOST = 1_000
_NOT_HERE = ("activeCollectionRegions", "bi", "etlContainers", "tableauAccounts", "dataCollectors")


@dataclass(eq=False, kw_only=True)
class ForeignResource(GoldsmithError):
    """The key is limited to other resources."""

    resource_uuid: str

    def __str__(self) -> str:
        return f"The key is not authorized for the resource {self.resource_uuid}."

    @property
    def hint(self) -> str:
        return "Use a key of that resource."


@dataclass(frozen=True, slots=True)
class Asker:
    """The key that asks, and the database with the answers."""

    journal: Journal
    key: GatewayKey

    def check(self, resource_uuid: str) -> None:
        """Raise ForeignResource unless the key may see the resource."""
        if self.key.resources and resource_uuid not in self.key.resources:
            raise ForeignResource(resource_uuid=resource_uuid)

    def sees(self, resource_uuid: str | None) -> bool:
        """Whether the key may see the resource."""
        return not self.key.resources or resource_uuid in self.key.resources

    def parsed(self, mcon: str) -> Mcon:
        """The parts of an MCON that the key may see."""
        found = Mcon.parse(mcon)
        self.check(found.resource_uuid)
        return found


def _find_table(
    connection: sa.Connection, asker: Asker, resource: str | None, table_id: str
) -> PushedTable | None:
    query = sa.select(pushed_tables).where(pushed_tables.c.full_table_id == table_id)
    if resource is not None:
        asker.check(resource)
        query = query.where(pushed_tables.c.resource_uuid == resource)
    query = query.order_by(pushed_tables.c.resource_uuid)
    found = row_storage.select(connection, PushedTable, query)
    return next((row for row in found if asker.sees(row.resource_uuid)), None)


def get_table(
    asker: Asker,
    dw_id: str | None = None,
    full_table_id: str | None = None,
    mcon: str | None = None,
) -> dict[str, Any] | None:
    """A pushed table, by MCON or by its id and resource."""
    if mcon is not None:
        parsed = asker.parsed(mcon)
        dw_id, full_table_id = parsed.resource_uuid, parsed.object_id
    if full_table_id is None:
        return None
    with asker.journal.reading() as connection:
        found = _find_table(connection, asker, dw_id, full_table_id)
    return None if found is None else _table(found)


def get_tables(
    asker: Asker,
    dw_id: str | None = None,
    first: int | None = None,
    after: str | None = None,
) -> dict[str, Any]:
    """Pushed tables that are not deleted, page by page."""
    size = max(1, min(first or 100, _MOST))
    columns = pushed_tables.c
    query = sa.select(pushed_tables).where(columns.deleted_at.is_(None))
    if dw_id is not None:
        asker.check(dw_id)
        query = query.where(columns.resource_uuid == dw_id)
    elif asker.key.resources:
        query = query.where(columns.resource_uuid.in_(asker.key.resources))
    if after is not None:
        resource, _, table_id = after.partition("|")
        query = query.where(
            sa.or_(
                columns.resource_uuid > resource,
                (columns.resource_uuid == resource) & (columns.full_table_id > table_id),
            )
        )
    query = query.order_by(columns.resource_uuid, columns.full_table_id).limit(size + 1)
    with asker.journal.reading() as connection:
        found = row_storage.select(connection, PushedTable, query)
    edges = [
        {"node": _table(row), "cursor": f"{row.resource_uuid}|{row.full_table_id}"}
        for row in found[:size]
    ]
    return {"pageInfo": _page(edges, is_more=len(found) > size), "edges": edges}


def _page(edges: Sequence[Mapping[str, Any]], *, is_more: bool) -> dict[str, Any]:
    return {"hasNextPage": is_more, "endCursor": edges[-1]["cursor"] if edges else None}


def _table(row: PushedTable) -> dict[str, Any]:
    mcon = str(Mcon(row.resource_uuid, "table", row.full_table_id))
    return {
        "id": mcon,
        "mcon": mcon,
        "tableId": row.table_name,
        "fullTableId": row.full_table_id,
        "friendlyName": row.table_name,
        "projectName": row.database,
        "dataset": row.schema_name,
        "description": row.description,
        "tableType": row.table_type,
        "viewQuery": row.view_query,
        "isDeleted": row.deleted_at is not None,
        "ingestType": "push",
        "ingestInvocationId": row.invocation_id,
        "createdTime": _moment(row.created_on),
        "lastModified": row.last_update,
        "lastWrite": row.last_update,
        "lastVolumeChange": row.size_changed_at,
        "warehouse": _warehouse(row.resource_uuid, row.resource_type),
        "objectProperties": [
            {"propertyName": tag.get("key"), "propertyValue": tag.get("value")} for tag in row.tags
        ],
        "versions": lambda _asker, **_given: _versions(row),
        "thresholds": lambda asker: _thresholds(asker, row),
    }


def _moment(text: str | None) -> datetime | None:
    try:
        return None if text is None else event_time(text)
    except ValueError:
        return None


def _warehouse(resource: str, kind: str | None) -> dict[str, Any]:
    return {
        "uuid": resource,
        "name": resource,
        "connectionType": (kind or "").upper(),
        "isDeleted": False,
        "connections": (),
    }


def _versions(row: PushedTable) -> dict[str, Any]:
    """The newest columns; older versions are not stored."""
    version = {
        "id": f"{row.full_table_id}@{row.fields_changed_at}",
        "versionId": str(row.fields_changed_at),
        "timestamp": row.fields_changed_at or row.last_seen_at,
        "fields": lambda _asker, first=None, after=None: _fields(row, first, after),
    }
    edges = [{"node": version, "cursor": "0"}]
    return {"pageInfo": _page(edges, is_more=False), "edges": edges}


def _fields(row: PushedTable, first: int | None, after: str | None) -> dict[str, Any]:
    start = int(after) + 1 if after is not None and after.isdigit() else 0
    size = max(1, min(first or 100, 10_000))
    edges = [
        {
            "node": {
                "name": field["name"],
                "fieldType": field["type"],
                "description": field.get("description"),
            },
            "cursor": str(start + number),
        }
        for number, field in enumerate(row.fields[start : start + size])
    ]
    return {"pageInfo": _page(edges, is_more=len(row.fields) > start + size), "edges": edges}


def _thresholds(asker: Asker, row: PushedTable) -> dict[str, Any]:
    with asker.journal.reading() as connection:
        at = read_clock(connection)
        fresh, size = watch.judge(connection, row, at)
    return {
        "freshness": {
            "status": fresh.status.value,
            "reason": fresh.reason,
            "expected": fresh.expected,
            "breach": fresh.threshold,
            "detectorThreshold": fresh.threshold,
            "lastUpdate": row.last_update,
        },
        "size": {
            "metric": ROWS,
            "sdStatus": size.status.value,
            "sdUpper": size.upper,
            "sdLower": size.lower,
            "sdReason": size.reason,
            # How long a size may stay unchanged is what freshness watches.
            "ucsStatus": fresh.status.value,
            "ucsReason": fresh.reason,
            "ucsUpper": fresh.threshold,
        },
    }


def get_metrics(
    asker: Asker,
    metric_name: str,
    start_time: datetime,
    metrics_filter: Mapping[str, Any],
    end_time: datetime | None = None,
    first: int | None = None,
    **_given: Any,
) -> dict[str, Any]:
    """Rows, bytes, or when the rows last changed, by the hour."""
    mcon = metrics_filter.get("mcon")
    resource, table_id = metrics_filter.get("dwId"), metrics_filter.get("fullTableId")
    if mcon:
        parsed = asker.parsed(mcon)
        resource, table_id = parsed.resource_uuid, parsed.object_id
    with asker.journal.reading() as connection:
        table = None if not table_id else _find_table(connection, asker, resource, table_id)
        points = [] if table is None else _points(connection, table, metric_name)
    until = (end_time or FOR_EVER).timestamp() if end_time else float("inf")
    shown_points = [
        (at, value)
        for at, value in points
        if start_time.timestamp() - 3600 <= at.timestamp() <= until
    ][: max(1, min(first or _MOST, 10_000))]
    shown = [
        {
            "fullTableId": table_id,
            "metric": metric_name,
            "value": value,
            "timestamp": at,
            "measurementTimestamp": at,
        }
        for at, value in shown_points
    ]
    plain = [{"value": value, "measurementTimestamp": at.isoformat()} for at, value in shown_points]
    return {"metrics": shown, "isPartialDateRange": False, "metricsJson": json.dumps(plain)}


def _points(
    connection: sa.Connection, table: PushedTable, metric: str
) -> list[tuple[datetime, float]]:
    if metric == CHANGED_ON:
        changed = table.last_update or table.size_changed_at
        if changed is None or table.last_seen_at is None:
            return []
        return [(table.last_seen_at, changed.timestamp())]
    if metric not in (ROWS, BYTES):
        return []
    columns = gateway_measurements.c
    query = (
        sa.select(gateway_measurements)
        .where(
            columns.resource_uuid == table.resource_uuid,
            columns.full_table_id == table.full_table_id,
            columns.metric == metric,
        )
        .order_by(columns.epoch)
    )
    return [
        (datetime.fromtimestamp(row.epoch, UTC), row.value)
        for row in row_storage.select(connection, PushedMeasurement, query)
        if row.value is not None
    ]


def get_user(asker: Asker) -> dict[str, Any]:
    """The key's owner and the account with its resources."""
    query = sa.select(pushed_tables.c.resource_uuid, sa.func.max(pushed_tables.c.resource_type))
    with asker.journal.reading() as connection:
        found = list(connection.execute(query.group_by(pushed_tables.c.resource_uuid)))
    return {
        "id": asker.key.key_id,
        "email": asker.key.created_by,
        "firstName": asker.key.created_by,
        "lastName": "",
        "account": {
            "id": ACCOUNT,
            "uuid": ACCOUNT,
            "name": "goldsmith",
            # What Monte Carlo's command line asks for besides; there is none of it here.
            **dict.fromkeys(_NOT_HERE, ()),
            "warehouses": [
                _warehouse(resource, kind) for resource, kind in found if asker.sees(resource)
            ],
        },
    }


def get_keys(
    asker: Asker,
    scope: str | None = None,
    resource_uuid: str | None = None,
) -> list[dict[str, Any]]:
    """The Ingestion keys, without their secrets."""
    return [
        {
            "id": key.key_id,
            "description": key.description,
            "scope": key.scope.capitalize(),
            "createdTime": key.created_at,
            "warehouses": [_warehouse(resource, None) for resource in key.resources],
        }
        for key in keys.listed(asker.journal)
        if key.revoked_at is None
        and key.scope == "ingestion"
        and (scope is None or scope.lower() == key.scope)
        and (resource_uuid is None or not key.resources or resource_uuid in key.resources)
        and (not asker.key.resources or set(key.resources) <= set(asker.key.resources))
    ]


RESOLVERS: Mapping[str, Callable[..., Any]] = {
    "getTable": get_table,
    "getTables": get_tables,
    "getMetricsV4": get_metrics,
    "getUser": get_user,
    "getIntegrationKeys": get_keys,
}
