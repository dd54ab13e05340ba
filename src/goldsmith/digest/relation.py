"""A relation: what a query gives, as columns with the root columns each comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from goldsmith.digest.values import Root, Sources, ValueKind

if TYPE_CHECKING:
    from sqlglot import exp

STAR = "*"


class OutColumn:
    """One column of a relation; a column named `*` stands for all columns of open tables."""

    __slots__ = ("ambiguous", "expression", "name", "sources", "type")

    def __init__(
        self,
        name: str,
        sources: Sources,
        expression: exp.Expr | None = None,
        type: str | None = None,
        ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = (),
    ) -> None:
        self.name = name
        self.sources = sources
        self.expression = expression
        self.type = type
        self.ambiguous = ambiguous

    def renamed(self, name: str) -> OutColumn:
        return OutColumn(name, self.sources, self.expression, self.type, self.ambiguous)


class Relation:
    """Ordered columns, and what is not known about them.

    `open` names tables of unknown shape whose columns all appear: any further column may be theirs.
    `through` are the sources any further column has, for the rows of a table function.
    """

    __slots__ = ("_by_name", "columns", "open", "read_from", "through")

    def __init__(
        self,
        columns: list[OutColumn],
        open: tuple[str, ...] = (),
        through: Sources | None = None,
    ) -> None:
        self.columns = columns
        self.open = open
        self.through = through
        #: Tables behind a temporary table, also those no column comes from.
        self.read_from: tuple[str, ...] = ()
        self._by_name: dict[str, OutColumn] | None = None

    @property
    def by_name(self) -> dict[str, OutColumn]:
        if self._by_name is None:
            self._by_name = {}
            for column in self.columns:
                if column.name != STAR:
                    self._by_name.setdefault(column.name.lower(), column)
        return self._by_name

    @property
    def known(self) -> bool:
        """Whether every column is known."""
        return not self.open and self.through is None

    def find(self, name: str) -> OutColumn | None:
        """The column of a name, also where only an open table can own it."""
        found = self.by_name.get(name.lower())
        if found is not None:
            return found
        if len(self.open) == 1:
            return OutColumn(name, {Root(self.open[0], name): ValueKind.IDENTITY})
        if self.open:
            return OutColumn(name, {}, ambiguous=((name, self.open),))
        if self.through is not None:
            return OutColumn(name, dict(self.through))
        return None

    def with_names(self, names: list[str]) -> Relation:
        """The relation with its first columns renamed, as an alias list does."""
        if not names:
            return self
        if self.through is not None and not self.columns:
            return Relation(
                [OutColumn(name, dict(self.through)) for name in names], (), self.through
            )
        if any(column.name == STAR for column in self.columns[: len(names)]):
            roots = dict.fromkeys(_roots(self.columns), ValueKind.EXPRESSION)
            return Relation([OutColumn(name, roots) for name in names])
        renamed = [column.renamed(name) for column, name in zip(self.columns, names, strict=False)]
        extra = [OutColumn(name, {}) for name in names[len(self.columns) :]]
        return Relation([*renamed, *extra, *self.columns[len(names) :]], self.open, self.through)


def _roots(columns: Iterable[OutColumn]) -> Iterator[Root]:
    for column in columns:
        yield from column.sources


def base_table(name: str, shape: dict[str, Any] | None) -> Relation:
    """The relation of a table outside the statement."""
    if shape is None:
        return Relation([OutColumn(STAR, {Root(name, STAR): ValueKind.IDENTITY})], (name,))
    identity = ValueKind.IDENTITY
    return Relation(
        [
            OutColumn(column, {Root(name, column): identity}, type=str(kind) if kind else None)
            for column, kind in shape.items()
        ]
    )


def merged(left: Sources, right: Sources) -> Sources:
    """Both sources; a root in both keeps the larger kind."""
    if not right:
        return left
    if not left:
        return right
    found = dict(left)
    for root, kind in right.items():
        before = found.get(root)
        if before is None or kind > before:
            found[root] = kind
    return found


def raised(sources: Sources, kind: ValueKind) -> Sources:
    """The sources with at least this kind."""
    if kind is ValueKind.IDENTITY:
        return sources
    return {root: kind if kind > before else before for root, before in sources.items()}


def united(relations: list[Relation], *, by_name: bool = False) -> Relation:
    """A set operation: columns merged by position, or by name; names of the first."""
    first = relations[0]
    opened = tuple(dict.fromkeys(name for relation in relations for name in relation.open))
    stars = any(column.name == STAR for relation in relations for column in relation.columns)
    if by_name or stars:
        return _united_by_name(relations, opened)
    columns: list[OutColumn] = []
    for index, column in enumerate(first.columns):
        sources = dict(column.sources)
        ambiguous = column.ambiguous
        for other in relations[1:]:
            if index < len(other.columns):
                more = other.columns[index]
                for root, kind in more.sources.items():
                    if sources.get(root, -1) < kind:
                        sources[root] = kind
                ambiguous += more.ambiguous
        columns.append(OutColumn(column.name, sources, column.expression, column.type, ambiguous))
    return Relation(columns, opened)


def _united_by_name(relations: list[Relation], opened: tuple[str, ...]) -> Relation:
    columns: dict[str, OutColumn] = {}
    for relation in relations:
        for column in relation.columns:
            before = columns.get(column.name.lower())
            if before is None:
                columns[column.name.lower()] = column
            else:
                sources = merged(before.sources, column.sources)
                ambiguous = before.ambiguous + column.ambiguous
                columns[column.name.lower()] = OutColumn(
                    before.name, sources, before.expression, before.type, ambiguous
                )
    return Relation(list(columns.values()), opened)
