"""The lineage graph: datasets, and the steps that make one dataset of others.

A step needs all of its inputs, as a join does; several steps with one output are alternatives.
Datasets and steps are numbers in plain lists: a graph of 100,000 datasets loads in a fraction of
a second and answers in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain

from goldsmith.journal.lineage_tables import EdgeEvidence

#: The cost of a step whose row has none.
DEFAULT_COST = 1.0


#: The origin of an edge that a stage or a row of `dataset_lineage` declares.
DECLARED = "declared"


@dataclass(frozen=True, kw_only=True, slots=True)
class LineageStep:
    """One way to make a dataset: a stage, or an edge between two datasets."""

    inputs: tuple[str, ...]
    output: str
    #: The stage's id or the transform's name; None: the edge has no name.
    name: str | None = None
    #: Where its evidence comes from; one origin never overwrites another.
    origins: frozenset[str] = frozenset((DECLARED,))
    cost: float = DEFAULT_COST
    latency_sec: float | None = None
    #: Something can run this step; False: it is known and shown, but never a route.
    runs: bool = True
    #: The stage whose row runs the step.
    stage_id: str | None = None


@dataclass(eq=False)
class LineageGraph:
    """Datasets and steps at one revision of the catalog; built once, then only read."""

    revision: int = 0
    names: list[str] = field(default_factory=list)
    #: Dataset id → its number.
    numbers: dict[str, int] = field(default_factory=dict)
    #: By step: its inputs, output, cost, and the step as declared (None: a plain edge).
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    declared: list[LineageStep | None] = field(default_factory=list)
    #: By dataset: the steps that write it, and the steps that read it.
    makers: list[list[int]] = field(default_factory=list)
    readers: list[list[int]] = field(default_factory=list)

    @classmethod
    def of(
        cls, steps: Iterable[LineageStep], datasets: Iterable[str] = (), revision: int = 0
    ) -> LineageGraph:
        """The graph of these steps; datasets that no step touches are part of it too."""
        graph = cls(revision=revision)
        for name in datasets:
            graph.number(name)
        for step in steps:
            graph.add(step)
        return graph

    @classmethod
    def of_edges(
        cls, edges: Iterable[tuple[str, str, float | None]], revision: int = 0
    ) -> LineageGraph:
        """The graph of plain edges (from, to, cost), without an object for each."""
        found = list(edges)
        if not found:
            return cls(revision=revision)
        # Column by column, in built-in functions: a loop over the rows takes twice as long.
        sources, targets, costs = zip(*found, strict=True)
        names = list(dict.fromkeys(chain(sources, targets)))
        numbers = dict(zip(names, range(len(names)), strict=True))
        reads = list(map(numbers.__getitem__, sources))
        outputs = list(map(numbers.__getitem__, targets))
        makers: list[list[int]] = [[] for _ in names]
        readers: list[list[int]] = [[] for _ in names]
        for step, (read, output) in enumerate(zip(reads, outputs, strict=True)):
            makers[output].append(step)
            readers[read].append(step)
        return cls(
            revision=revision,
            names=names,
            numbers=numbers,
            inputs=list(zip(reads, strict=True)),
            outputs=outputs,
            costs=[DEFAULT_COST if cost is None else cost for cost in costs],
            declared=[None] * len(found),
            makers=makers,
            readers=readers,
        )

    def number(self, dataset: str) -> int:
        """The number of a dataset, added if it is new."""
        found = self.numbers.get(dataset)
        if found is None:
            found = self.numbers[dataset] = len(self.names)
            self.names.append(dataset)
            self.makers.append([])
            self.readers.append([])
        return found

    def add(self, step: LineageStep) -> None:
        index = len(self.inputs)
        inputs = tuple(dict.fromkeys(self.number(name) for name in step.inputs))
        output = self.number(step.output)
        self.inputs.append(inputs)
        self.outputs.append(output)
        self.costs.append(step.cost)
        self.declared.append(step)
        self.makers[output].append(index)
        for read in inputs:
            self.readers[read].append(index)

    def step(self, index: int) -> LineageStep:
        """A step by its number."""
        found = self.declared[index]
        if found is None:
            found = LineageStep(
                inputs=tuple(self.names[read] for read in self.inputs[index]),
                output=self.names[self.outputs[index]],
                cost=self.costs[index],
            )
        return found

    def steps(self) -> Iterator[LineageStep]:
        return (self.step(index) for index in range(len(self.inputs)))

    @cached_property
    def running_makers(self) -> list[list[int]]:
        """By dataset: the steps that write it and that something can run."""
        declared = self.declared
        return [
            [step for step in steps if (made := declared[step]) is None or made.runs]
            for steps in self.makers
        ]

    @cached_property
    def fed_by(self) -> list[list[int]]:
        """By dataset: the datasets that its steps read."""
        inputs = self.inputs
        return [[read for step in steps for read in inputs[step]] for steps in self.makers]

    @cached_property
    def feeds(self) -> list[list[int]]:
        """By dataset: the datasets that steps make of it."""
        outputs = self.outputs
        return [[outputs[step] for step in steps] for steps in self.readers]

    @cached_property
    def ranks(self) -> list[int] | None:
        """By dataset: its index in an order with inputs first; None if there is a cycle."""
        ready = self.by_rank
        if len(ready) < len(self.names):
            return None
        ranks = [0] * len(ready)
        for rank, number in enumerate(ready):
            ranks[number] = rank
        return ranks

    @cached_property
    def by_rank(self) -> list[int]:
        """The datasets with inputs first; those in a cycle, and behind one, are missing."""
        missing = [len(reads) for reads in self.fed_by]
        ready = [number for number, needs in enumerate(missing) if not needs]
        feeds = self.feeds
        for number in ready:
            for fed in feeds[number]:
                missing[fed] -= 1
                if not missing[fed]:
                    ready.append(fed)
        return ready

    def __contains__(self, dataset: str) -> bool:
        return dataset in self.numbers


def merge_evidence(
    steps: Iterable[LineageStep], evidence: Iterable[EdgeEvidence], now: datetime
) -> Iterator[LineageStep]:
    """The steps with the origins that confirm them, and a step for each undeclared edge.

    An edge that only another origin reported is shown, but is never a route: no row declares
    how to run it. Expired evidence is ignored.
    """
    by_edge: dict[tuple[str, str], set[str]] = {}
    for item in evidence:
        if item.is_current(now):
            edge = (item.from_dataset_id, item.to_dataset_id)
            by_edge.setdefault(edge, set()).add(item.origin)
    covered: set[tuple[str, str]] = set()
    for step in steps:
        edges = [(read, step.output) for read in step.inputs]
        covered.update(edges)
        found = [by_edge[edge] for edge in edges if edge in by_edge]
        if found:
            # A join is confirmed by an origin that saw every one of its inputs.
            seen = set.intersection(*found) if len(found) == len(edges) else set()
            step = replace(step, origins=frozenset(step.origins | seen))
        yield step
    for (source, target), origins in by_edge.items():
        if (source, target) not in covered:
            yield LineageStep(
                inputs=(source,), output=target, origins=frozenset(origins), runs=False
            )
