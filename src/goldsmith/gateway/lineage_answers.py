"""Answer GraphQL queries about lineage and query logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.gateway import lineage_graph
from goldsmith.gateway.mcon import Mcon
from goldsmith.gateway.queries import FOR_EVER, Asker
from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import gateway_queries
from goldsmith.journal.gateway_tables import PushedEdge, PushedNode, PushedQuery

_MOST = 1_000
_CATEGORIES = """
alter clone copy create_table create_table_as_select create_table_using_template create_view
delete_from delete_using drop_table explain insert_into insert_overwrite load merge put query
rename select_into swap truncate unload update
"""


def get_lineage(
    asker: Asker,
    direction: str,
    mcon: str | None = None,
    mcons: Sequence[str] | None = None,
    hops: int | None = None,
    filters: Sequence[Mapping[str, Any]] | None = None,
    limit: int | None = None,
    **_given: Any,
) -> dict[str, Any]:
    """The nodes that feed a table, or that it feeds."""
    if direction not in ("upstream", "downstream"):
        raise BadDirection(direction=direction)
    bases = [str(asker.parsed(each)) for each in ([mcon] if mcon else list(mcons or ()))]
    nodes: dict[str, PushedNode] = {}
    edges: dict[tuple[str, str], PushedEdge] = {}
    with asker.journal.reading() as connection:
        at = read_clock(connection)
        for base in bases:
            found, between = lineage_graph.walk(
                connection, base, direction, min(hops or 1, 100), at
            )
            nodes |= {node.mcon: node for node in found if asker.sees(node.resource_uuid)}
            edges |= {(edge.source, edge.destination): edge for edge in between}
    connected = [
        node for node in nodes.values() if node.mcon not in bases and _passes(node, filters or ())
    ][: max(0, limit if limit is not None else 500)]
    kept = {node.mcon for node in connected} | set(bases)
    flat: dict[str, list[PushedEdge]] = {}
    for edge in edges.values():
        if edge.source in kept and edge.destination in kept:
            start = edge.destination if direction == "upstream" else edge.source
            flat.setdefault(start, []).append(edge)
    shown_bases = [node_shown(nodes[base]) for base in bases if base in nodes]
    return {
        "baseNode": next(iter(shown_bases), None),
        "baseNodes": shown_bases,
        "connectedNodes": [node_shown(node) for node in connected],
        "flattenedEdges": [
            {
                "mcon": start,
                "directlyConnectedMcons": [_other(edge, direction) for edge in some],
                "directlyConnectedNodes": [
                    {
                        "mcon": _other(edge, direction),
                        "edgeType": edge.edge_type,
                        "isCustom": edge.origin == "custom",
                        "expireAt": edge.expires_at or FOR_EVER,
                    }
                    for edge in some
                ],
            }
            for start, some in flat.items()
        ],
    }


def _other(edge: PushedEdge, direction: str) -> str:
    return edge.source if direction == "upstream" else edge.destination


def _passes(node: PushedNode, filters: Sequence[Mapping[str, Any]]) -> bool:
    return all(
        (node.object_type in each["values"]) is (each["operator"] == "INCLUDE") for each in filters
    )


def node_shown(node: PushedNode) -> dict[str, Any]:
    """A node as GraphQL shows it."""
    return {
        "mcon": node.mcon,
        "displayName": node.display_name,
        "objectType": node.object_type,
        "objectId": node.object_id,
        "isCustom": node.is_custom,
        "jobTs": node.seen_at,
        "expireAt": node.expires_at or FOR_EVER,
    }


@dataclass(eq=False, kw_only=True)
class BadDirection(GoldsmithError):
    """A direction of lineage is neither upstream nor downstream."""

    direction: str

    def __str__(self) -> str:
        return f"'{self.direction[:50]}' is no direction."

    @property
    def hint(self) -> str:
        return "Say upstream or downstream."


def get_derived(
    asker: Asker,
    mcon: str | None = None,
    column: str | None = None,
    cursor: str | None = None,
    page_size: int | None = None,
) -> dict[str, Any]:
    """The columns that a column feeds, by table."""
    if mcon is None or column is None:
        return {"destinations": [], "isLastPage": True}
    source = str(asker.parsed(mcon))
    with asker.journal.reading() as connection:
        at = read_clock(connection)
        found = lineage_graph.columns_fed_by(connection, source, column, at)
    tables: dict[str, list[str]] = {}
    for edge in found:
        if asker.sees(Mcon.parse(edge.destination).resource_uuid):
            tables.setdefault(edge.destination, []).append(edge.destination_column)
    start = int(cursor) if cursor is not None and cursor.isdigit() else 0
    size = max(1, min(page_size or 20, _MOST))
    page = list(tables.items())[start : start + size]
    is_last = start + size >= len(tables)
    return {
        "mcon": source,
        "sourceColumn": column,
        "destinations": [
            {
                "mcon": table,
                "displayName": Mcon.parse(table).object_id,
                "columns": [{"columnName": name, "columnType": None} for name in names],
                "sourceColumnUsedAsNonSelected": False,
            }
            for table, names in page
        ],
        "isLastPage": is_last,
        "cursor": None if is_last else str(start + size),
    }


def get_queries(
    asker: Asker,
    mcon: str,
    start_time: datetime,
    end_time: datetime,
    query_type: str,
    limit: int,
    end_cursor: str | None = None,
    category: str | None = None,
    user: str | None = None,
    query_characters: int | None = None,
) -> dict[str, Any]:
    """The queries of a table, those alike counted together by day and user."""
    columns = gateway_queries.c
    query = sa.select(gateway_queries).where(
        columns.mcon == str(asker.parsed(mcon)),
        columns.usage == query_type,
        columns.started_at >= start_time,
        columns.started_at <= end_time,
    )
    if category is not None:
        query = query.where(columns.category == category)
    if user is not None:
        query = query.where(columns.user_name == user)
    with asker.journal.reading() as connection:
        found = row_storage.select(
            connection, PushedQuery, query.order_by(columns.started_at.desc()).limit(50_000)
        )
    groups: dict[tuple[Any, ...], list[PushedQuery]] = {}
    for row in found:
        assert row.started_at is not None
        day = row.started_at.astimezone(UTC).date()
        groups.setdefault((day, row.query_hash, row.user_name), []).append(row)
    start = int(end_cursor) if end_cursor is not None and end_cursor.isdigit() else 0
    size = max(1, min(limit, _MOST))
    page = list(groups.items())[start : start + size]
    is_more = start + size < len(groups)
    return {
        "aggregatedQueries": [
            _aggregated(day, rows, query_characters or 50) for (day, _, _), rows in page
        ],
        "pageInfo": {"hasNextPage": is_more, "endCursor": str(start + size) if is_more else None},
    }


def _aggregated(day: Any, rows: Sequence[PushedQuery], characters: int) -> dict[str, Any]:
    newest = rows[0]
    spans = [
        (row.ended_at - row.started_at).total_seconds()
        for row in rows
        if row.ended_at is not None and row.started_at is not None
    ]
    known = _category_names()
    return {
        "date": day,
        "groupId": newest.query_hash,
        "queryHash": newest.query_hash,
        "user": newest.user_name,
        "category": newest.category if newest.category in known else None,
        "latestQuery": (newest.query_text or "")[: max(0, characters)],
        "latestQueryId": newest.query_key,
        "latestQueryTimestamp": newest.started_at,
        "count": len(rows),
        "averageRunTime": int(1000 * sum(spans) / len(spans)) if spans else None,
    }


def _category_names() -> frozenset[str]:
    return frozenset(_CATEGORIES.split())


RESOLVERS: Mapping[str, Callable[..., Any]] = {
    "getTableLineage": get_lineage,
    "getDerivedTablesPartialLineage": get_derived,
    "getAggregatedQueries": get_queries,
}
