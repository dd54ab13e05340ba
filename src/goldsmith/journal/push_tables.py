"""The tables of pushes: what we sent, and what others pushed to our gateway."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import (
    choice,
    flag,
    items,
    key,
    mapping,
    moment,
    names,
    number,
    text,
    whole,
)
from goldsmith.catalog.rows import Row, table


class KeyScope(StrEnum):
    """What a key of the gateway opens."""

    #: The endpoints under /ingest/v1.
    INGESTION = "Ingestion"
    #: The GraphQL endpoint.
    GRAPHQL = "GraphQL"


@table(
    "pushes",
    purpose="Each push of a manifest: resource, flow, when, and why sooner than an hour.",
    read_by="emitters",
)
class Push(Row):
    """One push of a manifest to a receiver."""

    push_id: str = key(doc="The push.")
    resource_uuid: str | None = text(default=None, doc="The resource the items belong to.")
    flow: str | None = text(default=None, doc="metadata, lineage or query_logs.")
    receiver: str | None = text(default=None, doc="The address of the receiver.")
    manifest_hash: str | None = text(default=None, doc="SHA-256 of the manifest's items.")
    started_at: datetime | None = moment(default=None, doc="When it started.")
    ended_at: datetime | None = moment(default=None, doc="When the last batch was accepted.")
    item_count: int | None = whole(default=None, doc="Items sent.")
    override_reason: str | None = text(default=None, doc="Why it did not wait for the hour.")
    requested_by: str | None = text(default=None, doc="Who pushed.")


@table(
    "push_batches",
    purpose="Each accepted batch of a push with its invocation id; a killed push resumes here.",
    read_by="emitters",
)
class PushBatch(Row):
    """One batch that the receiver accepted."""

    push_id: str = key(doc="The push.")
    body_hash: str = key(doc="SHA-256 of the body.")
    invocation_id: str | None = text(default=None, doc="The receiver's id of the request.")
    item_count: int | None = whole(default=None, doc="Items of the batch.")
    accepted_at: datetime | None = moment(default=None, doc="When the receiver accepted it.")


@table(
    "gateway_keys",
    purpose="Keys of the push gateway. Only a hash of each secret is stored.",
    read_by="gateway",
)
class GatewayKey(Row):
    """One key of the gateway."""

    key_id: str = key(doc="The key's id, sent as x-mcd-id.")
    scope: str = choice(default="Ingestion", choices=KeyScope, doc="What the key opens.")
    description: str | None = text(default=None, doc="What the key is for.")
    resources: tuple[str, ...] = names(doc="Resources it is limited to; empty: all.")
    secret_hash: str | None = text(default=None, doc="SHA-256 of the secret.")
    created_at: datetime | None = moment(default=None, doc="When it was created.")
    created_by: str | None = text(default=None, doc="Who created it.")
    expires_at: datetime | None = moment(default=None, doc="When it expires; unset: never.")
    revoked_at: datetime | None = moment(default=None, doc="When it was revoked.")


@table(
    "gateway_requests",
    purpose="Bodies the gateway accepted: each waits here until it is processed.",
    read_by="gateway",
)
class GatewayRequest(Row):
    """One accepted body."""

    invocation_id: str = key(doc="The id given to the client.")
    key_id: str | None = text(default=None, doc="The key it came with.")
    flow: str | None = text(default=None, doc="The last part of the path: metadata, lineage …")
    body_hash: str | None = text(default=None, doc="SHA-256 of the body.")
    body: str | None = text(default=None, doc="The body; removed a week after it was processed.")
    received_at: datetime | None = moment(default=None, doc="When it arrived.")
    processed_at: datetime | None = moment(default=None, doc="When it was processed.")
    attempts: int = whole(default=0, doc="How often processing was tried.")
    error: str | None = text(default=None, doc="Why processing failed.")


@table("gateway_resources", purpose="Resources that pushed data belongs to.", read_by="gateway")
class GatewayResource(Row):
    """A warehouse, lake or tool that data was pushed for."""

    resource_uuid: str = key(doc="The resource.")
    resource_type: str | None = text(default=None, doc="Its type, from its first push.")
    name: str | None = text(default=None, doc="A name for people.")
    created_at: datetime | None = moment(default=None, doc="When it was first pushed for.")


@table("gateway_tables", purpose="Tables and views that were pushed.", read_by="gateway")
class GatewayTable(Row):
    """One pushed table or view."""

    mcon: str = key(doc="Its id: account, resource, type, database:schema.table.")
    resource_uuid: str | None = text(default=None, doc="Its resource.")
    full_table_id: str | None = text(default=None, doc="database:schema.table.")
    table_type: str | None = text(default=None, doc="TABLE or VIEW.")
    database_name: str | None = text(default=None, doc="Its database.")
    schema_name: str | None = text(default=None, doc="Its schema.")
    table_name: str | None = text(default=None, doc="Its name.")
    description: str | None = text(default=None, doc="Its description.")
    view_query: str | None = text(default=None, doc="The query of a view.")
    created_on: str | None = text(default=None, doc="When the warehouse created it, as pushed.")
    tags: tuple[Any, ...] = items(doc="Its tags: key and value.")
    last_update_time: datetime | None = moment(default=None, doc="When its data last changed.")
    row_count: float | None = number(default=None, doc="The newest row count.")
    byte_count: float | None = number(default=None, doc="The newest byte count.")
    volume_changed_at: datetime | None = moment(default=None, doc="When the row count changed.")
    invocation_id: str | None = text(default=None, doc="The newest push of it.")
    first_seen_at: datetime | None = moment(default=None, doc="When it was first pushed.")
    last_seen_at: datetime | None = moment(default=None, doc="When it was last pushed.")
    deleted_at: datetime | None = moment(default=None, doc="When it was deleted on request.")


@table("gateway_schemas", purpose="The columns of pushed tables, by version.", read_by="gateway")
class GatewaySchema(Row):
    """The columns of a table from some time on."""

    mcon: str = key(doc="The table.")
    version_id: str = key(doc="SHA-256 of its columns.")
    seen_at: datetime | None = moment(default=None, doc="When these columns were last pushed anew.")
    columns: tuple[Any, ...] = items(doc="Name, type and description of each column.")


@table("gateway_measures", purpose="Row counts, sizes and updates over time.", read_by="gateway")
class GatewayMeasure(Row):
    """One measured value of a table."""

    mcon: str = key(doc="The table.")
    metric: str = key(doc="total_row_count, total_byte_count or last_update.")
    invocation_id: str = key(doc="The push that measured it.")
    value: float | None = number(default=None, doc="The value; of an update its epoch seconds.")
    measured_at: datetime | None = moment(default=None, doc="When the push arrived.")


@table("gateway_nodes", purpose="Nodes of pushed and custom lineage.", read_by="gateway")
class GatewayNode(Row):
    """One node of the pushed lineage."""

    mcon: str = key(doc="Its id.")
    resource_uuid: str | None = text(default=None, doc="Its resource.")
    object_type: str | None = text(default=None, doc="table, view, external or a custom type.")
    object_id: str | None = text(default=None, doc="Its id within the resource.")
    display_name: str | None = text(default=None, doc="A name for people.")
    properties: Mapping[str, Any] = mapping(doc="Properties of a custom node.")
    is_custom: bool = flag(default=False, doc="Created by GraphQL.")
    expires_at: datetime | None = moment(default=None, doc="When it expires; unset: never.")
    updated_at: datetime | None = moment(default=None, doc="When it was last written.")


@table("gateway_edges", purpose="Edges of pushed and custom lineage, by origin.", read_by="gateway")
class GatewayEdge(Row):
    """One edge of tables or of columns, from one origin."""

    source: str = key(doc="The mcon data comes from.")
    destination: str = key(doc="The mcon data goes to.")
    source_column: str = key(doc="The column; empty for an edge of tables.")
    destination_column: str = key(doc="The column; empty for an edge of tables.")
    origin: str = key(doc="push_ingest, custom or query_log.")
    origin_type: str | None = text(default=None, doc="DIRECT_LINEAGE, CUSTOM or QUERY_LINEAGE.")
    edge_type: str | None = text(default=None, doc="IS_DOWNSTREAM, IS_READ_BY or MODIFIES.")
    expires_at: datetime | None = moment(default=None, doc="When it expires; unset: never.")
    invocation_id: str | None = text(default=None, doc="The newest push of it.")
    updated_at: datetime | None = moment(default=None, doc="When it was last written.")


@table("gateway_queries", purpose="Pushed entries of query logs.", read_by="gateway")
class GatewayQuery(Row):
    """One query that ran in a warehouse."""

    resource_uuid: str = key(doc="The resource.")
    query_id: str = key(doc="The warehouse's id, else a hash of text, user and start.")
    query_text: str | None = text(default=None, doc="The SQL.")
    query_hash: str | None = text(default=None, doc="A hash of the text without its values.")
    category: str | None = text(default=None, doc="query, insert_into, merge …")
    user_name: str | None = text(default=None, doc="Who ran it.")
    started_at: datetime | None = moment(default=None, doc="When it started.")
    ended_at: datetime | None = moment(default=None, doc="When it ended.")
    returned_rows: float | None = number(default=None, doc="Rows it returned.")
    error_code: str | None = text(default=None, doc="Its error.")
    error_text: str | None = text(default=None, doc="Its error's text.")
    more: Mapping[str, Any] = mapping(doc="What the warehouse adds.")
    invocation_id: str | None = text(default=None, doc="The push it came with.")


@table("gateway_query_tables", purpose="Which query reads or writes a table.", read_by="gateway")
class GatewayQueryTable(Row):
    """One table that a query reads or writes."""

    mcon: str = key(doc="The table.")
    access: str = key(doc="read or write.")
    resource_uuid: str = key(doc="The resource of the query.")
    query_id: str = key(doc="The query.")
    started_at: datetime | None = moment(default=None, doc="When the query started.")


@table("gateway_objects", purpose="Pushed jobs, runs and dashboards.", read_by="gateway")
class GatewayObject(Row):
    """A job, a run of a job, or an asset of a BI tool, as it was pushed."""

    resource_uuid: str = key(doc="The resource.")
    kind: str = key(doc="etl_job, etl_run or bi_asset.")
    object_id: str = key(doc="Its id in the tool.")
    content: Mapping[str, Any] = mapping(doc="What was pushed.")
    invocation_id: str | None = text(default=None, doc="The newest push of it.")
    updated_at: datetime | None = moment(default=None, doc="When it was last pushed.")


OF_PUSH: tuple[type[Row], ...] = (
    Push,
    PushBatch,
    GatewayKey,
    GatewayRequest,
    GatewayResource,
    GatewayTable,
    GatewaySchema,
    GatewayMeasure,
    GatewayNode,
    GatewayEdge,
    GatewayQuery,
    GatewayQueryTable,
    GatewayObject,
)
