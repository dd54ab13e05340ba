"""PIVOT and UNPIVOT: the columns they add and those they take away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from goldsmith.digest.expressions import sources_of
from goldsmith.digest.relation import OutColumn, Relation
from goldsmith.digest.scope import Scope
from goldsmith.digest.values import Sources, ValueKind

if TYPE_CHECKING:
    from goldsmith.digest.reading import StatementReading


def pivoted(pivot: exp.Pivot, relation: Relation, reading: StatementReading) -> Relation:
    """The relation after a pivot."""
    from goldsmith.digest.relations import Ctes

    scope = Scope()
    scope.add("", "", relation)
    ctes = Ctes()
    if pivot.args.get("unpivot"):
        return _unpivoted(pivot, relation, scope, reading, ctes)
    reading.aggregates = True
    used: set[str] = set()
    values: list[Sources] = []
    for aggregate in pivot.expressions:
        found = dict.fromkeys(_own(aggregate, scope, reading, ctes, used), ValueKind.AGGREGATE)
        values.append(found)
    for field in pivot.args.get("fields") or ():
        if isinstance(field, exp.In):
            reading.use("group", _own(field.this, scope, reading, ctes, used))
    rest = [column for column in relation.columns if column.name.lower() not in used]
    names = [column.name for column in pivot.args.get("columns") or ()]
    made = [
        OutColumn(_plain(name), dict(values[index % len(values)]) if values else {})
        for index, name in enumerate(names)
    ]
    return Relation([*rest, *made], relation.open, relation.through)


def _plain(name: str) -> str:
    return name.strip("'").lower()


def _own(
    node: exp.Expr, scope: Scope, reading: StatementReading, ctes: object, used: set[str]
) -> Sources:
    for column in node.find_all(exp.Column):
        column.set("table", None)
        used.add(column.name.lower())
    return sources_of(node, scope, reading, ctes)  # type: ignore[arg-type]


def _unpivoted(
    pivot: exp.Pivot, relation: Relation, scope: Scope, reading: StatementReading, ctes: object
) -> Relation:
    used: set[str] = set()
    added: list[OutColumn] = []
    fields = pivot.args.get("fields") or ()
    turned: Sources = {}
    for field in fields:
        if isinstance(field, exp.In):
            for item in field.expressions:
                inner = item.this if isinstance(item, exp.PivotAlias | exp.Alias) else item
                turned.update(_own(inner, scope, reading, ctes, used))
            added.append(OutColumn(field.this.name.lower(), {}))
    for value in pivot.expressions:
        for column in value.find_all(exp.Column, exp.Identifier):
            if isinstance(column, exp.Column) or not isinstance(column.parent, exp.Column):
                added.append(OutColumn(column.name.lower(), dict(turned)))
    rest = [column for column in relation.columns if column.name.lower() not in used]
    return Relation([*rest, *added], relation.open, relation.through)
