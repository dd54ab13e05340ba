"""Nothing runs a lineage edge, so it is never a route: no enabled stage writes its dataset."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.WARNING, reads=(Edge, Stage, Source, Target))
def edge_runs_nothing(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = rows.dataset_ids
    for edge in rows.rows(Edge):
        read, target = edge.from_dataset_id, edge.to_dataset_id
        if read not in known or target not in known:
            continue  # a finding of its own
        if not any(stage.enabled for stage in rows.writers_of.get(target, ())):
            yield FoundProblem(
                edge,
                f"Nothing runs the edge '{read}' → '{target}': no enabled stage writes '{target}'.",
                f"Add a stage that writes '{target}'. Until then the edge is shown, and is no"
                " route when a source is down.",
            )
