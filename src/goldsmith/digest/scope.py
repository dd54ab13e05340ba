"""Find the column a name means: the tables of a FROM clause, their aliases, outer queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from goldsmith.digest.relation import OutColumn, Relation, merged
from goldsmith.digest.values import Root, ValueKind

if TYPE_CHECKING:
    from sqlglot import exp


class ScopeEntry(NamedTuple):
    """One item of a FROM clause."""

    alias: str
    #: The full name, lower case, for references like `db.table.column`; empty for subqueries.
    full: str
    name: str
    relation: Relation


class Scope:
    """The columns that can be named at one point of a query."""

    __slots__ = ("aliases", "bound", "entries", "joined", "parent", "windows")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.entries: list[ScopeEntry] = []
        #: Columns merged by USING or NATURAL.
        self.joined: dict[str, OutColumn] = {}
        #: Columns of the select list so far, for dialects with lateral aliases.
        self.aliases: dict[str, OutColumn] = {}
        #: Names bound by a lambda.
        self.bound: frozenset[str] = frozenset()
        #: The named windows of the query.
        self.windows: dict[str, exp.Expr] = {}

    def add(self, alias: str, full: str, relation: Relation) -> None:
        self.entries.append(ScopeEntry(alias.lower(), full.lower(), full, relation))

    def qualified(self, qualifier: str, name: str) -> OutColumn | None:
        """The column of a named table; None if no table here has that name."""
        wanted = qualifier.lower()
        short = wanted.rpartition(".")[2]
        entry = self._named(wanted, short)
        if entry is not None:
            column = entry.relation.find(name)
            if column is None and entry.full:
                # The shape is older than the table: a qualified column is still its own.
                column = OutColumn(name, {Root(entry.name, name): ValueKind.IDENTITY})
            return column or OutColumn(name, {})
        return self.parent.qualified(qualifier, name) if self.parent else None

    def _named(self, wanted: str, short: str) -> ScopeEntry | None:
        """The entry a qualifier names: by alias, by full name, by the end of either."""
        for entry in self.entries:
            if entry.alias == wanted:
                return entry
        for entry in self.entries:
            if entry.full == wanted or entry.full.endswith("." + wanted):
                return entry
        if "." in wanted:
            for entry in self.entries:
                if entry.alias == short and (not entry.full or wanted.endswith(entry.full)):
                    return entry
        return None

    def bare(self, name: str) -> OutColumn | None:
        """The column of an unqualified name; several candidates give an ambiguous column."""
        key = name.lower()
        if key in self.bound:
            return OutColumn(name, {})
        if key in self.joined:
            return self.joined[key]
        certain = [entry for entry in self.entries if key in entry.relation.by_name]
        if len(certain) == 1:
            return certain[0].relation.by_name[key]
        if len(certain) > 1:
            columns = [entry.relation.by_name[key] for entry in certain]
            if all(column.sources == columns[0].sources for column in columns):
                return columns[0]
            tables = tuple(dict.fromkeys(root.table for c in columns for root in c.sources))
            return OutColumn(name, {}, ambiguous=((name, tables),))
        if key in self.aliases:
            return self.aliases[key]
        if self.parent is not None and any(e.relation.known for e in self.entries):
            outer = self.parent.certain(key)
            if outer is not None:
                return outer
        opened = [entry for entry in self.entries if entry.relation.open]
        if len(opened) == 1:
            return opened[0].relation.find(name)
        if opened:
            tables = tuple(dict.fromkeys(table for e in opened for table in e.relation.open))
            if len(tables) == 1:
                return opened[0].relation.find(name)
            return OutColumn(name, {}, ambiguous=((name, tables),))
        through = [entry for entry in self.entries if entry.relation.through is not None]
        if len(through) == 1:
            return through[0].relation.find(name)
        if self.parent is not None:
            return self.parent.bare(name)
        return None

    def window(self, name: str) -> exp.Expr | None:
        """The named window, of this query or one around it."""
        found = self.windows.get(name.lower())
        return found or (self.parent.window(name) if self.parent else None)

    def certain(self, key: str) -> OutColumn | None:
        """The column if a known shape here or outside has it."""
        for entry in self.entries:
            if key in entry.relation.by_name:
                return entry.relation.by_name[key]
        return self.parent.certain(key) if self.parent else None

    def row_of(self, name: str) -> Relation | None:
        """The relation an alias names, for `alias.*` or an alias used as a value."""
        wanted = name.lower()
        for entry in self.entries:
            if wanted in (entry.alias, entry.full) or entry.full.endswith("." + wanted):
                return entry.relation
        return self.parent.row_of(name) if self.parent else None

    def join_using(self, names: list[str]) -> None:
        """Merge columns of the last entry with those of the entries before it."""
        right = self.entries[-1].relation
        for name in names:
            key = name.lower()
            left = self.joined.get(key)
            if left is None:
                earlier = Scope()
                earlier.entries = self.entries[:-1]
                left = earlier.bare(name)
            other = right.find(name)
            sources = merged(left.sources if left else {}, other.sources if other else {})
            self.joined[key] = OutColumn(name, sources)
