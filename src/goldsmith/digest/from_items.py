"""The items of a FROM clause: tables, subqueries, table functions, pivots and joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from goldsmith.digest.expressions import sources_of
from goldsmith.digest.locations import function_locations
from goldsmith.digest.pivots import pivoted
from goldsmith.digest.relation import OutColumn, Relation, raised, united
from goldsmith.digest.scope import Scope
from goldsmith.digest.values import StatementDigest, ValueKind

if TYPE_CHECKING:
    from goldsmith.digest.reading import StatementReading
    from goldsmith.digest.relations import Ctes


def add_item(node: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes) -> None:
    """Add one item to the scope."""
    from goldsmith.digest.relations import relation_of

    full = ""
    if isinstance(node, exp.Stream | exp.Final):
        add_item(_unwrapped(node), scope, reading, ctes)
        return
    if isinstance(node, exp.Table):
        relation, full = _table(node, scope, reading, ctes)
    elif isinstance(node, exp.Subquery | exp.Paren):
        inner = node.this
        if _joined_tables(inner):
            _parenthesised(node, scope, reading, ctes)
            return
        relation = relation_of(inner, reading, _with(node, ctes), scope)
    elif isinstance(node, exp.Unnest):
        relation = _unnest(node, scope, reading, ctes)
    elif isinstance(node, exp.Lateral):
        relation = _lateral(node, scope, reading, ctes)
    elif isinstance(node, exp.Values):
        relation = values_relation(node, scope, reading, ctes)
    elif isinstance(node, exp.Query | exp.Pivot):
        relation = relation_of(node, reading, ctes, scope)
    elif isinstance(node, exp.TableFromRows):
        relation = _function(node.this, scope, reading, ctes)
    else:
        relation = _through(node, scope, reading, ctes)
    alias, names = _alias(node)
    if names and not (isinstance(node, exp.Unnest | exp.Lateral)):
        relation = relation.with_names(names)
    for pivot in node.args.get("pivots") or ():
        relation = pivoted(pivot, relation, reading)
        pivot_alias, pivot_names = _alias(pivot)
        alias = pivot_alias or alias
        relation = relation.with_names(pivot_names)
        if pivot_alias:
            full = ""
    scope.add(alias or (full.rpartition(".")[2] if full else ""), full, relation)
    for lateral in node.args.get("laterals") or ():
        add_item(lateral, scope, reading, ctes)
    for join in node.args.get("joins") or ():
        add_join(join, scope, reading, ctes)


def _unwrapped(stream: exp.Expr) -> exp.Expr:
    """The item behind `STREAM t`, `STREAM(t)` or ClickHouse's `t FINAL`, with its alias."""
    item: exp.Expr = stream.this
    while isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
        inner = item.this
        if item.args.get("alias"):
            inner.set("alias", item.args["alias"])
        item = inner
    if stream.args.get("alias"):
        item.set("alias", stream.args["alias"])
    return item


def _joined_tables(inner: exp.Expr) -> bool:
    """Whether parentheses hold tables and joins, and not a query."""
    while isinstance(inner, exp.Subquery | exp.Paren):
        if inner.args.get("joins") or inner.args.get("alias"):
            return True
        inner = inner.this
    return isinstance(inner, exp.Table)


def _with(node: exp.Expr, ctes: Ctes) -> Ctes:
    clause = node.args.get("with_")
    return ctes.declare(clause) if isinstance(clause, exp.With) else ctes


def _parenthesised(node: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes) -> None:
    """`(a JOIN b ON …)`: its tables belong to the scope around; an alias names them as one."""
    alias, names = _alias(node)
    if alias:
        from goldsmith.digest.relations import relation_of

        relation = relation_of(node.this, reading, ctes, scope).with_names(names)
        scope.add(alias, "", relation)
    else:
        add_item(node.this, scope, reading, ctes)
    for join in node.args.get("joins") or ():
        add_join(join, scope, reading, ctes)


