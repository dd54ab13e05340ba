"""Detours: the cheapest healthy path to a stage's target while its source is down.

A detour ends with the target's own stage, which reads another dataset along a lineage edge. If
stages make that dataset, they run first. No step of a detour may write rows twice, be stopped, or
read a dataset that is down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from goldsmith.catalog.edges import Edge, RecoveryPath
from goldsmith.lineage.graph import DEFAULT_COST, LineageGraph, LineageStep
from goldsmith.lineage.paths import Path, find_paths
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.lineage_graph import edge_step, stage_step
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.routes import route_context, why_it_would_double
from goldsmith.planning.stage_context import Dataset, StageContext, dataset_of
from goldsmith.planning.stopped import why_stopped

#: Why a dataset cannot be read right now; None: it can.
IsDown = Callable[[Dataset], str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Detour:
    """A path to a target that avoids a dataset that is down."""

    #: The target's own stage, reading the last dataset of the path.
    context: StageContext
    #: The stages that run before it, inputs first.
    before: tuple[StageContext, ...] = ()
    #: Every dataset of the path, origins first, the target last.
    datasets: tuple[str, ...]
    cost: float
    latency_sec: float | None = None

    @property
    def reads(self) -> str:
        """The dataset read in place of the source."""
        return str(self.context.stage.source_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class NoDetour:
    """No detour is healthy: the datasets that lead to the target, and why each cannot serve."""

    others: tuple[str, ...] = ()


class _Candidate(NamedTuple):
    """An edge to the target, with the stage that runs it."""

    edge: Edge
    context: StageContext
    #: The datasets a person wrote, up to the edge's own; None: any path to the edge's dataset.
    sequence: tuple[str, ...] | None = None


@dataclass
class Detours:
    """Finds detours in one catalog revision."""

    index: CatalogIndex
    is_down: IsDown
    now: datetime
    #: Stages that do not run in this plan, and why.
    held: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._edges_to: dict[str, list[Edge]] = {}
        for edge in self.index.rows.rows(Edge):
            self._edges_to.setdefault(edge.to_dataset_id, []).append(edge)

    def alternatives(self, context: StageContext) -> list[Edge]:
        """The declared edges to a stage's target from datasets that the stage does not read."""
        edges = self._edges_to.get(str(context.stage.target_id), ())
        reads = {dataset.dataset_id for dataset in context.inputs}
        return sorted(
            (edge for edge in edges if edge.from_dataset_id not in reads),
            key=lambda edge: (_cost(edge), edge.from_dataset_id),
        )

    def find(self, context: StageContext, down: str, because: str) -> Detour | NoDetour:
        """The path to the stage's target without the dataset `down`.

        Paths that rows of `dataset_recovery_paths` name come first, in the order of those rows;
        then the cheapest.
        """
        target = str(context.stage.target_id)
        candidates, refused = self._candidates(context)
        declared = list(self._declared(context, candidates))
        closed = {down: because, target: "it would be made of itself"}
        for candidate in declared:
            found = self._cheapest([candidate], closed, {})
            if found is not None:
                return found
        found = self._cheapest(candidates, closed, refused)
        if found is not None:
            return found
        return NoDetour(others=tuple(f"{name}: {why}" for name, why in refused.items()))

    def _candidates(self, context: StageContext) -> tuple[list[_Candidate], dict[str, str]]:
        """The edges that can be run, and why the others cannot."""
        candidates: list[_Candidate] = []
        refused: dict[str, str] = {}
        for edge in self.alternatives(context):
            route = route_context(self.index, edge)
            why = "nothing declares how to run this edge"
            if route is not None:
                why = self._why_not(route, context) or ""
            if route is None or why:
                refused[edge.from_dataset_id] = why
            else:
                candidates.append(_Candidate(edge, route))
        return candidates, refused

    def _why_not(self, route: StageContext, own: StageContext) -> str | None:
        """Why a stage may not read another dataset in place of its source."""
        if route.stage.key != own.stage.key:
            return f"stage {route.stage_id} writes the target first"
        doubles = why_it_would_double(own.stage, own.resolved.write_mode, own.resolved.read)
        return doubles or why_stopped(route, self.index.rows, self.now)

    def _declared(
        self, context: StageContext, candidates: Sequence[_Candidate]
    ) -> Iterator[_Candidate]:
        """The paths to the target that people wrote, in their order."""
        by_source = {candidate.edge.from_dataset_id: candidate for candidate in candidates}
        target = context.stage.target_id
        rows = [row for row in self.index.rows.rows(RecoveryPath) if row.dataset_id == target]
        for row in sorted(rows, key=lambda row: row.path_order):
            names = [name.strip() for name in (row.path_sequence or "").split(",")]
            if len(names) > 1 and names[-1] == target and names[-2] in by_source:
                yield by_source[names[-2]]._replace(sequence=tuple(names[:-1]))

    def _cheapest(
        self, candidates: Sequence[_Candidate], closed: dict[str, str], refused: dict[str, str]
    ) -> Detour | None:
        """The cheapest of the candidates whose whole path is healthy.

        Only datasets of a path that would be taken are probed; one that is down is added to
        `closed`, and the next cheapest path is tried.
        """
        waiting = list(candidates)
        while waiting:
            ways: list[tuple[float, int, Detour]] = []
            for candidate in list(waiting):
                way = self._way(candidate, closed)
                if isinstance(way, str):
                    refused[candidate.edge.from_dataset_id] = way
                    waiting.remove(candidate)
                else:
                    ways.append((way.cost, len(ways), way))
            if not ways:
                return None
            _cost_of, _position, best = min(ways, key=lambda way: way[:2])
            down = self._first_down(best, closed)
            if down is None:
                return best
            if down.dataset_id in {read.dataset_id for read in best.context.inputs[1:]}:
                # An input beside the source: no other path to the source helps.
                read = best.reads
                refused[read] = f"{down.dataset_id} is down ({closed[down.dataset_id]})"
                waiting = [c for c in waiting if c.edge.from_dataset_id != read]
        return None

    def _first_down(self, way: Detour, closed: dict[str, str]) -> Dataset | None:
        """The first dataset of a path that is down; it is added to `closed`."""
        names = dict.fromkeys(way.datasets[:-1])
        names |= dict.fromkeys(dataset.dataset_id for dataset in way.context.inputs)
        for name in names:
            dataset = dataset_of(name, self.index.rows)
            because = self.is_down(dataset)
            if because is not None:
                closed[name] = because
                return dataset
        return None

    def _way(self, candidate: _Candidate, closed: dict[str, str]) -> Detour | str:
        """The cheapest path along an edge without closed datasets; else a text: why none."""
        edge, context, sequence = candidate
        read, target = edge.from_dataset_id, edge.to_dataset_id
        if read in closed:
            return f"{read} is down ({closed[read]})"
        steps, stuck = self._steps_above(read, sequence, target)
        if read in stuck:
            return f"no stage that makes {read} may run"
        graph = LineageGraph.of(steps)
        way: Path | None = None
        if steps:
            avoided = closed.keys() | stuck
            found = find_paths(graph, read, most=1, forbidden=avoided, only_running=True)
            if not found.cheapest:
                return self._why_no_way(graph, target, closed, stuck)
            way = found.cheapest[0]
        elif sequence is not None and len(sequence) > 1:
            return f"nothing runs {','.join(sequence)}"
        datasets = (read,) if way is None else way.datasets
        made = context.with_route((*datasets, target))
        latencies = [edge.latency_sec, 0.0 if way is None else way.latency_sec]
        return Detour(
            context=made,
            before=() if way is None else tuple(steps[step] for step in way.steps),
            datasets=(*datasets, target),
            cost=_cost(edge) + (0.0 if way is None else way.cost),
            latency_sec=None if None in latencies else sum(filter(None, latencies)),
        )

    @staticmethod
    def _why_no_way(
        graph: LineageGraph, target: str, closed: dict[str, str], stuck: set[str]
    ) -> str:
        reasons = [
            f"{name} is down ({why})"
            for name, why in closed.items()
            if name in graph and name != target
        ]
        reasons += [f"no stage that makes {name} may run" for name in sorted(stuck)]
        return "; ".join(reasons) or "it is made of itself"

    def _steps_above(
        self, dataset: str, sequence: Sequence[str] | None, target: str
    ) -> tuple[dict[LineageStep, StageContext], set[str]]:
        """Every step that may run and leads to a dataset, with the stage that runs it.

        Returns also the datasets that stages make, none of which may run. With a sequence, a
        dataset of it is made only of the dataset before it there.
        """
        steps: dict[LineageStep, StageContext] = {}
        stuck: set[str] = set()
        follows = {} if sequence is None else dict(zip(sequence[1:], sequence, strict=False))
        origin = None if sequence is None else sequence[0]
        waiting, seen = [dataset], {dataset, target}
        while waiting:
            output = waiting.pop()
            if output == origin:
                continue
            has_way = not self._is_made(output)
            for step, context in self._makers(output):
                if output in follows and follows[output] not in step.inputs:
                    continue
                has_way = True
                steps[step] = context
                waiting += [read for read in step.inputs if read not in seen]
                seen.update(step.inputs)
            if not has_way:
                stuck.add(output)
        return steps, stuck

    def _is_made(self, dataset: str) -> bool:
        return any(stage.enabled for stage in self.index.rows.writers_of.get(dataset, ()))

    def _makers(self, output: str) -> Iterator[tuple[LineageStep, StageContext]]:
        """The steps that make a dataset: its stages, then its stage reading other datasets."""
        read: set[str] = set()
        for stage in self.index.rows.writers_of.get(output, ()):
            context = self.index.stages.get(stage_id(stage))
            if context is None or not stage.enabled:
                continue
            read |= {dataset.dataset_id for dataset in context.inputs}
            if self._may_run(context):
                yield stage_step(self.index, context), context
        for edge in self._edges_to.get(output, ()):
            if edge.from_dataset_id in read:
                continue
            route = route_context(self.index, edge)
            own = None if route is None else self.index.stages[route.stage_id]
            if route is not None and own is not None and self._why_not(route, own) is None:
                yield edge_step(self.index, edge), route.with_route((edge.from_dataset_id, output))

    def _may_run(self, context: StageContext) -> bool:
        return (
            context.stage_id not in self.held
            and why_stopped(context, self.index.rows, self.now) is None
        )


def _cost(edge: Edge) -> float:
    return DEFAULT_COST if edge.cost is None else edge.cost
