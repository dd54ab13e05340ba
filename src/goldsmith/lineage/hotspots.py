"""Hotspots: the datasets that most others depend on, and those that nothing can replace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from goldsmith.lineage.graph import LineageGraph
from goldsmith.lineage.walk import impact, reached

#: The value of a dataset, by the criticality of the pipelines that write it.
CRITICALITY_VALUE: Mapping[str, float] = {"critical": 10.0, "normal": 3.0, "low": 1.0}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hotspot:
    """One dataset and its dependants."""

    dataset: str
    #: How many datasets depend on it, and the sum of their values.
    dependants: int
    value: float
    #: How many of them cannot be made at all without it.
    lost_without: int

    @property
    def is_single_point(self) -> bool:
        """Some dataset downstream has no path that avoids this one."""
        return self.lost_without > 0

    def as_plain(self) -> dict[str, object]:
        return {
            "dataset_id": self.dataset,
            "dependants": self.dependants,
            "value": self.value,
            "lost_without": self.lost_without,
            "single_point_of_failure": self.is_single_point,
        }


def hotspots(
    graph: LineageGraph,
    *,
    values: Mapping[str, float] | None = None,
    most: int = 20,
    only: Collection[str] | None = None,
) -> list[Hotspot]:
    """The datasets with the most valuable dependants, most valuable first.

    All datasets are ranked by dependants; the loss is computed only for the first `most`.
    """
    worth = values or {}
    by_number = [worth.get(name, 1.0) for name in graph.names]
    ranked: list[tuple[float, int, str]] = []
    for name, number in graph.numbers.items():
        if (only is not None and name not in only) or not graph.readers[number]:
            continue
        below = [fed for level in reached(graph.feeds, number) for fed in level]
        ranked.append((-sum(map(by_number.__getitem__, below)), -len(below), name))
    ranked.sort()
    return [
        Hotspot(
            dataset=name,
            dependants=-dependants,
            value=-value,
            lost_without=len(impact(graph, name).lost),
        )
        for value, dependants, name in ranked[:most]
    ]
