"""Queries to relations, in one pass from the inside out.

A common table expression is read once, when first used, and shared: diamonds stay linear. Chains of
set operations are walked, not recursed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from goldsmith.digest import from_items, select_text
from goldsmith.digest.expressions import sources_of, value_of
from goldsmith.digest.relation import STAR, OutColumn, Relation, united
from goldsmith.digest.scope import Scope
from goldsmith.digest.values import Sources

if TYPE_CHECKING:
    from goldsmith.digest.reading import StatementReading

#: Dialects where a select list may use its own earlier aliases.
LATERAL_ALIASES = frozenset(
    ("redshift", "snowflake", "databricks", "spark", "bigquery", "teradata", "duckdb", "clickhouse")
)
_MOST_ROUNDS = 12
#: What a common table expression can hold: a query, or a change that returns rows.
_READABLE = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge)


class Ctes:
    """Common table expressions in scope, read when first used."""

    __slots__ = ("_nodes", "_parent", "_ready")

    def __init__(self, parent: Ctes | None = None) -> None:
        self._parent = parent
        self._nodes: dict[str, tuple[exp.CTE, bool, Ctes]] = {}
        self._ready: dict[str, Relation] = {}

    def declare(self, clause: exp.With) -> Ctes:
        """These expressions, each seeing those before it."""
        recursive = bool(clause.args.get("recursive"))
        scope = self
        for cte in clause.expressions:
            following = Ctes(scope)
            following._nodes[cte.alias.lower()] = (
                cte,
                recursive,
                following if recursive else scope,
            )
            scope = following
        return scope

    def bind(self, name: str, relation: Relation) -> Ctes:
        bound = Ctes(self)
        bound._ready[name.lower()] = relation
        return bound

    def get(self, name: str, reading: StatementReading, outer: Scope | None) -> Relation | None:
        level: Ctes | None = self
        key = name.lower()
        while level is not None:
            if key in level._ready:
                return level._ready[key]
            if key in level._nodes:
                node, _recursive, inside = level._nodes[key]
                level._ready[key] = _read_cte(node, reading, inside, level._parent, outer)
                return level._ready[key]
            level = level._parent
        return None

    def unused(self) -> list[exp.CTE]:
        """Expressions declared at this level that nothing used."""
        found: list[exp.CTE] = []
        level: Ctes | None = self
        while level is not None:
            found += [node for key, (node, _, _) in level._nodes.items() if key not in level._ready]
            level = level._parent
        return found


def _read_cte(
    node: exp.CTE, reading: StatementReading, inside: Ctes, before: Ctes | None, outer: Scope | None
) -> Relation:
    names = [column.name for column in node.args["alias"].args.get("columns") or ()]
    query = node.this
    body = query.unnest() if isinstance(query, exp.Subquery) else query
    around = before if before is not None else Ctes()
    if not (isinstance(body, exp.SetOperation) and _names_itself(body, node.alias)):
        if not isinstance(body, _READABLE):
            return Relation([], through={})
        return relation_of(body, reading, around, None).with_names(names)
    # The part that does not name itself comes first; repeat until the sources stay the same.
    relation = Relation([], through={})
    branches = _branches(body)
    anchors = [b for b in branches if not _names_itself(b, node.alias)] or branches[:1]
    start = united([relation_of(b, reading, around, None) for b in anchors])
    relation = start.with_names(names)
    for _ in range(_MOST_ROUNDS):
        bound = around.bind(node.alias, relation)
        again = relation_of(body, reading, bound, None).with_names(names)
        if [c.sources for c in again.columns] == [c.sources for c in relation.columns]:
            break
        relation = again
    return relation


def _names_itself(query: exp.Expr, name: str) -> bool:
    wanted = name.lower()
    return any(
        table.name.lower() == wanted and not table.args.get("db")
        for table in query.find_all(exp.Table)
    )


def _branches(query: exp.Expr) -> list[exp.Expr]:
    """The queries of a chain of set operations, first to last."""
    found: list[exp.Expr] = []
    waiting: list[exp.Expr] = [query]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Subquery) and not node.args.get("alias") and _plain(node):
            node = node.unnest()
        if isinstance(node, exp.SetOperation) and not node.args.get("with_"):
            waiting += [node.expression, node.this]
        else:
            found.append(node)
    return found


def _plain(node: exp.Subquery) -> bool:
    return not any(node.args.get(key) for key in ("with_", "joins", "pivots", "laterals"))


def relation_of(
    query: exp.Expr, reading: StatementReading, ctes: Ctes | None = None, outer: Scope | None = None
) -> Relation:
    """The relation of any query."""
    ctes = ctes if ctes is not None else Ctes()
    clause = query.args.get("with_")
    if isinstance(clause, exp.With):
        ctes = ctes.declare(clause)
    if isinstance(query, exp.SetOperation):
        branches = [query.this, query.expression] if clause else _branches(query)
        parts: list[exp.Expr] = []
        for branch in branches:
            parts += _branches(branch) if clause else [branch]
        relation = united(
            [relation_of(part, reading, ctes, outer) for part in parts],
            by_name=bool(query.args.get("by_name")),
        )
        _sort(query, reading, ctes, relation)
    elif isinstance(query, exp.Select):
        relation = _select(query, reading, ctes, outer)
    elif isinstance(query, exp.Subquery | exp.Paren):
        if query.args.get("joins") or query.args.get("pivots") or query.args.get("laterals"):
            scope = Scope(outer)
            from_items.add_item(query, scope, reading, ctes)
            relation = _all_columns(scope)
        else:
            relation = relation_of(query.this, reading, ctes, outer)
    elif isinstance(query, exp.Pivot):
        relation = _simple_pivot(query, reading, ctes)
    elif isinstance(query, exp.Table):
        scope = Scope(outer)
        from_items.add_item(query, scope, reading, ctes)
        relation = _all_columns(scope)
    elif isinstance(query, exp.Values):
        relation = from_items.values_relation(query, Scope(outer), reading, ctes)
    elif isinstance(query, exp.Insert | exp.Update | exp.Delete | exp.Merge):
        # A data-changing expression (`WITH gone AS (DELETE … RETURNING …)`).
        relation = from_items.changed_rows(query, reading, ctes)
    else:
        relation = Relation([], through={})
    if isinstance(clause, exp.With):
        _mention(ctes, reading)
    return relation


def _simple_pivot(pivot: exp.Pivot, reading: StatementReading, ctes: Ctes) -> Relation:
    """DuckDB's PIVOT t ON c USING f(x) GROUP BY k: its new columns are known only to the data."""
    scope = Scope()
    from_items.add_item(pivot.this, scope, reading, ctes)
    reading.aggregates = True
    for column in pivot.expressions:
        reading.use("group", sources_of(column, scope, reading, ctes))
    through: Sources = {}
    for value in pivot.args.get("using") or ():
        through.update(sources_of(value, scope, reading, ctes))
    group = pivot.args.get("group")
    kept = []
    for key in group.expressions if isinstance(group, exp.Group) else ():
        kept.append(OutColumn(key.name.lower(), value_of(key, scope, reading, ctes).sources))
    return Relation(kept, through=through)


