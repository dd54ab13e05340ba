"""MERGE, UPDATE and DELETE: what their clauses set, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from goldsmith.digest.expressions import sources_of, value_of
from goldsmith.digest.from_items import add_item, add_join
from goldsmith.digest.relation import Relation, merged
from goldsmith.digest.relations import Ctes, relation_of
from goldsmith.digest.scope import Scope
from goldsmith.digest.values import ColumnEdge, RuleSuggestion, StatementDigest

if TYPE_CHECKING:
    from goldsmith.digest.expressions import Value
    from goldsmith.digest.reading import StatementReading


class Assigned:
    """Columns set by several clauses, each once, with the sources of all clauses."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._columns: dict[str, ColumnEdge] = {}

    def set(self, name: str, value: Value, node: exp.Expr | None, dialect: str) -> None:
        before = self._columns.get(name.lower())
        if before is None:
            self._columns[name.lower()] = ColumnEdge(
                self.target,
                name,
                dict(value.sources),
                None if node is None else (node, dialect),
                value.type,
                value.ambiguous,
            )
        else:
            before.sources = merged(before.sources, value.sources)
            before.ambiguous += value.ambiguous

    def edges(self) -> list[ColumnEdge]:
        return list(self._columns.values())


def _ctes(tree: exp.Expr) -> Ctes:
    clause = tree.args.get("with_")
    return Ctes().declare(clause) if isinstance(clause, exp.With) else Ctes()


def _set_name(column: exp.Expr) -> str:
    """The column an assignment sets."""
    while isinstance(column, exp.Dot | exp.Bracket):
        column = column.this
    identifier = column.this if isinstance(column, exp.Column) else column
    quoted = isinstance(identifier, exp.Identifier) and identifier.args.get("quoted")
    return str(column.name) if quoted else str(column.name).lower()


def merge(tree: exp.Merge, reading: StatementReading, digest: StatementDigest) -> str:
    """MERGE clause by clause; bare names in an INSERT's values belong to the source."""
    ctes = _ctes(tree)
    table = tree.this
    target = reading.naming.of_table(table)
    source = Scope()
    add_item(tree.args["using"], source, reading, ctes)
    relation = source.entries[0].relation
    both = Scope()
    both.entries = list(source.entries)
    both.add(table.alias or table.name, target, _own(target, reading))
    assigned = Assigned(target)
    whens = tree.args.get("whens")
    for when in whens.expressions if whens is not None else ():
        _when(when, source, both, relation, assigned, reading, ctes)
    digest.columns = assigned.edges()
    condition = tree.args.get("on")
    if condition is not None:
        reading.use("join", sources_of(condition, both, reading, ctes, ambiguity=False))
        keys = _keys(condition, table)
        if keys:
            clause = f"MERGE … ON {condition.sql()}"
            digest.rules.append(RuleSuggestion(target, {"type": "unique", "columns": keys}, clause))
            digest.rules += [
                RuleSuggestion(target, {"type": "not_null", "column": key}, clause) for key in keys
            ]
    for using in tree.args.get("using_cond") or ():
        del using
    return target


def _own(target: str, reading: StatementReading) -> Relation:
    """The target's own relation; reading it for its own update is no upstream."""
    before = dict(reading.reads)
    unknown = reading.unknown_shape
    relation = reading.table(target)
    if target not in before:
        reading.reads.pop(target, None)
    reading.unknown_shape = unknown
    return relation


def _keys(condition: exp.Expr, table: exp.Table) -> list[str]:
    """The target's columns that a MERGE compares for equality."""
    alias = (table.alias or table.name).lower()
    keys = []
    for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
        if isinstance(part, exp.EQ):
            for side in (part.this, part.expression):
                if isinstance(side, exp.Column) and side.text("table").lower() == alias:
                    keys.append(side.name.lower())
    return keys


