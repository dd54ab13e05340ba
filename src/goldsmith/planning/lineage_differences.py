"""Findings about observed edges: what stages really read and wrote, against what is declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from goldsmith.journal.evidence import OBSERVED
from goldsmith.journal.lineage_tables import EdgeEvidence
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.lineage_graph import catalog_steps


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeDifference:
    """One edge on which the declared rows and the runs disagree."""

    #: EdgeNotDeclared: a run read it; EdgeNotSeen: no run did.
    code: str
    from_dataset_id: str
    to_dataset_id: str
    sentence: str

    def as_plain(self) -> dict[str, str]:
        return asdict(self)


def edge_differences(
    index: CatalogIndex, evidence: Iterable[EdgeEvidence], now: datetime
) -> Iterator[EdgeDifference]:
    """The edges that runs read and no row declares, then those no run of the target ever read."""
    seen = {
        (item.from_dataset_id, item.to_dataset_id): item
        for item in evidence
        if item.origin == OBSERVED and item.is_current(now)
    }
    declared: set[tuple[str, str]] = set()
    read_by_stages: dict[tuple[str, str], str] = {}
    for step in catalog_steps(index):
        declared.update((read, step.output) for read in step.inputs)
        stage = None if step.stage_id is None else index.stages[step.stage_id]
        inputs = () if stage is None else [dataset.dataset_id for dataset in stage.inputs]
        if stage is not None and tuple(inputs) == step.inputs:
            read_by_stages |= {(read, step.output): stage.stage_id for read in inputs}
    for (read, target), item in seen.items():
        if (read, target) not in declared:
            yield EdgeDifference(
                code="EdgeNotDeclared",
                from_dataset_id=read,
                to_dataset_id=target,
                sentence=f"{item.seen_by} read {read} to make {target}, and no row declares it.",
            )
    written = {target for _read, target in seen}
    for (read, target), stage_id in read_by_stages.items():
        if target in written and (read, target) not in seen:
            yield EdgeDifference(
                code="EdgeNotSeen",
                from_dataset_id=read,
                to_dataset_id=target,
                sentence=f"Stage {stage_id} is declared to read {read}, and no run of it did.",
            )