def _alias(node: exp.Expr) -> tuple[str, list[str]]:
    alias = node.args.get("alias")
    if isinstance(alias, exp.TableAlias):
        return alias.name, [_column_name(column) for column in alias.args.get("columns") or ()]
    if isinstance(alias, exp.Identifier):
        return alias.name, []
    return "", []


def _column_name(column: exp.Expr) -> str:
    if isinstance(column, exp.ColumnDef):
        return str(column.name).lower()
    return str(column.name) if column.args.get("quoted") else str(column.name).lower()


def _table(
    node: exp.Table, scope: Scope, reading: StatementReading, ctes: Ctes
) -> tuple[Relation, str]:
    if node.args.get("rows_from"):
        return _through(node, scope, reading, ctes), ""
    inner = node.this
    if isinstance(inner, exp.Func) and not isinstance(inner, exp.Identifier):
        return _function(inner, scope, reading, ctes), ""
    if not isinstance(inner, exp.Identifier | exp.Literal | exp.Dot | exp.Var | exp.Parameter):
        return _through(node, scope, reading, ctes), ""
    if not node.args.get("db"):
        if node.name.lower() == "dual" and reading.dialect in ("oracle", "mysql"):
            return Relation([]), ""  # One row of nothing, to select values from.
        shared = ctes.get(node.name, reading, scope)
        if shared is not None:
            return shared, node.name
    else:
        # `FROM t, t.items`: an array column of a table named before (BigQuery, Hive structs).
        row = scope.qualified(node.text("db"), node.name) if _named_before(node, scope) else None
        if row is not None:
            return Relation([], through=dict(row.sources)), ""
    name = reading.naming.of_table(node)
    return reading.table(name), name


def _named_before(node: exp.Table, scope: Scope) -> bool:
    db = node.text("db").lower()
    return not node.args.get("catalog") and any(
        (entry.alias == db and entry.name.lower() != db) or (entry.alias == db and not entry.full)
        for entry in scope.entries
    )


def _function(node: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes) -> Relation:
    """A table function passes the columns of its arguments through."""
    name = (
        node.name
        if isinstance(node, exp.Anonymous)
        else node.sql_name()
        if isinstance(node, exp.Func)
        else ""
    ).lower()
    if name in ("identifier", "table", "table_changes") or isinstance(node, exp.DynamicIdentifier):
        for literal in node.iter_expressions():
            if isinstance(literal, exp.DynamicIdentifier):
                return _function(literal, scope, reading, ctes)
            if isinstance(literal, exp.Literal) and literal.is_string:
                parts = [(part, False) for part in literal.this.split(".")]
                return reading.table(reading.naming.full(parts))
    files = function_locations(node, name, reading.dialect)
    if files:
        return united([reading.table(path) for path in files])
    return Relation(
        [], through=raised(sources_of(node, scope, reading, ctes), ValueKind.EXPRESSION)
    )


def _through(node: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes) -> Relation:
    found = {}
    for child in node.iter_expressions():
        if not isinstance(child, exp.TableAlias | exp.Join | exp.Pivot | exp.Lateral):
            found.update(sources_of(child, scope, reading, ctes))
    return Relation([], through=found)


def _unnest(node: exp.Unnest, scope: Scope, reading: StatementReading, ctes: Ctes) -> Relation:
    arrays = [
        raised(sources_of(expression, scope, reading, ctes), ValueKind.EXPRESSION)
        for expression in node.expressions
    ]
    found = {root: kind for array in arrays for root, kind in array.items()}
    alias, names = _alias(node)
    by_position = len(arrays) > 1 and len(names) == len(arrays)
    columns = [
        OutColumn(name, dict(arrays[index] if by_position else found))
        for index, name in enumerate(names)
    ]
    offset = node.args.get("offset")
    if isinstance(offset, exp.Identifier):
        columns.append(OutColumn(offset.name, {}))
    if alias and not names:
        columns.append(OutColumn(alias, dict(found)))
    return Relation(columns, through=found)


