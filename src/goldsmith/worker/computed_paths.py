"""Keep `computed_paths` up to date with the catalog revision.

The table is an observation: it bumps no revision and has no history, and only rows that differ
are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.definitions import storable
from goldsmith.journal import row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import computed_paths, computed_revisions
from goldsmith.journal.journal import Journal
from goldsmith.journal.lineage_tables import ComputedPath, ComputedRevision
from goldsmith.lineage.graph import LineageGraph
from goldsmith.lineage.paths import cheapest_of_all
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.planning.lineage_graph import lineage_graph
from goldsmith.runtime import Runtime

#: How many paths to each dataset are kept.
MOST = 5
_TABLE = "computed_paths"


def keep_computed(runtime: Runtime) -> bool:
    """Compute the paths again if the catalog has changed; return whether it had."""
    return bring_up_to_date(runtime.journal, runtime.catalog, runtime.catalog_indexer)


def bring_up_to_date(journal: Journal, catalog: Catalog, indexer: CatalogIndexer) -> bool:
    """Compute the paths again if the table is of an earlier revision; return whether it was."""
    if _known(journal) == catalog.revision():
        return False
    graph = lineage_graph(indexer.catalog_index(), now=datetime.now(UTC))
    _replace(journal, list(computed(graph)), graph.revision)
    return True


def computed(graph: LineageGraph) -> Iterator[ComputedPath]:
    """The cheapest paths to each dataset."""
    for dataset_id, ways in cheapest_of_all(graph, most=MOST):
        for order, way in enumerate(ways, start=1):
            yield ComputedPath(
                dataset_id=dataset_id,
                path_order=order,
                path_sequence=way.sequence,
                cost=way.cost,
                latency_sec=way.latency_sec,
                can_run=all(step.runs for step in way.steps),
                revision=graph.revision,
            )


def _known(journal: Journal) -> int | None:
    query = sa.select(computed_revisions.c.revision).where(
        computed_revisions.c.computed_table == _TABLE
    )
    with journal.reading() as connection:
        return connection.execute(query).scalar()


def _replace(journal: Journal, found: list[ComputedPath], revision: int) -> None:
    """Write the rows that differ, and the revision they are of; an older one changes nothing."""
    with journal.writing() as connection:
        marker = row_storage.select(
            connection,
            ComputedRevision,
            sa.select(computed_revisions).where(computed_revisions.c.computed_table == _TABLE),
        )
        if marker and marker[0].revision is not None and marker[0].revision >= revision:
            return  # another process was faster
        now = read_clock(connection)
        known = row_storage.select(connection, ComputedPath, sa.select(computed_paths))
        before = {row.key: _content(row) for row in known}
        wanted = {row.key: row for row in found}
        changed = [row for key, row in wanted.items() if before.get(key) != _content(row)]
        gone = [key for key in before if key not in wanted]
        _delete(connection, [*gone, *(row.key for row in changed if row.key in before)])
        if changed:
            rows = [storable(row.with_(computed_at=now)) for row in changed]
            connection.execute(sa.insert(computed_paths), rows)
        connection.execute(
            sa.delete(computed_revisions).where(computed_revisions.c.computed_table == _TABLE)
        )
        row_storage.insert(
            connection,
            ComputedRevision(computed_table=_TABLE, revision=revision, computed_at=now),
        )


def _content(row: ComputedPath) -> tuple[object, ...]:
    return row.path_sequence, row.cost, row.latency_sec, bool(row.can_run)


def _delete(connection: sa.Connection, keys: list[tuple[Any, ...]]) -> None:
    if keys:
        delete_row = sa.delete(computed_paths).where(
            computed_paths.c.dataset_id == sa.bindparam("dataset"),
            computed_paths.c.path_order == sa.bindparam("position"),
        )
        connection.execute(
            delete_row, [{"dataset": name, "position": order} for name, order in keys]
        )
