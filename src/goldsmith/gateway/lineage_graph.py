"""The graph of pushed and custom lineage: walk it, add nodes and edges by hand, delete them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from goldsmith.errors import GoldsmithError
from goldsmith.gateway.mcon import Mcon
from goldsmith.gateway.store import upsert
from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import (
    gateway_column_edges,
    gateway_edges,
    gateway_nodes,
    lineage_evidence,
    pushed_tables,
)
from goldsmith.journal.evidence import PUSH_INGEST
from goldsmith.journal.gateway_tables import PushedColumnEdge, PushedEdge, PushedNode
from goldsmith.journal.journal import Journal

#: The default lifetime of custom nodes and edges.
CUSTOM_COUNTS_FOR = timedelta(days=7)
#: A time from this year on means: for ever.
_FOR_EVER = 9000
MOST_AT_ONCE = 1_000
#: Nodes of one answer.
_MOST_NODES = 5_000


@dataclass(eq=False, kw_only=True)
class UnknownNode(GoldsmithError):
    """There is no node with that MCON."""

    mcon: str

    def __str__(self) -> str:
        return f"There is no lineage node '{self.mcon[:300]}'."

    @property
    def hint(self) -> str:
        return "getTableLineage returns the MCONs of nodes."


@dataclass(eq=False, kw_only=True)
class NotPushTables(GoldsmithError):
    """Something to be deleted is no table that was pushed; nothing was deleted."""

    mcons: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.mcons)} of these are no pushed tables, so nothing was deleted; the first "
            f"is '{self.mcons[0][:300]}'."
        )

    @property
    def hint(self) -> str:
        return "Give MCONs of tables that were pushed, at most 1,000 at once."


def walk(
    connection: sa.Connection, mcon: str, direction: str, hops: int, at: datetime
) -> tuple[list[PushedNode], list[PushedEdge]]:
    """The nodes within some hops, nearest first, and the edges between them."""
    columns = gateway_edges.c
    here, there = (
        (columns.destination, columns.source)
        if direction == "upstream"
        else (columns.source, columns.destination)
    )
    seen, level = {mcon: None}, [mcon]
    edges: dict[tuple[str, str], PushedEdge] = {}
    for _ in range(max(hops, 0)):
        following: dict[str, None] = {}
        for start in range(0, len(level), 500):
            query = (
                sa.select(gateway_edges)
                .where(here.in_(level[start : start + 500]), _current(columns.expires_at, at))
                .order_by(there, columns.origin)
            )
            for edge in row_storage.select(connection, PushedEdge, query):
                edges.setdefault((edge.source, edge.destination), edge)
                other = edge.source if direction == "upstream" else edge.destination
                if other not in seen:
                    following[other] = None
        if not following or len(seen) > _MOST_NODES:
            break
        seen |= following
        level = list(following)
    found: dict[str, PushedNode] = {}
    named = list(seen)
    for start in range(0, len(named), 500):
        query = sa.select(gateway_nodes).where(
            gateway_nodes.c.mcon.in_(named[start : start + 500]),
            _current(gateway_nodes.c.expires_at, at),
        )
        found |= {row.mcon: row for row in row_storage.select(connection, PushedNode, query)}
    nodes = [found[name] for name in named if name in found]
    kept = [edge for edge in edges.values() if edge.source in found and edge.destination in found]
    return nodes, kept


def _current(expires: sa.Column[Any], at: datetime) -> sa.ColumnElement[bool]:
    return sa.or_(expires.is_(None), expires > at)


def columns_fed_by(
    connection: sa.Connection, mcon: str, column: str, at: datetime
) -> list[PushedColumnEdge]:
    """The edges from one column that have not expired."""
    columns = gateway_column_edges.c
    query = (
        sa.select(gateway_column_edges)
        .where(columns.source == mcon, columns.source_column == column, columns.expires_at > at)
        .order_by(columns.destination, columns.destination_column)
    )
    return row_storage.select(connection, PushedColumnEdge, query)


def resource_of(resource_id: str | None, resource_name: str | None) -> str:
    """The resource of a custom node; a name has the same UUID each time."""
    if resource_id:
        return str(uuid.UUID(str(resource_id)))
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"goldsmith:resource:{resource_name or 'custom'}"))


def put_node(
    connection: sa.Connection,
    node: Mcon,
    *,
    name: str | None,
    properties: Mapping[str, str],
    expire_at: datetime | None,
) -> PushedNode:
    """Make or change a custom node."""
    at = read_clock(connection)
    row = {
        "mcon": str(node),
        "object_type": node.object_type,
        "object_id": node.object_id,
        "resource_uuid": node.resource_uuid,
        "display_name": name or node.object_id,
        "properties": dict(properties),
        "is_custom": True,
        "seen_at": at,
        "expires_at": _expiry(expire_at, at),
    }
    upsert(connection, gateway_nodes, [row])
    return _node(connection, str(node))


def put_edge(
    connection: sa.Connection,
    source: Mcon,
    destination: Mcon,
    *,
    edge_type: str,
    expire_at: datetime | None,
) -> tuple[PushedNode, PushedNode, PushedEdge]:
    """Make or change a custom edge; nodes that are missing are made and expire with it."""
    at = read_clock(connection)
    expires = _expiry(expire_at, at)
    for node in (source, destination):
        there = sa.select(gateway_nodes.c.mcon).where(
            gateway_nodes.c.mcon == str(node), _current(gateway_nodes.c.expires_at, at)
        )
        if connection.execute(there).first() is None:
            put_node(connection, node, name=None, properties={}, expire_at=expire_at)
    row = {
        "source": str(source),
        "destination": str(destination),
        "origin": "custom",
        "origin_type": "CUSTOM",
        "edge_type": edge_type,
        "seen_at": at,
        "expires_at": expires,
    }
    upsert(connection, gateway_edges, [row])
    query = sa.select(gateway_edges).where(
        gateway_edges.c.source == str(source),
        gateway_edges.c.destination == str(destination),
        gateway_edges.c.origin == "custom",
    )
    [edge] = row_storage.select(connection, PushedEdge, query)
    return _node(connection, str(source)), _node(connection, str(destination)), edge


def _expiry(expire_at: datetime | None, at: datetime) -> datetime | None:
    if expire_at is None:
        return at + CUSTOM_COUNTS_FOR
    return None if expire_at.year >= _FOR_EVER else expire_at


def _node(connection: sa.Connection, mcon: str) -> PushedNode:
    query = sa.select(gateway_nodes).where(gateway_nodes.c.mcon == mcon)
    return row_storage.select(connection, PushedNode, query)[0]


def delete_node(journal: Journal, mcon: str) -> tuple[int, int]:
    """Delete a node and its edges; returns how many nodes and edges."""
    with journal.writing() as connection:
        there = sa.select(gateway_nodes.c.mcon).where(gateway_nodes.c.mcon == mcon)
        if connection.execute(there).first() is None:
            raise UnknownNode(mcon=mcon)
        return _delete_nodes(connection, [mcon])


def _delete_nodes(connection: sa.Connection, mcons: Sequence[str]) -> tuple[int, int]:
    edges = nodes = 0
    for start in range(0, len(mcons), 500):
        some = list(mcons[start : start + 500])
        for table in (gateway_edges, gateway_column_edges):
            touching = sa.or_(table.c.source.in_(some), table.c.destination.in_(some))
            rowcount = connection.execute(sa.delete(table).where(touching)).rowcount
            edges += rowcount if table is gateway_edges else 0
        nodes += connection.execute(
            sa.delete(gateway_nodes).where(gateway_nodes.c.mcon.in_(some))
        ).rowcount
        for mcon in some:
            name = Mcon.parse(mcon).object_id.replace(":", ".", 1)
            connection.execute(
                sa.delete(lineage_evidence).where(
                    lineage_evidence.c.origin == PUSH_INGEST,
                    sa.or_(
                        lineage_evidence.c.from_dataset_id == name,
                        lineage_evidence.c.to_dataset_id == name,
                    ),
                )
            )
    return nodes, edges


def delete_tables(journal: Journal, mcons: Sequence[str]) -> int:
    """Delete pushed tables with their nodes and edges: all of them, or none."""
    wanted = list(dict.fromkeys(mcons))
    if not wanted or len(wanted) > MOST_AT_ONCE:
        raise NotPushTables(mcons=tuple(wanted[:1]) or ("none",))
    with journal.writing() as connection:
        at = read_clock(connection)
        known = set(_pushed(connection, [Mcon.parse(mcon) for mcon in wanted]))
        if wrong := [mcon for mcon in wanted if mcon not in known]:
            raise NotPushTables(mcons=tuple(wrong))
        for mcon in wanted:
            parsed = Mcon.parse(mcon)
            connection.execute(
                sa.update(pushed_tables)
                .where(
                    pushed_tables.c.resource_uuid == parsed.resource_uuid,
                    pushed_tables.c.full_table_id == parsed.object_id,
                )
                .values(deleted_at=at)
            )
        _delete_nodes(connection, wanted)
    return len(wanted)


def _pushed(connection: sa.Connection, mcons: Sequence[Mcon]) -> list[str]:
    found: list[str] = []
    for start in range(0, len(mcons), 500):
        some = mcons[start : start + 500]
        query = sa.select(pushed_tables.c.resource_uuid, pushed_tables.c.full_table_id).where(
            pushed_tables.c.full_table_id.in_([each.object_id for each in some]),
            pushed_tables.c.deleted_at.is_(None),
        )
        found += [str(Mcon(row[0], "table", row[1])) for row in connection.execute(query)]
    return found