def _lateral(node: exp.Lateral, scope: Scope, reading: StatementReading, ctes: Ctes) -> Relation:
    from goldsmith.digest.relations import relation_of

    inner = node.this
    if isinstance(inner, exp.Subquery | exp.Query):
        relation = relation_of(inner, reading, ctes, scope)
        _, names = _alias(node)
        return relation.with_names(names)
    found = raised(sources_of(inner, scope, reading, ctes), ValueKind.EXPRESSION)
    _, names = _alias(node)
    return Relation([OutColumn(name, dict(found)) for name in names], through=found)


def values_relation(
    node: exp.Values, scope: Scope, reading: StatementReading, ctes: Ctes
) -> Relation:
    rows = node.expressions
    width = len(rows[0].expressions) if rows and isinstance(rows[0], exp.Tuple) else 1
    columns = [OutColumn(f"column{index + 1}", {}) for index in range(width)]
    # Literals have no sources: only rows with columns or subqueries are walked.
    for row in rows[:64]:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        for index, cell in enumerate(cells[:width]):
            if not isinstance(cell, exp.Literal):
                columns[index].sources.update(sources_of(cell, scope, reading, ctes))
    return Relation(columns)


def add_join(join: exp.Join, scope: Scope, reading: StatementReading, ctes: Ctes) -> None:
    """Add the item of a join, and note the columns that join."""
    if join.kind == "ARRAY":
        _array_join(join, scope, reading, ctes)
        return
    reading.joins = True
    before = len(scope.entries)
    add_item(join.this, scope, reading, ctes)
    using = [_column_name(column) for column in join.args.get("using") or ()]
    if not using and str(join.args.get("method") or "").upper() == "NATURAL":
        using = _shared_names(scope, before)
    if using and len(scope.entries) == before + 1:
        scope.join_using(using)
        for name in using:
            reading.use("join", scope.joined[name.lower()].sources)
    condition = join.args.get("on")
    if condition is not None:
        reading.use("join", sources_of(condition, scope, reading, ctes, ambiguity=False))
    match = join.args.get("match_condition")
    if match is not None:
        reading.use("join", sources_of(match, scope, reading, ctes, ambiguity=False))
    for pivot in join.args.get("pivots") or ():
        pivot_scope(pivot, scope, reading, ctes)


def _array_join(join: exp.Join, scope: Scope, reading: StatementReading, ctes: Ctes) -> None:
    """ClickHouse's ARRAY JOIN: an array's items take its name or its alias."""
    found = raised(sources_of(join.this, scope, reading, ctes), ValueKind.EXPRESSION)
    scope.add("", "", Relation([OutColumn(join.this.alias_or_name.lower(), found)]))


def _shared_names(scope: Scope, before: int) -> list[str]:
    left = {name for entry in scope.entries[:before] for name in entry.relation.by_name}
    return [c.name for c in scope.entries[-1].relation.columns if c.name.lower() in left]


def pivot_scope(pivot: exp.Pivot, scope: Scope, reading: StatementReading, ctes: Ctes) -> None:
    """A pivot over all items so far replaces them by one."""
    from goldsmith.digest.relations import _all_columns

    relation = pivoted(pivot, _all_columns(scope), reading)
    alias, names = _alias(pivot)
    scope.entries = []
    scope.add(alias, "", relation.with_names(names))


def changed_rows(node: exp.Expr, reading: StatementReading, ctes: Ctes) -> Relation:
    """The rows a data-changing common table expression returns; its table is written too."""
    from goldsmith.digest.relations import relation_of

    target = node.this.this if isinstance(node.this, exp.Schema) else node.this
    source = node.args.get("expression")
    if isinstance(source, exp.Query):
        relation_of(source, reading, ctes, None)
    elif isinstance(node, exp.Update):
        from goldsmith.digest.merges import update

        update(node, reading, StatementDigest())
    if isinstance(target, exp.Table) and not isinstance(node, exp.Delete):
        reading.writes[reading.naming.of_table(target)] = None
    returning = node.args.get("returning")
    if not isinstance(returning, exp.Returning):
        return Relation([])
    select = exp.Select(expressions=[e.copy() for e in returning.expressions])
    if isinstance(target, exp.Table):
        select.set("from_", exp.From(this=target.copy()))
    return relation_of(select, reading, ctes, None)
