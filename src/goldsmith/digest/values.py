"""The values a digest consists of: column sources, statements and the whole answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple


class ValueKind(IntEnum):
    """How a source column becomes part of a value; the larger kind wins when steps follow."""

    IDENTITY = 0
    CAST = 1
    EXPRESSION = 2
    AGGREGATE = 3
    WINDOW = 4

    @property
    def text(self) -> str:
        return self.name.lower()


class EvidenceClass(StrEnum):
    """What an answer rests on."""

    ALL_SHAPES = "parsed, all shapes known"
    UNAMBIGUOUS = "parsed, nothing ambiguous"
    AMBIGUOUS = "parsed with ambiguity"
    OTHER_DIALECT = "parsed in another dialect"
    TOKENS = "read from tokens"
    DECLARED = "declared by the log"
    NONE = "not read"


class Root(NamedTuple):
    """A column of a table outside the statement."""

    table: str
    column: str


#: The columns a value comes from, each with the kind of its contribution.
Sources = dict[Root, ValueKind]

#: Uses of a column that decide which rows or groups appear, not their values.
INDIRECT = ("filter", "join", "group", "sort")


@dataclass(slots=True)
class ColumnEdge:
    """One written (or, without a table, selected) column and the columns it comes from."""

    table: str | None
    column: str
    sources: Sources
    #: The expression as text, or as a tree with its dialect until the text is wanted.
    expression: Any = None
    type: str | None = None
    #: Candidates of names that several tables could own.
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleSuggestion:
    """A check that a clause of the SQL suggests."""

    dataset: str
    check: Mapping[str, Any]
    clause: str


@dataclass(slots=True)
class StatementDigest:
    """What one statement reads and writes."""

    verb: str = ""
    upstream: list[str] = field(default_factory=list)
    downstream: list[str] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    columns: list[ColumnEdge] = field(default_factory=list)
    #: Filter, join, group and sort columns.
    indirect: dict[str, list[Root]] = field(default_factory=dict)
    #: Tables named but not read: those of unused common table expressions.
    mentioned: list[str] = field(default_factory=list)
    evidence: EvidenceClass = EvidenceClass.NONE
    error: str | None = None
    notes: list[str] = field(default_factory=list)
    rules: list[RuleSuggestion] = field(default_factory=list)
    #: The query that fills the target, as a tree, for the rules it implies.
    filled_by: Any = None
    sql: str = ""
    line: int = 1
    file: str | None = None
    #: True if the statement has a verb that moves data.
    moves_data: bool = False
    #: True where all a statement does is copy the structure of another table.
    structure_only: bool = False
    #: Column types of written tables, by table and column.
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    #: Words for how the target is written: append, overwrite, merge, update, delete, view.
    write: str | None = None
    temporary: bool = False
    #: True if the query has aggregates or GROUP BY; true if it joins.
    aggregates: bool = False
    joins: bool = False


@dataclass(slots=True)
class Digest:
    """What a script or log reads and writes as a whole."""

    statements: list[StatementDigest]
    upstream: list[str]
    downstream: list[str]
    edges: list[tuple[str, str]]
    columns: list[ColumnEdge]

    @property
    def errors(self) -> list[StatementDigest]:
        return [statement for statement in self.statements if statement.error]

    def datasets(self) -> list[str]:
        """Every dataset, each once, in order of appearance."""
        return list(dict.fromkeys(self._named()))

    def _named(self) -> Iterator[str]:
        for statement in self.statements:
            yield from statement.upstream
            yield from statement.downstream
        yield from self.upstream
        yield from self.downstream
