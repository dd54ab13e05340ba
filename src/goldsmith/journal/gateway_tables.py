"""The tables of the gateway: its keys, the pushes it received, and the rows made from them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import (
    ColumnKind,
    choice,
    flag,
    items,
    key,
    mapping,
    moment,
    number,
    text,
    whole,
)
from goldsmith.catalog.rows import Row, table


class KeyScope(StrEnum):
    """The scope of a gateway key."""

    INGESTION = "ingestion"
    GRAPHQL = "graphql"


class DeliveryStatus(StrEnum):
    """The status of an accepted request."""

    RECEIVED = "received"
    PROCESSED = "processed"
    FAILED = "failed"


@table(
    "gateway_keys",
    purpose="Keys of the gateway, by scope and resources. Only a hash of each secret is stored.",
    read_by="gateway",
)
class GatewayKey(Row):
    """One key of the gateway."""

    key_id: str = key(doc="The key's id: the header x-mcd-id.")
    scope: str = choice(default="ingestion", choices=KeyScope, doc="What the key is for.")
    description: str | None = text(default=None, doc="What it was made for.")
    resources: tuple[str, ...] = items(default=None, doc="Its resources; empty: every one.")
    secret_hash: str | None = text(default=None, doc="SHA-256 of the secret.")
    created_at: datetime | None = moment(default=None, doc="When it was created.")
    created_by: str | None = text(default=None, doc="Who created it.")
    expires_at: datetime | None = moment(default=None, doc="When it expires; unset: never.")
    revoked_at: datetime | None = moment(default=None, doc="When it was revoked.")


@table(
    "gateway_deliveries",
    purpose="Each accepted request with its body: stored first, processed afterwards.",
    read_by="gateway",
)
class Delivery(Row):
    """One accepted request."""

    invocation_id: str = key(doc="The id the sender got.")
    path: str | None = text(default=None, doc="The last parts of the endpoint.")
    key_id: str | None = text(default=None, doc="The key it came with.")
    resource_uuid: str | None = text(default=None, doc="The resource; empty: several.")
    body_hash: str | None = text(default=None, doc="SHA-256 of the body.")
    #: Two requests at once with the same body have the same.
    slot: int | None = whole(default=None, doc="The ten minutes it came in.")
    body: str | None = text(default=None, doc="The body; emptied a day after it was processed.")
    item_count: int | None = whole(default=None, doc="Its events.")
    status: str = choice(default="received", choices=DeliveryStatus, doc="What became of it.")
    problem: str | None = text(default=None, doc="Why it failed.")
    received_at: datetime | None = moment(default=None, doc="When it was accepted.")
    processed_at: datetime | None = moment(default=None, doc="When it was processed.")


@table(
    "gateway_tables",
    purpose="Each pushed table, with the values of the last pushes.",
    read_by="gateway",
)
class PushedTable(Row):
    """A table as it was pushed."""

    resource_uuid: str = key(doc="The resource.")
    full_table_id: str = key(doc="database:schema.name.")
    table_type: str | None = text(default=None, doc="TABLE or VIEW.")
    database: str | None = text(default=None, doc="The database.")
    schema_name: str | None = text(default=None, doc="The schema.")
    table_name: str | None = text(default=None, doc="The name.")
    resource_type: str | None = text(default=None, doc="The resource's type.")
    description: str | None = text(default=None, doc="The description.")
    view_query: str | None = text(default=None, doc="The definition of a view.")
    created_on: str | None = text(default=None, doc="When the table was made, as pushed.")
    tags: tuple[Any, ...] = items(default=None, doc="Its tags.")
    fields: tuple[Any, ...] = items(default=None, doc="Its columns.")
    row_count: int | None = whole(default=None, doc="Its rows.")
    byte_count: int | None = whole(default=None, doc="Its bytes.")
    last_update: datetime | None = moment(default=None, doc="Its last update, as pushed.")
    size_changed_at: datetime | None = moment(default=None, doc="When its rows last changed.")
    fields_changed_at: datetime | None = moment(default=None, doc="When its columns last changed.")
    first_seen_at: datetime | None = moment(default=None, doc="When it was first pushed.")
    last_seen_at: datetime | None = moment(default=None, doc="When it was last pushed.")
    deleted_at: datetime | None = moment(default=None, doc="When it was deleted.")
    invocation_id: str | None = text(default=None, doc="The request that last changed it.")


@table(
    "gateway_measurements",
    purpose="Rows, bytes and updates of pushed tables by the hour, from which detectors learn.",
    read_by="gateway",
)
class PushedMeasurement(Row):
    """One measurement of a pushed table."""

    resource_uuid: str = key(doc="The resource.")
    full_table_id: str = key(doc="The table.")
    metric: str = key(doc="total_row_count, total_byte_count, or update.")
    epoch: int = key(kind=ColumnKind.WHOLE, doc="The hour, or the update, in seconds.")
    value: float | None = number(default=None, doc="The value.")
    invocation_id: str | None = text(default=None, doc="The request it came with.")


@table(
    "gateway_nodes",
    purpose="The nodes of pushed and custom lineage.",
    read_by="gateway",
)
class PushedNode(Row):
    """A node of pushed lineage."""

    mcon: str = key(doc="Its address.")
    object_type: str | None = text(default=None, doc="table, or any word.")
    object_id: str | None = text(default=None, doc="database:schema.name of a table.")
    resource_uuid: str | None = text(default=None, doc="The resource.")
    display_name: str | None = text(default=None, doc="Its name for people.")
    properties: Mapping[str, Any] = mapping(default=None, doc="Properties of a custom node.")
    is_custom: bool = flag(default=False, doc="It was made by a mutation.")
    seen_at: datetime | None = moment(default=None, doc="When it was last reported.")
    expires_at: datetime | None = moment(default=None, doc="When it vanishes; unset: never.")


@table(
    "gateway_edges",
    purpose="The edges of pushed and custom lineage, each by its origin.",
    read_by="gateway",
)
class PushedEdge(Row):
    """An edge of pushed lineage."""

    source: str = key(doc="The node that is read.")
    destination: str = key(doc="The node that is written.")
    origin: str = key(doc="push_ingest, custom or query_log.")
    origin_type: str | None = text(default=None, doc="DIRECT_LINEAGE of a push.")
    edge_type: str | None = text(default=None, doc="IS_DOWNSTREAM, IS_READ_BY or MODIFIES.")
    seen_at: datetime | None = moment(default=None, doc="When it was last reported.")
    expires_at: datetime | None = moment(default=None, doc="When it vanishes; unset: never.")
    invocation_id: str | None = text(default=None, doc="The request it came with.")


@table(
    "gateway_column_edges",
    purpose="The edges of columns that were pushed; each counts for ten days.",
    read_by="gateway",
)
class PushedColumnEdge(Row):
    """An edge from column to column."""

    source: str = key(doc="The node that is read.")
    source_column: str = key(doc="Its column.")
    destination: str = key(doc="The node that is written.")
    destination_column: str = key(doc="Its column.")
    seen_at: datetime | None = moment(default=None, doc="When it was last reported.")
    expires_at: datetime | None = moment(default=None, doc="When it vanishes.")
    invocation_id: str | None = text(default=None, doc="The request it came with.")


@table(
    "gateway_queries",
    purpose="The queries of pushed logs, by the tables they read and write.",
    read_by="gateway",
)
class PushedQuery(Row):
    """A query of a pushed log, once for each table it uses."""

    resource_uuid: str = key(doc="The resource.")
    query_key: str = key(doc="The query's id, or a hash of its start and text.")
    mcon: str = key(doc="The table it uses; empty: none is known.")
    usage: str = key(doc="read or write.")
    query_hash: str | None = text(default=None, doc="The same for queries that differ in values.")
    query_text: str | None = text(default=None, doc="Its text.")
    category: str | None = text(default=None, doc="select, insert_into, merge …")
    user_name: str | None = text(default=None, doc="Who ran it.")
    started_at: datetime | None = moment(default=None, doc="When it started.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    invocation_id: str | None = text(default=None, doc="The request it came with.")


@table(
    "gateway_objects",
    purpose="Jobs, runs and reports of ETL and BI tools that were pushed: stored as they came.",
    read_by="gateway",
)
class PushedObject(Row):
    """A job, a run or a report."""

    resource_uuid: str = key(doc="The resource.")
    path: str = key(doc="etl/metadata, etl/runs or bi/metadata.")
    object_id: str = key(doc="Its id in its tool.")
    content: Mapping[str, Any] = mapping(default=None, doc="What was pushed.")
    seen_at: datetime | None = moment(default=None, doc="When it was last pushed.")
    invocation_id: str | None = text(default=None, doc="The request it came with.")


OF_GATEWAY: tuple[type[Row], ...] = (
    GatewayKey,
    Delivery,
    PushedTable,
    PushedMeasurement,
    PushedNode,
    PushedEdge,
    PushedColumnEdge,
    PushedQuery,
    PushedObject,
)
