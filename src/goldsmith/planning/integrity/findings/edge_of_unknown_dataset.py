"""A lineage edge begins or ends at a dataset that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(Edge, Source, Target))
def edge_of_unknown_dataset(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = rows.dataset_ids
    for edge in rows.rows(Edge):
        for end in (edge.from_dataset_id, edge.to_dataset_id):
            if end not in known:
                yield FoundProblem(
                    edge,
                    f"The edge '{edge.from_dataset_id}' → '{edge.to_dataset_id}' names '{end}',"
                    " which has no row in sources or targets.",
                    f"{did_you_mean(end, known)}Add the dataset, or correct the edge.",
                )
