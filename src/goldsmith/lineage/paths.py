"""The paths to obtain a dataset: how many there are, and the cheapest of them.

A path starts at datasets that no step makes. A step needs all of its inputs, so a path is a tree of
steps; without joins it is a chain. The number of paths is exact; the list is cut by cost.
Lists of the cheapest paths are made lazily, dataset by dataset (Huang and Chiang 2005).
"""

from __future__ import annotations

import heapq
import math
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from weakref import WeakKeyDictionary

from goldsmith.lineage.cycles import condense, inputs_first
from goldsmith.lineage.graph import LineageGraph, LineageStep
from goldsmith.lineage.walk import number_of, reached


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """One path to obtain a dataset."""

    cost: float
    #: The steps in the order they run.
    steps: tuple[LineageStep, ...]
    #: The datasets it starts at.
    starts: tuple[str, ...]
    #: Every dataset on the path, origins first, the wanted dataset last.
    datasets: tuple[str, ...]

    @property
    def sequence(self) -> str:
        """The datasets as a comma list, as `dataset_recovery_paths.path_sequence` has them."""
        return ",".join(self.datasets)

    @property
    def latency_sec(self) -> float | None:
        """The time of the slowest chain of steps; None if a step's time is not known."""
        ready: dict[str, float] = {}
        for step in self.steps:
            if step.latency_sec is None:
                return None
            begins = max((ready.get(read, 0.0) for read in step.inputs), default=0.0)
            ready[step.output] = begins + step.latency_sec
        return ready.get(self.datasets[-1], 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Paths:
    """The paths to one dataset."""

    dataset: str
    #: How many paths there are.
    count: int
    #: The cheapest of them, cheapest first.
    cheapest: tuple[Path, ...]
    #: Cycles upstream; the steps that lead back into one are part of no path.
    cycles: tuple[tuple[str, ...], ...] = ()

    @property
    def is_cut(self) -> bool:
        return self.count > len(self.cheapest)


def find_paths(
    graph: LineageGraph,
    dataset: str,
    *,
    most: int = 10,
    forbidden: Collection[str] = (),
    only_running: bool = False,
) -> Paths:
    """Count the paths to a dataset and list the cheapest.

    No path uses a forbidden dataset, save the wanted dataset itself. With `only_running` every
    step of a path must be one that something can run.
    """
    target = number_of(graph, dataset)
    closed = {graph.numbers[name] for name in forbidden if name in graph.numbers} - {target}
    makers = graph.running_makers if only_running else graph.makers
    if not closed and graph.ranks is not None and makers[target]:
        known = _whole(graph, makers, only_running=only_running)
        if known is not None:
            search = _Search(graph, (), makers, frozenset(), known)
            listed = search.cheapest(target, most)
            return Paths(dataset=dataset, count=search.counts[target], cheapest=listed)
    members = [target, *chain.from_iterable(reached(graph.fed_by, target))]
    condensed = None
    if graph.ranks is not None:
        by_rank = graph.by_rank
        order = [by_rank[rank] for rank in sorted(map(graph.ranks.__getitem__, members))]
    else:
        condensed = condense(graph, members, makers)
        order = inputs_first(graph, members, makers, condensed.left_out)
    cycles = () if condensed is None else condensed.cycles
    if not makers[target]:
        return Paths(dataset=dataset, count=0, cheapest=(), cycles=cycles)
    left_out = frozenset[int]() if condensed is None else condensed.left_out
    search = _Search(graph, closed, makers, left_out)
    search.run(order)
    listed = search.cheapest(target, most)
    return Paths(dataset=dataset, count=search.counts[target], cheapest=listed, cycles=cycles)


#: By graph: the counts and least costs of all datasets, once a second question was asked.
_Known = tuple[list[int], list[float]]
_KNOWN: WeakKeyDictionary[LineageGraph, dict[bool, _Known | None]] = WeakKeyDictionary()


def _whole(
    graph: LineageGraph, makers: Sequence[Sequence[int]], *, only_running: bool
) -> _Known | None:
    """The counts and least costs of all datasets; None when a graph is asked for the first time.

    One question reads only the datasets upstream. A service asks the same graph often.
    """
    known = _KNOWN.setdefault(graph, {})
    if only_running not in known:
        known[only_running] = None
        return None
    found = known[only_running]
    if found is None:
        search = _Search(graph, (), makers, frozenset())
        search.run(graph.by_rank)
        found = known[only_running] = search.counts, search.costs
    return found


def cheapest_of_all(graph: LineageGraph, *, most: int) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """The cheapest paths to every dataset that some step makes, with lists shared between them."""
    makers = graph.makers
    left_out = frozenset[int]()
    if graph.ranks is not None:
        order: Sequence[int] = graph.by_rank
    else:
        members = range(len(graph.names))
        left_out = condense(graph, members, makers).left_out
        order = inputs_first(graph, members, makers, left_out)
    search = _Search(graph, (), makers, left_out)
    search.run(order)
    for number in order:
        if makers[number]:
            yield graph.names[number], search.cheapest(number, most)


#: One path to a dataset: its cost, its last step, and which path of each input it uses.
_Way = tuple[float, int, tuple[int, ...]]


class _Search:
    """The search for the paths to one dataset, or to all."""

    def __init__(
        self,
        graph: LineageGraph,
        closed: Collection[int],
        makers: Sequence[Sequence[int]],
        left_out: frozenset[int],
        known: _Known | None = None,
    ) -> None:
        self.graph = graph
        self.closed = closed
        #: By dataset: the steps that may be part of a path.
        self.makers = makers
        self.left_out = left_out
        #: By dataset: the exact number of paths, and the cost of the cheapest.
        if known is None:
            known = [0] * len(graph.names), [math.inf] * len(graph.names)
        self.counts, self.costs = known
        self._listed: dict[int, list[_Way]] = {}
        self._waiting: dict[int, list[_Way]] = {}
        self._offered: dict[int, set[tuple[int, tuple[int, ...]]]] = {}

    def run(self, order: Sequence[int]) -> None:
        """Count paths and find least costs, inputs before outputs."""
        inputs, step_costs, makers = self.graph.inputs, self.graph.costs, self.makers
        counts, costs, left_out = self.counts, self.costs, self.left_out
        for number in order:
            if number in self.closed:
                continue
            steps = makers[number]
            if not steps:
                counts[number], costs[number] = 1, 0.0
                continue
            ways, least = 0, math.inf
            for step in steps:
                reads = inputs[step]
                if len(reads) == 1:
                    number_of_ways = counts[reads[0]]
                    if not number_of_ways:
                        continue
                    cost = step_costs[step] + costs[reads[0]]
                else:
                    number_of_ways = math.prod([counts[read] for read in reads])
                    cost = step_costs[step] + sum([costs[read] for read in reads])
                if number_of_ways and (not left_out or step not in left_out):
                    ways += number_of_ways
                    if cost < least:
                        least = cost
            counts[number], costs[number] = ways, least

    def cheapest(self, target: int, most: int) -> tuple[Path, ...]:
        """The cheapest paths to a dataset, cheapest first."""
        # Each dataset upstream takes two nested calls; these calls take no C stack.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 4 * len(self.counts) + 1_000))
        found = []
        for index in range(most):
            if not self._list(target, index):
                break
            found.append(self._path(target, index))
        return tuple(found)

    def _list(self, number: int, index: int) -> bool:
        """List the paths of a dataset up to this index; False if there are not so many."""
        if not self.makers[number]:
            return index == 0 and number not in self.closed
        listed = self._listed.setdefault(number, [])
        if number not in self._waiting:
            self._waiting[number] = self._first_ways(number)
            self._offered[number] = {(step, which) for _c, step, which in self._waiting[number]}
        waiting = self._waiting[number]
        while len(listed) <= index:
            if listed:
                self._offer_next(number, listed[-1])
            if not waiting:
                return False
            listed.append(heapq.heappop(waiting))
        return True

    def _first_ways(self, number: int) -> list[_Way]:
        """The cheapest path through each step."""
        graph, ways = self.graph, []
        for step in self.makers[number]:
            inputs = graph.inputs[step]
            if step not in self.left_out and all(self.counts[read] for read in inputs):
                cost = graph.costs[step] + sum(self.costs[read] for read in inputs)
                ways.append((cost, step, (0,) * len(inputs)))
        heapq.heapify(ways)
        return ways

    def _offer_next(self, number: int, way: _Way) -> None:
        """Offer the paths that differ from this one in the next path of one input."""
        cost, step, which = way
        offered = self._offered[number]
        for position, read in enumerate(self.graph.inputs[step]):
            following = (*which[:position], which[position] + 1, *which[position + 1 :])
            if (step, following) in offered:
                continue
            if self._list(read, which[position] + 1):
                more = self._cost(read, following[position]) - self._cost(read, which[position])
                offered.add((step, following))
                heapq.heappush(self._waiting[number], (cost + more, step, following))

    def _cost(self, number: int, index: int) -> float:
        listed = self._listed.get(number)
        return listed[index][0] if listed else self.costs[number]

    def _path(self, target: int, index: int) -> Path:
        steps: dict[int, None] = {}
        datasets: dict[int, None] = {}
        starts: dict[int, None] = {}
        waiting: list[tuple[int, int, bool]] = [(target, index, False)]
        while waiting:
            number, which, done = waiting.pop()
            if not self.makers[number]:
                starts[number] = None
                datasets[number] = None
                continue
            self._list(number, which)
            _cost, step, inner = self._listed[number][which]
            if done:
                steps[step] = None
                datasets[number] = None
                continue
            waiting.append((number, which, True))
            pairs = list(zip(self.graph.inputs[step], inner, strict=True))
            waiting.extend((read, way, False) for read, way in reversed(pairs))
        names = self.graph.names
        return Path(
            cost=self._listed[target][index][0],
            steps=tuple(self.graph.step(step) for step in steps),
            starts=tuple(names[number] for number in starts),
            datasets=tuple(names[number] for number in datasets),
        )
