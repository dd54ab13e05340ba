"""Record and read evidence of lineage edges, by origin and with an expiry.

Evidence is stored separately from the declared rows of `dataset_lineage`. The key is (from, to,
origin), so the report of one origin never overwrites a declared row or the report of another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from goldsmith.catalog.prepared import Prepared
from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import lineage_evidence
from goldsmith.journal.lineage_tables import EdgeEvidence

#: What stages really read and wrote.
OBSERVED = "observed"
#: What a sender declared when it pushed rows.
PUSH_INGEST = "push_ingest"


def record_evidence(
    connection: sa.Connection,
    edges: Iterable[tuple[str, str]],
    origin: str,
    *,
    expires_at: datetime | None = None,
    seen_by: str | None = None,
) -> int:
    """Record that an origin saw these (from, to) edges now; return how many there were.

    An edge the origin reported before gets the new time, expiry and `seen_by`. The rows are
    written in key order, so that two writers cannot wait for each other.
    """
    found = sorted(set(edges))
    if not found:
        return 0
    now = read_clock(connection)
    rows = [
        {
            "from_dataset_id": source,
            "to_dataset_id": target,
            "origin": origin,
            "seen_at": now,
            "expires_at": expires_at,
            "seen_by": seen_by,
        }
        for source, target in found
    ]
    insert = postgres_insert if connection.dialect.name == "postgresql" else sqlite_insert
    statement = insert(lineage_evidence)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["from_dataset_id", "to_dataset_id", "origin"],
            set_={name: statement.excluded[name] for name in ("seen_at", "expires_at", "seen_by")},
        ),
        rows,
    )
    return len(found)


def forget_expired(connection: sa.Connection, now: datetime) -> int:
    """Delete evidence whose time is over; return how many rows."""
    return connection.execute(
        sa.delete(lineage_evidence).where(lineage_evidence.c.expires_at <= now)
    ).rowcount


_ALL = Prepared(
    sa.select(lineage_evidence).order_by(
        lineage_evidence.c.to_dataset_id,
        lineage_evidence.c.from_dataset_id,
        lineage_evidence.c.origin,
    )
)


def current_evidence(connection: sa.Connection, now: datetime) -> list[EdgeEvidence]:
    """The evidence that has not expired."""
    found = row_storage.select(connection, EdgeEvidence, _ALL)
    return [item for item in found if item.is_current(now)]