def _when(
    when: exp.When,
    source: Scope,
    both: Scope,
    relation: Relation,
    assigned: Assigned,
    reading: StatementReading,
    ctes: Ctes,
) -> None:
    condition = when.args.get("condition")
    if condition is not None:
        reading.use("filter", sources_of(condition, both, reading, ctes, ambiguity=False))
    then = when.args.get("then")
    if isinstance(then, exp.Update):
        _assign(then.expressions, source, both, relation, assigned, reading, ctes)
    elif isinstance(then, exp.Insert):
        values = then.expression
        if isinstance(then.this, exp.Var | exp.Star) or not values:
            _all(relation, assigned, reading)
            return
        if isinstance(values, exp.Values) and values.expressions:
            values = values.expressions[0]
        cells = values.expressions if isinstance(values, exp.Tuple) else [values]
        for name, cell in zip(_inserted(then.this, cells, assigned, reading), cells, strict=False):
            inner = cell.this if isinstance(cell, exp.Paren) else cell
            assigned.set(name, value_of(inner, source, reading, ctes), inner, reading.dialect)
    elif isinstance(then, exp.Var | exp.Star) and str(then.name).upper() in (
        "*",
        "INSERT",
        "UPDATE",
    ):
        _all(relation, assigned, reading)


def _inserted(
    listed: exp.Expr | None, cells: list[exp.Expr], assigned: Assigned, reading: StatementReading
) -> list[str]:
    """The columns an INSERT of a MERGE fills: its list, the shape, or the names of the values."""
    if listed is not None:
        columns = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
        return [_set_name(column) for column in columns]
    shape = list(reading.shapes.get(assigned.target.lower()) or ())
    return shape if len(shape) >= len(cells) else [_set_name(cell) for cell in cells]


def _all(relation: Relation, assigned: Assigned, reading: StatementReading) -> None:
    """`INSERT *`, `UPDATE SET *`: every source column goes to the column of its name."""
    from goldsmith.digest.expressions import Value

    for column in relation.columns:
        assigned.set(column.name, Value(column.sources, column.type, column.ambiguous), None, "")


def _assign(
    expressions: list[exp.Expr] | exp.Expr,
    source: Scope,
    both: Scope,
    relation: Relation,
    assigned: Assigned,
    reading: StatementReading,
    ctes: Ctes,
) -> None:
    if isinstance(expressions, exp.Star):
        _all(relation, assigned, reading)
        return
    for equal in expressions:
        if isinstance(equal, exp.Star):
            _all(relation, assigned, reading)
        elif isinstance(equal, exp.EQ | exp.PropertyEQ):
            _assign_column(equal, both, assigned, reading, ctes)


def _assign_column(
    equal: exp.Expr, scope: Scope, assigned: Assigned, reading: StatementReading, ctes: Ctes
) -> None:
    """One assignment; `(a, b) = (SELECT x, y …)` sets by position."""
    left, right = equal.this, equal.expression
    if isinstance(left, exp.Tuple | exp.Paren):
        names = [
            _set_name(c) for c in (left.expressions if isinstance(left, exp.Tuple) else [left.this])
        ]
        inner = right.unnest() if isinstance(right, exp.Paren | exp.Subquery) else right
        if isinstance(inner, exp.Query):
            from goldsmith.digest.expressions import Value

            relation = relation_of(inner, reading, ctes, scope)
            for name, column in zip(names, relation.columns, strict=False):
                assigned.set(name, Value(column.sources, column.type, ()), None, "")
            return
        cells = inner.expressions if isinstance(inner, exp.Tuple) else [inner]
        for name, cell in zip(names, cells, strict=False):
            assigned.set(name, value_of(cell, scope, reading, ctes), cell, reading.dialect)
        return
    assigned.set(_set_name(left), value_of(right, scope, reading, ctes), right, reading.dialect)


def update(tree: exp.Update, reading: StatementReading, digest: StatementDigest) -> str:
    """UPDATE with FROM, joins and subqueries; the target may be an alias of a FROM item."""
    ctes = _ctes(tree)
    table = tree.this
    scope = Scope()
    joins = list(table.args.get("joins") or ()) if isinstance(table, exp.Table) else []
    source = tree.args.get("from_")
    aliased = _aliased(table, source)
    target = reading.naming.of_table(aliased if aliased is not None else table)
    behind = _behind_cte(tree, table)
    if behind is not None:
        target = reading.naming.of_table(behind)
        add_item(table, scope, reading, ctes)
        reading.reads.pop(target, None)
    own = _own(target, reading)
    if aliased is None and behind is None:
        scope.add(table.alias or table.name, target, own)
    if source is not None:
        items = [source.this, *(source.args.get("expressions") or ())]
        for item in items:
            add_item(item, scope, reading, ctes)
    for join in joins:
        add_join(join, scope, reading, ctes)
    # T-SQL's FROM names the changed table again, by its alias or by its name.
    again = aliased or (table if reading.dialect == "tsql" else None)
    if isinstance(again, exp.Table) and not _named_twice(again, source, reading, target):
        reading.reads.pop(target, None)
    targets: dict[str, Assigned] = {}
    for equal in tree.expressions:
        changed = _changed_table(equal, scope) or target
        assigned = targets.setdefault(changed, Assigned(changed))
        _assign([equal], scope, scope, Relation([]), assigned, reading, ctes)
    digest.columns = [edge for assigned in targets.values() for edge in assigned.edges()]
    where = tree.args.get("where")
    if where is not None:
        reading.use("filter", sources_of(where, scope, reading, ctes, ambiguity=False))
    return _changed_tables(target, list(targets), reading, digest)


