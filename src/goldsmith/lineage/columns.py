"""Column lineage: which columns a column is made of, and which columns it feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Column = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnStep:
    """One column that decides the values of another."""

    from_dataset_id: str
    from_column: str
    to_dataset_id: str
    to_column: str
    #: identity, cast, expression, aggregate, window, filter, join, group, sort; None: not known.
    kind: str | None = None
    expression: str | None = None

    @property
    def source(self) -> Column:
        return self.from_dataset_id, self.from_column

    @property
    def target(self) -> Column:
        return self.to_dataset_id, self.to_column

    def as_plain(self) -> dict[str, str | None]:
        return {
            "from_dataset_id": self.from_dataset_id,
            "from_column": self.from_column,
            "to_dataset_id": self.to_dataset_id,
            "to_column": self.to_column,
            "kind": self.kind,
            "expression": self.expression,
        }


class ColumnGraph:
    """The edges between columns."""

    def __init__(self, edges: Iterable[ColumnStep]) -> None:
        self._into: dict[Column, list[ColumnStep]] = {}
        self._out_of: dict[Column, list[ColumnStep]] = {}
        for edge in edges:
            self._into.setdefault(edge.target, []).append(edge)
            self._out_of.setdefault(edge.source, []).append(edge)

    def columns_of(self, dataset: str) -> list[str]:
        """The columns of a dataset that have lineage."""
        known = [*self._into, *self._out_of]
        return sorted({column for name, column in known if name == dataset})

    def upstream(self, dataset: str, column: str, depth: int | None = None) -> list[ColumnStep]:
        """The edges that lead to a column, nearest first."""
        return _walk(self._into, (dataset, column), depth, lambda edge: edge.source)

    def downstream(self, dataset: str, column: str, depth: int | None = None) -> list[ColumnStep]:
        """The edges that lead away from a column, nearest first."""
        return _walk(self._out_of, (dataset, column), depth, lambda edge: edge.target)


def _walk(
    edges: dict[Column, list[ColumnStep]],
    start: Column,
    depth: int | None,
    other: Callable[[ColumnStep], Column],
) -> list[ColumnStep]:
    found: list[ColumnStep] = []
    seen, level, distance = {start}, [start], 0
    while level and (depth is None or distance < depth):
        distance += 1
        following = []
        for column in level:
            for edge in edges.get(column, ()):
                found.append(edge)
                reached = other(edge)
                if reached not in seen:
                    seen.add(reached)
                    following.append(reached)
        level = following
    return found
