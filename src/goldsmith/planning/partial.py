"""Find the tables a query must read whole, because a part of their rows gives other results.

A query may read its input load by load if running it over two loads together gives the same rows
as running it over each load. This holds where each branch reads the input once: filtered,
projected, joined with tables that are read whole. It does not hold where rows of the input are
combined with rows of the same input, or where a row is kept because the input has no match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

TWICE = "joins it with itself"
SUBQUERY = "reads it in a subquery of an expression"
OPTIONAL = "keeps rows for which it has no match"
RECURSIVE = "reads it in a recursive WITH"
COMPARED = "compares its rows by EXCEPT or INTERSECT"

_STOPS = (exp.Query, exp.Table, exp.With)
#: Parts of a SELECT that are relations; a hint only names some of them.
_NOT_EXPRESSIONS = ("from_", "joins", "laterals", "with_", "hint")


class Use(NamedTuple):
    """How a query uses one table."""

    #: How many rows of the table are combined into one result row.
    times: int = 0
    #: Why the table must be read whole.
    why: str | None = None
    #: Some result rows do not depend on the table, so every load would give them again.
    again: bool = False

    def __add__(self, other: object) -> Use:
        assert isinstance(other, Use)
        return Use(self.times + other.times, self.why or other.why, self.again or other.again)


def use_of(query: exp.Query, name: str) -> Use:
    """How a query uses the table of this name."""
    used = _used(query, name, {})
    return used._replace(why=TWICE) if used.why is None and used.times > 1 else used


def _used(node: exp.Expr, name: str, known: Mapping[str, Use]) -> Use:
    """How a node and its children use the table; `known` holds the CTEs in scope."""
    clause = node.args.get("with_")
    if isinstance(clause, exp.With):
        known = _with(clause, name, known)
    if isinstance(node, exp.SetOperation):
        return _set_operation(node, name, known)
    if isinstance(node, exp.Select):
        return _select(node, name, known)
    total = Use()
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        total = _table(node, name, known)
    total += _children(node, name, known)
    for join in node.args.get("joins") or ():  # `(s LEFT JOIN t ON …)` belong to `s`
        total = _joined(total, join, name, known)
    return total


def _children(node: exp.Expr, name: str, known: Mapping[str, Use]) -> Use:
    """How the queries and tables below a node use the table; walks, as nesting may be deep."""
    total = Use()
    for child in _parts(node, but=("joins", "with_")):
        for inner in child.walk(prune=lambda inner: isinstance(inner, _STOPS)):
            if isinstance(inner, exp.Query | exp.Table):
                total += _used(inner, name, known)
    return total


def _parts(node: exp.Expr, *, but: tuple[str, ...]) -> Iterator[exp.Expr]:
    for key, value in node.args.items():
        if key not in but:
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    yield part


def _set_operation(node: exp.SetOperation, name: str, known: Mapping[str, Use]) -> Use:
    left, right = (_used(side, name, known) for side in (node.left, node.right))
    total = left + right
    if isinstance(node, exp.Union):
        again = total.again or (left.times > 0) != (right.times > 0)
        total = Use(max(left.times, right.times), total.why, again)
    elif total.times:
        total = total._replace(why=total.why or COMPARED)
    for part in _parts(node, but=("this", "expression", "with_")):
        total += _in_expression(part, name, known)
    return total


def _with(clause: exp.With, name: str, known: Mapping[str, Use]) -> Mapping[str, Use]:
    inner = dict(known)
    for cte in clause.expressions:
        alias = cte.alias.lower()
        used = _used(cte.this, name, {**inner, alias: Use()} if clause.recursive else inner)
        if clause.recursive and used.times:
            used = used._replace(why=used.why or RECURSIVE)
        inner[alias] = used
    return inner


def _table(table: exp.Table, name: str, known: Mapping[str, Use]) -> Use:
    if not table.args.get("db") and table.name.lower() in known:
        return known[table.name.lower()]
    return Use(int(".".join(part.name for part in table.parts) == name))


def _select(select: exp.Select, name: str, known: Mapping[str, Use]) -> Use:
    total = Use()
    from_ = select.args.get("from_")
    if from_ is not None:
        total += _used(from_, name, known)
    for join in select.args.get("joins") or ():
        total = _joined(total, join, name, known)
    for lateral in select.args.get("laterals") or ():
        total += _used(lateral, name, known)
    for part in _parts(select, but=_NOT_EXPRESSIONS):
        total += _in_expression(part, name, known)
    return total


def _joined(before: Use, join: exp.Join, name: str, known: Mapping[str, Use]) -> Use:
    side, kind = join.side.upper(), join.kind.upper()
    joined = _used(join.this, name, known)
    optional = (joined.times and (side in ("LEFT", "FULL") or kind in ("SEMI", "ANTI"))) or (
        before.times and side in ("RIGHT", "FULL")
    )
    on = join.args.get("on")
    total = before + joined + (_in_expression(on, name, known) if on is not None else Use())
    return total._replace(why=total.why or OPTIONAL) if optional else total


def _in_expression(node: exp.Expr, name: str, known: Mapping[str, Use]) -> Use:
    used = _used(node, name, known)
    return used._replace(why=used.why or SUBQUERY) if used.times else used