def _changed_table(equal: exp.Expr, scope: Scope) -> str | None:
    """The table whose column an assignment sets: MySQL may set columns of every joined table."""
    left = equal.this
    qualifier = left.text("table").lower() if isinstance(left, exp.Column) else ""
    for entry in scope.entries if qualifier else ():
        if entry.full and (entry.alias == qualifier or entry.full == qualifier):
            return entry.name
    return None


def _changed_tables(
    target: str, changed: list[str], reading: StatementReading, digest: StatementDigest
) -> str:
    """The first changed table; further ones are downstream too, and read if another uses them."""
    if not changed or changed == [target]:
        return target
    if target not in changed:
        reading.reads[target] = None
    digest.downstream += changed
    feeds = [(root.table, edge.table) for edge in digest.columns for root in edge.sources]
    for name in changed:
        if any(up == name != down for up, down in feeds):
            reading.reads[name] = None
        else:
            reading.reads.pop(name, None)
    digest.edges = [(up, down) for down in changed for up in reading.reads if up != down]
    return changed[0]


def _aliased(table: exp.Expr, source: exp.Expr | None) -> exp.Table | None:
    """The FROM table that the target names by its alias (T-SQL) or names again."""
    if source is None or not isinstance(table, exp.Table) or table.args.get("db"):
        return None
    wanted = table.name.lower()
    for found in source.find_all(exp.Table):
        if found.alias and found.alias.lower() == wanted:
            return found
    return None


def _behind_cte(tree: exp.Expr, table: exp.Expr) -> exp.Table | None:
    """T-SQL changes a table through a common table expression that selects from it."""
    clause = tree.args.get("with_")
    if not isinstance(clause, exp.With) or not isinstance(table, exp.Table) or table.args.get("db"):
        return None
    for cte in clause.expressions:
        source = cte.this.args.get("from_") if isinstance(cte.this, exp.Select) else None
        if cte.alias.lower() == table.name.lower() and source is not None:
            return source.this if isinstance(source.this, exp.Table) else None
    return None


def _named_twice(
    aliased: exp.Table, source: exp.Expr | None, reading: StatementReading, target: str
) -> bool:
    tables = source.find_all(exp.Table) if source is not None else ()
    named = [t for t in tables if isinstance(t.this, exp.Identifier)]
    return sum(reading.naming.of_table(table) == target for table in named) > 1


def delete(tree: exp.Delete, reading: StatementReading, digest: StatementDigest) -> str | None:
    """DELETE, with USING, joins or subqueries in its WHERE."""
    ctes = _ctes(tree)
    table = tree.this
    named = tree.args.get("tables") or ()
    scope = Scope()
    target_table = _aliased(named[0], tree) or named[0] if named else table
    target_table = _behind_cte(tree, target_table) or target_table
    if not isinstance(target_table, exp.Table):
        return None
    target = reading.naming.of_table(target_table)
    if isinstance(table, exp.Table) and named:
        add_item(table, scope, reading, ctes)
        reading.reads.pop(target, None)
        digest.downstream.append(target)
        for further in named[1:]:
            name = reading.naming.of_table(_aliased(further, tree) or further)
            reading.reads.pop(name, None)
            digest.downstream.append(name)
    else:
        own = _own(target, reading)
        scope.add(target_table.alias or target_table.name, target, own)
        for join in target_table.args.get("joins") or ():
            add_join(join, scope, reading, ctes)
    for item in tree.args.get("using") or ():
        add_item(item, scope, reading, ctes)
    where = tree.args.get("where")
    if where is not None:
        reading.use("filter", sources_of(where, scope, reading, ctes, ambiguity=False))
    digest.moves_data = True
    return target
