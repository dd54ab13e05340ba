"""Cycles of the lineage graph, and the acyclic graph that path search works on."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goldsmith.lineage.graph import LineageGraph

#: By dataset: the steps that write it.
Makers = Sequence[Sequence[int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Condensed:
    """The steps of a cyclic part that path search may use, and the cycles themselves."""

    #: Datasets that feed each other, each cycle sorted by name.
    cycles: tuple[tuple[str, ...], ...]
    #: The steps that lead back into a cycle; no path uses them.
    left_out: frozenset[int]


def condense(
    graph: LineageGraph, members: Iterable[int], makers: Makers | None = None
) -> Condensed:
    """Find the cycles among these datasets and leave out the steps that lead back.

    Inside a cycle a step stays if each of its inputs can be had for less than its output, so
    every cheapest path stays possible. All other steps stay.
    """
    chosen = set(members)
    makers = graph.makers if makers is None else makers
    components = _components(graph, chosen, makers)
    by_number: dict[int, int] = {}
    cycles: list[tuple[str, ...]] = []
    for component in components:
        if len(component) > 1 or _feeds_itself(graph, component[0], makers):
            for number in component:
                by_number[number] = len(cycles)
            cycles.append(tuple(sorted(graph.names[number] for number in component)))
    if not cycles:
        return Condensed(cycles=(), left_out=frozenset())
    settled = _settled(graph, chosen, makers)
    left_out = frozenset(
        step
        for number in by_number
        for step in makers[number]
        if any(
            by_number.get(read) == by_number[number]
            and settled.get(read, len(settled)) >= settled.get(number, len(settled))
            for read in graph.inputs[step]
        )
    )
    return Condensed(cycles=tuple(sorted(cycles)), left_out=left_out)


def _feeds_itself(graph: LineageGraph, number: int, makers: Makers) -> bool:
    return any(number in graph.inputs[step] for step in makers[number])


def _settled(graph: LineageGraph, chosen: set[int], makers: Makers) -> Mapping[int, int]:
    """The order in which datasets become available, cheapest first (Knuth 1977)."""
    order: dict[int, int] = {}
    missing: dict[int, int] = {}
    spent: dict[int, float] = {}
    waiting = [(0.0, number) for number in chosen if not makers[number]]
    heapq.heapify(waiting)
    while waiting:
        cost, number = heapq.heappop(waiting)
        if number in order:
            continue
        order[number] = len(order)
        for step in graph.readers[number]:
            output = graph.outputs[step]
            if output not in chosen or step not in makers[output]:
                continue
            missing[step] = missing.get(step, len(graph.inputs[step])) - 1
            spent[step] = spent.get(step, graph.costs[step]) + cost
            if missing[step] == 0:
                heapq.heappush(waiting, (spent[step], output))
    return order


def _components(graph: LineageGraph, chosen: set[int], makers: Makers) -> list[list[int]]:
    """The strongly connected components among these datasets (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in chosen:
        if root in index:
            continue
        work = [(root, _inputs_of(graph, root, makers))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            number, following = work[-1]
            pushed = False
            for read in following:
                if read not in chosen:
                    continue
                if read not in index:
                    index[read] = low[read] = len(index)
                    stack.append(read)
                    on_stack.add(read)
                    work.append((read, _inputs_of(graph, read, makers)))
                    pushed = True
                    break
                if read in on_stack:
                    low[number] = min(low[number], index[read])
            if pushed:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[number])
            if low[number] == index[number]:
                component = []
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    component.append(member)
                    if member == number:
                        break
                found.append(component)
    return found


def _inputs_of(graph: LineageGraph, number: int, makers: Makers) -> Iterator[int]:
    return (read for step in makers[number] for read in graph.inputs[step])


def inputs_first(
    graph: LineageGraph, members: Iterable[int], makers: Makers, left_out: Collection[int]
) -> list[int]:
    """These datasets in an order with inputs first, by the steps that are not left out."""
    chosen = set(members)
    missing = dict.fromkeys(chosen, 0)
    feeds: dict[int, list[int]] = {}
    for number in chosen:
        for step in makers[number]:
            if step not in left_out:
                for read in graph.inputs[step]:
                    missing[number] += 1
                    feeds.setdefault(read, []).append(number)
    order = [number for number, needs in missing.items() if not needs]
    for number in order:
        for fed in feeds.get(number, ()):
            missing[fed] -= 1
            if not missing[fed]:
                order.append(fed)
    return order
