"""A stage has another path to its target but cannot take it, because rows would be loaded twice.

When the source is back, the stage reads on from where it stopped, and the rows of the other path
arrive again. Keys of `merge` and `scd2`, or an `overwrite` that reads everything, replace it.
"""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.resolved_stage import resolve_stage, stage_id
from goldsmith.planning.routes import why_it_would_double


@catalog_rule(FindingSeverity.WARNING, reads=(Edge, Stage))
def route_would_double(rows: CatalogRows) -> Iterator[FoundProblem]:
    for edge in rows.rows(Edge):
        writers = [s for s in rows.writers_of.get(edge.to_dataset_id, ()) if s.enabled]
        own = writers[0] if writers else None
        if own is None or any(_reads(stage, edge.from_dataset_id) for stage in writers):
            continue
        resolved = resolve_stage(own, None)
        because = why_it_would_double(own, resolved.write_mode, resolved.read)
        if because is not None:
            yield FoundProblem(
                own,
                f"Stage {stage_id(own)} cannot read '{edge.from_dataset_id}' while its source is"
                f" down, although an edge leads from it to '{edge.to_dataset_id}': {because}.",
                "Set keys and write_mode merge on the stage; as it is, the stage waits until its"
                " source is back.",
            )


def _reads(stage: Stage, dataset_id: str) -> bool:
    """The stage reads the dataset already, as its source or in its SQL."""
    return stage.source_id == dataset_id or dataset_id in (stage.transform_sql or "")
