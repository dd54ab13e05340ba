"""The blast radius: the stages, datasets and owners a stop would affect, shown before it is set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goldsmith.catalog.edges import Edge
from goldsmith.catalog.flags import Flag, FlagScope
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.stopped import Stops


@dataclass(eq=False, kw_only=True)
class NothingToStop(GoldsmithError):
    """The thing to stop or release is not in the catalog."""

    entity: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"There is no '{self.entity}' to stop or release."

    @property
    def hint(self) -> str:
        guess = nearest(self.entity, self.known)
        meant = f"Did you mean '{guess}'? " if guess else ""
        some = f"There are: {one_of(self.known)}. " if self.known else ""
        return f"{meant}{some}Say everything, pipeline:ID, stage:ID-ORDER, source:ID or target:ID."


@dataclass(frozen=True, kw_only=True, slots=True)
class BlastRadius:
    """What a stop affects."""

    #: The stages it stops, and the stages downstream of them, both in the order they run.
    stages: tuple[str, ...]
    downstream: tuple[str, ...]
    #: Datasets that get no new rows.
    datasets: tuple[str, ...]
    owners: tuple[str, ...]
    #: `sla_minutes` of the pipelines that have one: how old their data may get.
    slas: Mapping[str, int]

    def as_plain(self) -> dict[str, Any]:
        return {
            "stages": list(self.stages),
            "downstream_stages": list(self.downstream),
            "datasets": list(self.datasets),
            "owners": list(self.owners),
            "sla_minutes": dict(self.slas),
        }


def entity(catalog_index: CatalogIndex, text: str) -> tuple[str, str]:
    """Parse `everything`, `pipeline:ID`, `stage:ID` … into `entity_type` and `entity_id`.

    A text without a type is a pipeline.
    """
    if text in ("everything", "everything:*"):
        return FlagScope.EVERYTHING.value, "*"
    rows = catalog_index.rows
    known = {
        FlagScope.PIPELINE: rows.pipeline_ids,
        FlagScope.STAGE: frozenset(catalog_index.stages),
        FlagScope.SOURCE: rows.dataset_ids,
        FlagScope.TARGET: rows.dataset_ids,
    }
    scope, _, name = text.partition(":")
    if scope in known and name in known[FlagScope(scope)]:
        return scope, name
    if text in rows.pipeline_ids:
        return FlagScope.PIPELINE.value, text
    ids = tuple(sorted(known[FlagScope(scope)])) if scope in known else tuple(rows.pipeline_ids)
    names = tuple(f"{scope}:{id_}" for id_ in ids) if scope in known else ids
    raise NothingToStop(entity=text, known=names)


def blast_radius_of(
    catalog_index: CatalogIndex, flags: Iterable[Flag], now: datetime
) -> BlastRadius:
    """What these flags affect, through the inputs of stages and the declared lineage edges."""
    stops = Stops.of(flags, now)
    stopped = [
        name
        for name in catalog_index.order
        if stops.by_flag(catalog_index.stages[name]) is not None
    ]
    reached = dict.fromkeys(stopped)
    for name in catalog_index.order:
        if any(earlier in reached for earlier in catalog_index.upstream[name]):
            reached[name] = None
    datasets = dict.fromkeys(
        str(target) for name in reached if (target := catalog_index.stages[name].stage.target_id)
    )
    for dataset in _by_edges(catalog_index, datasets):
        datasets[dataset] = None
    pipelines = [
        pipeline
        for name in dict.fromkeys(
            catalog_index.stages[stage].stage.pipeline_id for stage in reached
        )
        if (pipeline := catalog_index.rows.get(Pipeline, name)) is not None
    ]
    return BlastRadius(
        stages=tuple(stopped),
        downstream=tuple(name for name in reached if name not in set(stopped)),
        datasets=tuple(datasets),
        owners=tuple(sorted({p.owner for p in pipelines if p.owner})),
        slas={p.pipeline_id: p.sla_minutes for p in pipelines if p.sla_minutes is not None},
    )


def _by_edges(catalog_index: CatalogIndex, datasets: Iterable[str]) -> list[str]:
    """The datasets downstream of these by declared edges, which need not belong to any stage."""
    feeds: dict[str, list[str]] = {}
    for edge in catalog_index.rows.rows(Edge):
        feeds.setdefault(edge.from_dataset_id, []).append(edge.to_dataset_id)
    found: dict[str, None] = {}
    waiting = list(datasets)
    while waiting:
        for fed in feeds.get(waiting.pop(), ()):
            if fed not in found:
                found[fed] = None
                waiting.append(fed)
    return list(found)