def _mention(ctes: Ctes, reading: StatementReading) -> None:
    for node in ctes.unused():
        for table in node.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier):
                reading.mentioned[reading.naming.of_table(table)] = None


def _select(
    query: exp.Select, reading: StatementReading, ctes: Ctes, outer: Scope | None
) -> Relation:
    scope = Scope(outer)
    source = query.args.get("from_")
    if source is not None:
        from_items.add_item(source.this, scope, reading, ctes)
    for lateral in query.args.get("laterals") or ():
        from_items.add_item(lateral, scope, reading, ctes)
    for join in query.args.get("joins") or ():
        from_items.add_join(join, scope, reading, ctes)
    for pivot in query.args.get("pivots") or ():
        from_items.pivot_scope(pivot, scope, reading, ctes)
    for window in query.args.get("windows") or ():
        scope.windows[window.name.lower()] = window
    clause = query.args.get("with_")
    for cte in clause.expressions if isinstance(clause, exp.With) else ():
        if cte.args.get("scalar"):  # ClickHouse's `WITH 10 AS n`
            value = OutColumn(cte.alias, sources_of(cte.this, Scope(), reading, ctes))
            scope.aliases[cte.alias.lower()] = value
    relation = _projected(query, scope, reading, ctes)
    _uses(query, scope, reading, ctes, relation)
    return relation


def _projected(query: exp.Select, scope: Scope, reading: StatementReading, ctes: Ctes) -> Relation:
    lateral = reading.dialect in LATERAL_ALIASES
    columns: list[OutColumn] = []
    opened: dict[str, None] = {}
    for projection in query.expressions:
        star = _star_of(projection)
        if star is not None:
            found, tables = _starred(projection, star, scope, reading, ctes)
            columns += found
            opened.update(dict.fromkeys(tables))
            continue
        if isinstance(projection, exp.QueryTransform):
            columns += _transformed(projection, scope, reading, ctes)
            continue
        if isinstance(projection, exp.Aliases):
            value = value_of(projection.this, scope, reading, ctes)
            columns += [
                OutColumn(name.name, dict(value.sources), projection.this)
                for name in projection.expressions
            ]
            continue
        inner = projection.this if isinstance(projection, exp.Alias) else projection
        value = value_of(inner, scope, reading, ctes)
        name = _name_of(projection, inner, reading)
        column = OutColumn(name, value.sources, inner, value.type, value.ambiguous)
        columns.append(column)
        if lateral and isinstance(projection, exp.Alias):
            scope.aliases.setdefault(name.lower(), column)
    return Relation(columns, tuple(opened))


