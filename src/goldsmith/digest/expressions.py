"""The columns an expression's value comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from goldsmith.digest.keywords import PSEUDO_COLUMNS, UNIT_FUNCTIONS, UNITS
from goldsmith.digest.relation import OutColumn
from goldsmith.digest.scope import Scope
from goldsmith.digest.values import Root, Sources, ValueKind

if TYPE_CHECKING:
    from goldsmith.digest.reading import StatementReading
    from goldsmith.digest.relations import Ctes


class Value(NamedTuple):
    """What one expression comes from."""

    sources: Sources
    type: str | None
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...]


def value_of(node: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes) -> Value:
    """The sources of an expression with the kind of edge each of them is."""
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        column = resolve(node, scope, reading)
        if column is None:
            return Value({}, None, ())
        if column.ambiguous:
            reading.ambiguous = True
        return Value(column.sources, column.type, column.ambiguous)
    found: Sources = {}
    ambiguous: list[tuple[str, tuple[str, ...]]] = []
    _collect(node, scope, reading, ctes, found, ambiguous, ValueKind.IDENTITY)
    if ambiguous:
        reading.ambiguous = True
    return Value(found, type_of(node), tuple(ambiguous))


def sources_of(
    node: exp.Expr, scope: Scope, reading: StatementReading, ctes: Ctes, *, ambiguity: bool = True
) -> Sources:
    """The columns an expression uses, for clauses that are no values."""
    found: Sources = {}
    ambiguous: list[tuple[str, tuple[str, ...]]] = []
    _collect(node, scope, reading, ctes, found, ambiguous, ValueKind.EXPRESSION)
    if ambiguity and ambiguous:
        reading.ambiguous = True
    return found


def _kind(node: exp.Expr, before: ValueKind) -> ValueKind:
    if isinstance(node, exp.Window):
        kind = ValueKind.WINDOW
    elif isinstance(node, exp.AggFunc):
        kind = ValueKind.AGGREGATE
    elif isinstance(node, exp.Cast):
        kind = ValueKind.CAST
    elif isinstance(node, exp.Paren | exp.Alias | exp.Column | exp.Identifier):
        return before
    else:
        kind = ValueKind.EXPRESSION
    return kind if kind > before else before


def _collect(
    root: exp.Expr,
    scope: Scope,
    reading: StatementReading,
    ctes: Ctes,
    found: Sources,
    ambiguous: list[tuple[str, tuple[str, ...]]],
    start: ValueKind,
) -> None:
    """Add every column below a node; an explicit stack, because expressions can be deep."""
    from goldsmith.digest.relations import relation_of

    waiting: list[tuple[exp.Expr, ValueKind, frozenset[str]]] = [(root, start, frozenset())]
    while waiting:
        node, kind, bound = waiting.pop()
        if isinstance(node, exp.Column):
            if isinstance(node.this, exp.Star):
                continue
            if bound and node.name.lower() in bound and not node.args.get("table"):
                continue
            column = resolve(node, scope, reading)
            if column is not None:
                _add(found, column.sources, kind)
                ambiguous += column.ambiguous
            continue
        if isinstance(node, exp.Query):
            relation = relation_of(node, reading, ctes, scope)
            for column in relation.columns:
                _add(found, column.sources, max(kind, ValueKind.EXPRESSION))
                ambiguous += column.ambiguous
            continue
        if isinstance(node, exp.AggFunc):
            reading.aggregates = True
        kind = _kind(node, kind)
        if isinstance(node, exp.Window) and node.alias and node.alias != node.name:
            named = scope.window(node.alias)
            if named is not None:
                waiting.append((named, kind, bound))
        if isinstance(node, exp.Lambda):
            bound |= {name.name.lower() for name in node.expressions}
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            # A table as a value or a function's argument.
            relation = reading.table(reading.naming.of_table(node))
            continue
        skip_unit = _takes_unit(node)
        children = list(node.iter_expressions())
        for index in range(len(children) - 1, -1, -1):
            child = children[index]
            if skip_unit and _is_unit(child):
                continue
            waiting.append((child, kind, bound))


def _takes_unit(node: exp.Expr) -> bool:
    return isinstance(node, exp.Func) and (
        "unit" in node.arg_types
        or (isinstance(node, exp.Anonymous) and str(node.this).lower() in UNIT_FUNCTIONS)
    )


def _is_unit(child: exp.Expr) -> bool:
    return (
        isinstance(child, exp.Column)
        and not child.args.get("table")
        and child.name.lower() in UNITS
    )


def _add(found: Sources, sources: Sources, kind: ValueKind) -> None:
    for root, before in sources.items():
        here = kind if kind > before else before
        if found.get(root, -1) < here:
            found[root] = here


def resolve(node: exp.Column, scope: Scope, reading: StatementReading) -> OutColumn | None:
    """The column a reference means: of a table, a field of a column, or of an outer query."""
    name = node.name if node.this.args.get("quoted") else node.name.lower()
    if isinstance(node.this, exp.Parameter):
        name = f"${node.this.name}"  # A column of a file by its position.
    table = node.args.get("table")
    if table is None and name in PSEUDO_COLUMNS.get(reading.dialect, ()):
        return None
    if table is None:
        column = scope.bare(name)
        if column is None and scope.entries:
            row = scope.row_of(name)
            if row is not None:
                return OutColumn(name, {r: k for c in row.columns for r, k in c.sources.items()})
            return _stale(name, scope)
        return column
    parts = [part.name for part in node.parts]
    for cut in range(len(parts) - 1, 0, -1):
        column = scope.qualified(
            ".".join(parts[:cut]), parts[cut] if cut < len(parts) - 1 else name
        )
        if column is not None:
            return column
    # No table of that name: `a.b` is field b of column a.
    column = scope.bare(parts[0])
    if column is not None and (column.sources or column.ambiguous):
        return column
    return None


def _stale(name: str, scope: Scope) -> OutColumn | None:
    """A column that no known shape has: the only table's own, if there is one table."""
    tables = [entry for entry in scope.entries if entry.full]
    if len(tables) == 1 and len(scope.entries) == 1 and scope.parent is None:
        return OutColumn(name, {Root(tables[0].name, name): ValueKind.IDENTITY})
    return None


def type_of(node: exp.Expr) -> str | None:
    """The type an expression shows by itself."""
    if isinstance(node, exp.Cast):
        return str(node.to.sql()).lower()
    if isinstance(node, exp.Count | exp.RowNumber | exp.Length):
        return "bigint"
    if isinstance(node, exp.Literal):
        if node.is_string:
            return "string"
        return "int" if node.is_int else "double"
    if isinstance(node, exp.Predicate | exp.Boolean | exp.And | exp.Or | exp.Not):
        return "boolean"
    if isinstance(node, exp.CurrentTimestamp):
        return "timestamp"
    if isinstance(node, exp.CurrentDate | exp.Date | exp.TsOrDsToDate):
        return "date"
    if isinstance(node, exp.Concat | exp.Upper | exp.Lower | exp.Trim | exp.Substring):
        return "string"
    return None
