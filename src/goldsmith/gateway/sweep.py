"""Remove what has expired: edges of columns and of logs, custom nodes with their edges.

Pushed tables and pushed table edges never expire and are never removed here.
"""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import gateway_column_edges, gateway_edges, gateway_nodes
from goldsmith.journal.journal import Journal


def sweep(journal: Journal) -> int:
    """Remove what has expired; returns how many rows."""
    with journal.writing() as connection:
        at = read_clock(connection)
        expired = sa.select(gateway_nodes.c.mcon).where(gateway_nodes.c.expires_at <= at)
        removed = 0
        for statement in (
            sa.delete(gateway_column_edges).where(gateway_column_edges.c.expires_at <= at),
            sa.delete(gateway_edges).where(
                sa.or_(
                    gateway_edges.c.expires_at <= at,
                    gateway_edges.c.source.in_(expired),
                    gateway_edges.c.destination.in_(expired),
                )
            ),
            sa.delete(gateway_nodes).where(gateway_nodes.c.expires_at <= at),
        ):
            removed += connection.execute(statement).rowcount
    return removed