def _transformed(
    transform: exp.QueryTransform, scope: Scope, reading: StatementReading, ctes: Ctes
) -> list[OutColumn]:
    """Hive's TRANSFORM … USING script: every output column may come from every input."""
    found: Sources = {}
    for expression in transform.expressions:
        found.update(sources_of(expression, scope, reading, ctes))
    schema = transform.args.get("schema")
    listed = schema.expressions if isinstance(schema, exp.Schema) else ()
    names = [column.name.lower() for column in listed] or ["key", "value"]
    return [OutColumn(name, dict(found)) for name in names]


def _name_of(projection: exp.Expr, inner: exp.Expr, reading: StatementReading) -> str:
    if isinstance(projection, exp.Alias):
        alias = projection.args["alias"]
        quoted = isinstance(alias, exp.Identifier) and alias.args.get("quoted")
        return str(alias.name) if quoted else str(alias.name).lower()
    if isinstance(inner, exp.Column):
        quoted = inner.this.args.get("quoted")
        return str(inner.name) if quoted else str(inner.name).lower()
    if isinstance(inner, exp.Dot):
        return str(inner.name).lower()
    if (
        isinstance(inner, exp.EQ)
        and isinstance(inner.this, exp.Column)
        and reading.dialect == "tsql"
    ):
        return str(inner.this.name).lower()
    written = select_text.of(projection, reading)
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Column) and "::" in written:
        return str(inner.this.name).lower()  # `a::date` keeps the name a
    return written


def _star_of(projection: exp.Expr) -> exp.Star | None:
    if isinstance(projection, exp.Star):
        return projection
    if isinstance(projection, exp.Column) and isinstance(projection.this, exp.Star):
        return projection.this
    return None


def _starred(
    projection: exp.Expr, star: exp.Star, scope: Scope, reading: StatementReading, ctes: Ctes
) -> tuple[list[OutColumn], tuple[str, ...]]:
    if isinstance(projection, exp.Column) and projection.args.get("table"):
        qualifier = ".".join(part.name for part in projection.parts[:-1])
        relation = scope.row_of(qualifier) or scope.row_of(projection.text("table"))
        if relation is None:
            column = scope.bare(projection.text("table"))
            sources = dict(column.sources) if column else {}
            return [OutColumn(STAR, sources)], ()
    else:
        relation = _all_columns(scope)
    columns, opened = relation.columns, relation.open
    except_ = {e.name.lower() for e in star.args.get("except_") or ()}
    if except_:
        columns = [column for column in columns if column.name.lower() not in except_]
    renames = {
        r.this.name.lower(): r.alias for r in star.args.get("rename") or () if hasattr(r, "alias")
    }
    if renames:
        columns = [
            column.renamed(renames[column.name.lower()])
            if column.name.lower() in renames
            else column
            for column in columns
        ]
    for replacement in star.args.get("replace") or ():
        value = value_of(replacement.this, scope, reading, ctes)
        new = OutColumn(replacement.alias, value.sources, replacement.this, value.type)
        at = [i for i, c in enumerate(columns) if c.name.lower() == new.name.lower()]
        columns = [new if i in at else c for i, c in enumerate(columns)]
        if not at:
            columns = [*columns, new]
    return list(columns), opened


def _all_columns(scope: Scope) -> Relation:
    columns: list[OutColumn] = []
    opened: dict[str, None] = {}
    through = None
    seen: set[str] = set()
    for entry in scope.entries:
        for column in entry.relation.columns:
            key = column.name.lower()
            if key in scope.joined and key != STAR:
                if key in seen:
                    continue
                seen.add(key)
                column = scope.joined[key].renamed(column.name)
            columns.append(column)
        opened.update(dict.fromkeys(entry.relation.open))
        if entry.relation.through is not None:
            through = {**(through or {}), **entry.relation.through}
    return Relation(columns, tuple(opened), through)


def _uses(
    query: exp.Select, scope: Scope, reading: StatementReading, ctes: Ctes, relation: Relation
) -> None:
    """Note filter, group and sort columns; read the subqueries in these clauses."""
    for key in ("where", "prewhere", "having", "qualify"):
        if query.args.get(key) is not None:
            reading.use("filter", _sources(query.args[key], scope, reading, ctes, relation))
    connect = query.args.get("connect")
    if connect is not None:
        reading.use("filter", sources_of(connect, scope, reading, ctes))
    group = query.args.get("group")
    if group is not None:
        reading.aggregates = True
        reading.use("group", _sources(group, scope, reading, ctes, relation))
    _sort(query, reading, ctes, relation, scope)


def _sort(
    query: exp.Expr,
    reading: StatementReading,
    ctes: Ctes,
    relation: Relation,
    scope: Scope | None = None,
) -> None:
    for key in ("order", "sort", "cluster", "distribute", "limit", "offset"):
        clause = query.args.get(key)
        if clause is not None:
            found = _sources(clause, scope or Scope(), reading, ctes, relation)
            reading.use("sort", found)


def _sources(
    clause: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes, relation: Relation
) -> Sources:
    """The columns of a clause, which may also name columns of the select list."""
    inner = Scope(scope)
    inner.aliases = relation.by_name
    return sources_of(clause, inner, reading, ctes, ambiguity=False)
