"""Statements in order: temporary tables are looked through; defaults and names change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldsmith.digest.dialects import TWO_LEVELS
from goldsmith.digest.names import Naming
from goldsmith.digest.relation import Relation
from goldsmith.digest.splitter import Piece
from goldsmith.digest.statement import Known, Outcome, read_statement
from goldsmith.digest.values import ColumnEdge, Digest, StatementDigest
from goldsmith.digest.variables import assigned_text

#: Statements inside statements inside …: dynamic SQL that contains dynamic SQL.
_MOST_LEVELS = 5


class SqlSession:
    """Reads statements one after another and remembers what later ones need."""

    def __init__(
        self,
        dialect: str = "",
        default_db: str | None = None,
        default_schema: str | None = None,
        schema: Mapping[str, Mapping[str, Any]] | None = None,
        known: Iterable[str] = (),
    ) -> None:
        self.dialect = dialect
        self._db, self._schema = default_db, default_schema
        self._ids = (*(schema or ()), *known)
        self.naming = Naming(dialect, default_db, default_schema, self._ids)
        self.shapes: dict[str, dict[str, Any]] = {}
        for name, columns in (schema or {}).items():
            self.shapes[self.naming.full([(p, True) for p in name.split(".")]).lower()] = dict(
                columns
            )
        self.temps: dict[str, Relation] = {}
        #: Tables created here, with the names they have now.
        self.created: dict[str, StatementDigest] = {}
        self.dropped: set[str] = set()
        #: Texts kept in variables; None where a text is computed while it runs.
        self.variables: dict[str, str | None] = {}
        #: Statements read so far, for renames.
        self.history: list[StatementDigest] = []

    def read(self, found: Piece, level: int = 0) -> list[StatementDigest]:
        """The digests of one statement, and of the statements inside it."""
        known = Known(self.naming, self.shapes, self.temps, self.variables)
        outcome = read_statement(found, known)
        kept = assigned_text(found.tokens) if found.tokens else None
        if kept is not None:
            self.variables[kept[0]] = kept[1]
        if outcome.inner is not None and level < _MOST_LEVELS:
            done: list[StatementDigest] = []
            for inner in outcome.inner:
                done += self.read(inner, level + 1)
            return done
        outcome.digest.sql = found.text
        self._remember(outcome)
        return [outcome.digest]

    def _remember(self, outcome: Outcome) -> None:
        effect = outcome.effect
        if effect is not None:
            if effect.use is not None:
                self._use(effect.use)
            for old, new in effect.renames:
                self._rename(old, new)
            if effect.swap is not None:
                self._swap(*effect.swap)
            for name in effect.drops:
                self._drop(name)
        written = outcome.written
        if written is None:
            self._moved_into_temp(outcome.digest)
            return
        if written.target is None:
            return
        key = written.target.lower()
        digest = outcome.digest
        if written.shape is not None:
            self.shapes.setdefault(key, dict(written.shape))
        if written.relation is None and not digest.verb.startswith("CREATE"):
            self._add_to_temp(key, outcome)
            return
        self.dropped.discard(key)
        self.created[key] = digest
        if digest.temporary:
            relation = written.relation
            if relation is None:
                relation = Relation([])
                relation.read_from = ()
                self.temps[key] = _shaped(written.shape or {})
            else:
                relation.read_from = tuple(digest.upstream)
                self.temps[key] = relation
        elif written.relation is not None and written.relation.known and written.relation.columns:
            self.shapes[key] = {c.name: c.type for c in written.relation.columns}
            self.temps.pop(key, None)

    def _moved_into_temp(self, digest: StatementDigest) -> None:
        """Files copied into a temporary table stand behind it."""
        if digest.downstream and all(name.lower() in self.temps for name in digest.downstream):
            digest.temporary = True
            for name in digest.downstream:
                temp = self.temps[name.lower()]
                temp.read_from = tuple(dict.fromkeys((*temp.read_from, *digest.upstream)))

    def _add_to_temp(self, key: str, outcome: Outcome) -> None:
        """Rows inserted into a temporary table add to what stands behind it."""
        temp = self.temps.get(key)
        if temp is None and key[:1] in "@#":
            temp = self.temps[key] = Relation([])
            self.created.setdefault(key, outcome.digest)
        if temp is None:
            return
        outcome.digest.temporary = True
        by_name = temp.by_name
        for edge in outcome.digest.columns:
            column = by_name.get(edge.column.lower())
            if column is None:
                from goldsmith.digest.relation import OutColumn

                temp.columns.append(OutColumn(edge.column, dict(edge.sources), type=edge.type))
                temp._by_name = None
            else:
                column.sources = {**column.sources, **edge.sources}
        if any(edge.column == "*" for edge in outcome.digest.columns):
            tables = [
                root.table for e in outcome.digest.columns for root in e.sources if e.column == "*"
            ]
            temp.open = tuple(dict.fromkeys((*temp.open, *tables)))
        temp.read_from = tuple(dict.fromkeys((*temp.read_from, *outcome.digest.upstream)))

    def _use(self, names: list[str]) -> None:
        if len(names) >= 2:
            self._db, self._schema = names[0] or self._db, names[1]
        elif self.dialect in TWO_LEVELS or self.dialect in ("spark", "databricks"):
            self._schema = None if names[0] == "default" else names[0]
        else:
            self._db, self._schema = names[0], None
        self.naming = Naming(self.dialect, self._db, self._schema, self._ids)

    def set_defaults(self, default_db: str | None, default_schema: str | None) -> None:
        if (default_db, default_schema) != (self._db, self._schema):
            self._db, self._schema = default_db, default_schema
            self.naming = Naming(self.dialect, default_db, default_schema, self._ids)

    def _rename(self, old: str, new: str) -> None:
        """A finished table takes another name: its edges move with it."""
        source, target = old.lower(), new.lower()
        if source in self.shapes:
            self.shapes[target] = self.shapes.pop(source)
        if source in self.temps:
            self.temps[target] = self.temps.pop(source)
        if source in self.created:
            self.created[target] = self.created.pop(source)
        renamed(self.history, old, new)

    def _swap(self, first: str, second: str) -> None:
        _exchange(self.shapes, first.lower(), second.lower())
        _exchange(self.temps, first.lower(), second.lower())

    def _drop(self, name: str) -> None:
        key = name.lower()
        if key in self.created:
            self.dropped.add(key)
        self.temps.pop(key, None)
        self.shapes.pop(key, None)


def _exchange(found: dict[str, Any], first: str, second: str) -> None:
    a, b = found.pop(first, None), found.pop(second, None)
    if b is not None:
        found[first] = b
    if a is not None:
        found[second] = a


def _shaped(shape: Mapping[str, Any]) -> Relation:
    from goldsmith.digest.relation import OutColumn

    return Relation([OutColumn(name, {}, type=str(kind) or None) for name, kind in shape.items()])


def renamed(history: list[StatementDigest], old: str, new: str) -> None:
    """Give a table its new name in the statements read so far."""
    for digest in history:
        digest.downstream = [new if name == old else name for name in digest.downstream]
        digest.upstream = [new if name == old else name for name in digest.upstream]
        digest.edges = [(new if a == old else a, new if b == old else b) for a, b in digest.edges]
        for edge in digest.columns:
            if edge.table == old:
                edge.table = new


def combine(statements: list[StatementDigest], session: SqlSession | None = None) -> Digest:
    """One answer for a script: temporary tables and dropped work tables are looked through."""
    hidden = {name for digest in statements if digest.temporary for name in digest.downstream}
    if len([d for d in statements if d.upstream or d.downstream]) == 1:
        hidden = set()
    if session is not None:
        hidden |= {n for d in statements for n in d.downstream if n.lower() in session.dropped}
    upstream: dict[str, None] = {}
    downstream: dict[str, None] = {}
    edges: dict[tuple[str, str], None] = {}
    columns: dict[tuple[str | None, str], ColumnEdge] = {}
    through = _behind(statements, hidden)
    for digest in statements:
        targets = [name for name in digest.downstream if name not in hidden]
        reads = [up for name in digest.upstream for up in through.get(name, (name,))]
        if targets or not digest.downstream:
            upstream.update(dict.fromkeys(reads))
        downstream.update(dict.fromkeys(targets))
        for up, down in digest.edges:
            if down not in hidden:
                edges.update(dict.fromkeys((u, down) for u in through.get(up, (up,))))
        for edge in digest.columns:
            if edge.table in hidden:
                continue
            key = (edge.table, edge.column.lower())
            if edge.table is None or key not in columns:
                columns[
                    key if edge.table is not None else (None, f"{len(columns)}\0{edge.column}")
                ] = edge
            else:
                columns[key] = ColumnEdge(
                    edge.table,
                    edge.column,
                    {**columns[key].sources, **edge.sources},
                    edge.expression,
                    edge.type,
                )
    return Digest(statements, list(upstream), list(downstream), list(edges), list(columns.values()))


def _behind(statements: list[StatementDigest], hidden: set[str]) -> dict[str, tuple[str, ...]]:
    """For each hidden table, the tables its rows come from."""
    direct: dict[str, dict[str, None]] = {name: {} for name in hidden}
    for digest in statements:
        for up, down in digest.edges:
            if down in hidden:
                direct[down][up] = None
    found: dict[str, tuple[str, ...]] = {}
    for name in hidden:
        seen: dict[str, None] = {}
        waiting = [name]
        visited = set[str]()
        while waiting:
            at = waiting.pop()
            if at in visited:
                continue
            visited.add(at)
            for up in direct.get(at, ()):
                if up in hidden:
                    waiting.append(up)
                else:
                    seen[up] = None
        found[name] = tuple(seen)
    return found
