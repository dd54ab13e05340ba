"""Items of the three flows, in the shape and order of keys that Monte Carlo's client sends.

An item is a plain mapping: a manifest holds it as it is, and a body holds it in its envelope.
`None` and empty lists are left out, as the client does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from goldsmith.assets.errors import BadItem, UnknownLogType

Item = dict[str, Any]


class Flow(StrEnum):
    """What is collected and pushed."""

    METADATA = "metadata"
    LINEAGE = "lineage"
    QUERY_LOGS = "query_logs"

    @property
    def path(self) -> str:
        """The last part of the endpoint."""
        return "querylogs" if self is Flow.QUERY_LOGS else self.value

    @property
    def type_key(self) -> str:
        """The key of the type in `resource`: query logs alone have a log_type."""
        return "log_type" if self is Flow.QUERY_LOGS else "resource_type"

    @property
    def list_key(self) -> str:
        """The key of the items in a manifest."""
        return "edges" if self is Flow.LINEAGE else "items"


LOG_TYPES = (
    "snowflake",
    "bigquery",
    "databricks",
    "redshift",
    "hive-s3",
    "athena",
    "teradata",
    "clickhouse",
    "databricks-metastore-sql-warehouse",
    "s3",
    "presto-s3",
)
ASSET_TYPES = ("TABLE", "VIEW")
REFERENCE_TYPES = (*ASSET_TYPES, "EXTERNAL", "WILDCARD_TABLE")
#: Longer SQL is cut, as the published examples do: one entry never fills a body.
LONGEST_QUERY = 10_000
CUT = "... [TRUNCATED]"


def check_log_type(log_type: str) -> str:
    """The log_type, or UnknownLogType."""
    if log_type not in LOG_TYPES:
        raise UnknownLogType(log_type=log_type, known=LOG_TYPES)
    return log_type


def asset_type(native: str | None) -> str:
    """TABLE or VIEW for the type a warehouse reports (`BASE TABLE`, `MATERIALIZED VIEW` …)."""
    return "VIEW" if "VIEW" in (native or "").upper() else "TABLE"


def table(
    *,
    database: str,
    schema: str,
    name: str,
    kind: str | None = None,
    description: str | None = None,
    view_query: str | None = None,
    created_on: datetime | str | None = None,
    columns: Sequence[Mapping[str, Any]] = (),
    tags: Sequence[Mapping[str, Any]] = (),
    rows: Any = None,
    size: Any = None,
    updated: datetime | str | None = None,
) -> Item:
    """A table or view, from what a warehouse reports."""
    metadata = _present(
        name=name,
        database=database,
        schema=schema,
        description=description or None,
        view_query=view_query or None,
        created_on=moment_text(created_on),
    )
    volume = _present(row_count=whole(rows), byte_count=whole(size))
    freshness = _present(last_update_time=moment_text(updated))
    return _present(
        type=asset_type(kind),
        metadata=metadata,
        tags=[_present(key=tag["key"], value=tag.get("value")) for tag in tags],
        fields=[column(**each) for each in columns],
        volume=volume or None,
        freshness=freshness or None,
    )


def column(*, name: str, type: str, description: str | None = None) -> Item:
    """A column of a table."""
    return _present(name=name, type=type, description=description or None)


def edge(
    destination: Sequence[str],
    sources: Iterable[Sequence[str]],
    columns: Mapping[str, Iterable[tuple[Sequence[str], str]]] | None = None,
) -> Item:
    """An edge of tables, each named by database, schema and name; `columns` of the destination
    lead to the table and column they come from."""
    named = list(dict.fromkeys(tuple(source) for source in sources))
    if not columns:
        return {
            "destination": _reference(destination),
            "sources": [_reference(source) for source in named],
        }
    return {
        "destination": _reference(destination, with_id=True),
        "sources": [_reference(source, with_id=True) for source in named],
        "fields": [
            {
                "name": name,
                "source_fields": [
                    {"asset_id": _asset_id(source), "field_name": field} for source, field in origin
                ],
            }
            for name, origin in columns.items()
        ],
    }


def log_entry(
    *,
    started: datetime,
    ended: datetime,
    text: str,
    query_id: str | None = None,
    user: str | None = None,
    error_code: str | int | None = None,
    error_text: str | None = None,
    rows: Any = None,
    extra: Mapping[str, Any] | None = None,
) -> Item:
    """An entry of a query log."""
    if len(text) > LONGEST_QUERY:
        text = text[:LONGEST_QUERY] + CUT
    more = {name: _plain(value) for name, value in (extra or {}).items() if value is not None}
    return _present(
        start_time=moment_text(started),
        end_time=moment_text(ended),
        query_text=text,
        query_id=None if query_id is None else str(query_id),
        user=user or None,
        error_code=error_code,
        error_text=error_text or None,
        returned_rows=whole(rows),
        extra=more or None,
    )


def whole(value: Any) -> int | None:
    """A count as an integer: drivers return decimals, floats or texts; negative means unknown."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = int(Decimal(str(value)))
    except (ArithmeticError, ValueError):
        return None
    return number if number >= 0 else None


