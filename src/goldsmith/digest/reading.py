"""What is known while one statement is read, and what has been found in it so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.digest.names import Naming
from goldsmith.digest.relation import Relation, base_table
from goldsmith.digest.values import Root, RuleSuggestion, Sources

Shapes = Mapping[str, Mapping[str, Any]]


class StatementReading:
    """The surroundings of a statement, and the tables and columns it uses."""

    __slots__ = (
        "aggregates",
        "ambiguous",
        "dialect",
        "indirect",
        "joins",
        "mentioned",
        "naming",
        "reads",
        "rules",
        "shapes",
        "temps",
        "text",
        "unknown_shape",
        "writes",
    )

    def __init__(
        self,
        naming: Naming,
        shapes: Mapping[str, dict[str, Any]],
        temps: Mapping[str, Relation],
        text: str = "",
    ) -> None:
        self.naming = naming
        self.dialect = naming.dialect
        self.shapes = shapes
        self.temps = temps
        self.text = text
        self.reads: dict[str, None] = {}
        self.mentioned: dict[str, None] = {}
        #: Tables that common table expressions write.
        self.writes: dict[str, None] = {}
        self.indirect: dict[str, dict[Root, None]] = {}
        self.rules: list[RuleSuggestion] = []
        self.ambiguous = False
        self.unknown_shape = False
        self.aggregates = False
        self.joins = False

    def table(self, name: str) -> Relation:
        """Read a table: a temporary one is looked through to the tables behind it."""
        temp = self.temps.get(name.lower())
        if temp is not None:
            for table in temp.read_from:
                self.reads[table] = None
            return temp
        self.reads[name] = None
        shape = self.shapes.get(name.lower())
        if shape is None:
            self.unknown_shape = True
        return base_table(name, shape)

    def use(self, kind: str, sources: Sources) -> None:
        """Note columns that decide which rows appear."""
        found = self.indirect.setdefault(kind, {})
        for root in sources:
            found[root] = None
