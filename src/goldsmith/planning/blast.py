"""The blast radius: what a stop would reach, before anybody says yes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goldsmith.catalog.edges import Edge
from goldsmith.catalog.flags import Flag, FlagScope
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.planning.stops import Stops
from goldsmith.planning.survey import Survey


@dataclass(eq=False, kw_only=True)
class NothingToStop(GoldsmithError):
    """Something to stop or release that is not in the catalog."""

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
class Radius:
    """What a stop reaches."""

    #: Stages it stops, and the ones that read what those write, near ones first.
    stages: tuple[str, ...]
    downstream: tuple[str, ...]
    #: Datasets that get no new rows.
    datasets: tuple[str, ...]
    owners: tuple[str, ...]
    #: Pipelines that promise how old their data may get, in minutes.
    slas: Mapping[str, int]

    def as_plain(self) -> dict[str, Any]:
        return {
            "stages": list(self.stages),
            "downstream_stages": list(self.downstream),
            "datasets": list(self.datasets),
            "owners": list(self.owners),
            "sla_minutes": dict(self.slas),
        }


def entity(survey: Survey, said: str) -> tuple[str, str]:
    """The `entity_type` and `entity_id` of what somebody names; a bare word is a pipeline."""
    if said in ("everything", "everything:*"):
        return FlagScope.EVERYTHING.value, "*"
    rows = survey.rows
    known = {
        FlagScope.PIPELINE: rows.pipeline_ids,
        FlagScope.STAGE: frozenset(survey.stages),
        FlagScope.SOURCE: rows.dataset_ids,
        FlagScope.TARGET: rows.dataset_ids,
    }
    scope, _, name = said.partition(":")
    if scope in known and name in known[FlagScope(scope)]:
        return scope, name
    if said in rows.pipeline_ids:
        return FlagScope.PIPELINE.value, said
    ids = tuple(sorted(known[FlagScope(scope)])) if scope in known else tuple(rows.pipeline_ids)
    names = tuple(f"{scope}:{one}" for one in ids) if scope in known else ids
    raise NothingToStop(entity=said, known=names)


def radius(survey: Survey, flags: Iterable[Flag], now: datetime) -> Radius:
    """What these flags reach, by what stages read and by the edges that are declared."""
    stops = Stops.of(flags, now)
    stopped = [name for name in survey.order if stops.by_flag(survey.stages[name]) is not None]
    reached = dict.fromkeys(stopped)
    for name in survey.order:
        if any(earlier in reached for earlier in survey.upstream[name]):
            reached[name] = None
    datasets = dict.fromkeys(
        str(target) for name in reached if (target := survey.stages[name].stage.target_id)
    )
    for dataset in _by_edges(survey, datasets):
        datasets[dataset] = None
    pipelines = [
        pipeline
        for name in dict.fromkeys(survey.stages[stage].stage.pipeline_id for stage in reached)
        if (pipeline := survey.rows.get(Pipeline, name)) is not None
    ]
    return Radius(
        stages=tuple(stopped),
        downstream=tuple(name for name in reached if name not in set(stopped)),
        datasets=tuple(datasets),
        owners=tuple(sorted({p.owner for p in pipelines if p.owner})),
        slas={p.pipeline_id: p.sla_minutes for p in pipelines if p.sla_minutes is not None},
    )


def _by_edges(survey: Survey, datasets: Iterable[str]) -> list[str]:
    """Datasets fed, by declared edges, from these; nobody here may run the edge at all."""
    feeds: dict[str, list[str]] = {}
    for edge in survey.rows.rows(Edge):
        feeds.setdefault(edge.from_dataset_id, []).append(edge.to_dataset_id)
    found: dict[str, None] = {}
    waiting = list(datasets)
    while waiting:
        for fed in feeds.get(waiting.pop(), ()):
            if fed not in found:
                found[fed] = None
                waiting.append(fed)
    return list(found)