def moment_text(at: datetime | str | None) -> str | None:
    """A time in UTC with `Z`; microseconds are kept. A time without a zone is in UTC."""
    if at is None or isinstance(at, str):
        return at or None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.isoformat().replace("+00:00", "Z")


def label(flow: Flow, item: Mapping[str, Any]) -> str:
    """A short name of an item, for messages."""
    if flow is Flow.METADATA:
        return _named(item.get("metadata"))
    if flow is Flow.LINEAGE:
        return _named(item.get("destination"))
    return str(item.get("query_id") or item.get("start_time") or "without id")


def checked(flow: Flow, item: Any) -> Item:
    """The item, or BadItem with what is wrong: what a receiver would refuse is not sent."""
    if not isinstance(item, dict):
        raise BadItem(flow=flow, item=str(item)[:80], problem="it is not an object")

    def refuse(problem: str) -> BadItem:
        return BadItem(flow=flow, item=label(flow, item), problem=problem)

    match flow:
        case Flow.METADATA:
            if item.get("type") not in ASSET_TYPES:
                raise refuse(f"its type is {item.get('type')!r}, not TABLE or VIEW")
            _need(item.get("metadata"), ("name", "database", "schema"), refuse)
            for field in item.get("fields") or ():
                _need(field, ("name", "type"), refuse)
        case Flow.LINEAGE:
            references = [item.get("destination"), *(item.get("sources") or ())]
            if not item.get("sources"):
                raise refuse("it has no sources")
            for reference in references:
                _need(reference, ("type", "name", "database", "schema"), refuse)
                if reference["type"] not in REFERENCE_TYPES:
                    raise refuse(f"the type of a table is {reference['type']!r}")
            known = {each.get("asset_id") for each in references}
            for field in item.get("fields") or ():
                _need(field, ("name",), refuse)
                for origin in field.get("source_fields") or ():
                    _need(origin, ("asset_id", "field_name"), refuse)
                    if origin["asset_id"] not in known:
                        raise refuse(f"no source has the asset_id {origin['asset_id']!r}")
        case Flow.QUERY_LOGS:
            _need(item, ("start_time", "end_time", "query_text"), refuse)
    return item


def _need(value: Any, names: Sequence[str], refuse: Any) -> None:
    if not isinstance(value, Mapping):
        raise refuse("a part of it is not an object")
    for name in names:
        if not isinstance(value.get(name), str) or not value[name]:
            raise refuse(f"'{name}' is missing or is not text")


def _named(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "without name"
    return f"{value.get('database')}:{value.get('schema')}.{value.get('name')}"


def _reference(named: Sequence[str], *, with_id: bool = False) -> Item:
    database, schema, name = named
    reference = {"type": "TABLE", "name": name, "database": database, "schema": schema}
    return {**reference, "asset_id": _asset_id(named)} if with_id else reference


def _asset_id(named: Sequence[str]) -> str:
    return "__".join(named)


def _present(**values: Any) -> Item:
    return {name: value for name, value in values.items() if value is not None and value != []}


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return moment_text(value)
    return value if isinstance(value, str | int | float | bool) else str(value)
