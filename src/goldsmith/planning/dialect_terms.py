"""Helpers of the dialect rules: families of dialects, refusals, Spark expressions."""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import exp

#: Each dialect's family: the dialect with the same semantics. A dialect that is not listed gets
#: only what is common to all families.
_FAMILY = {
    **dict.fromkeys(("postgres", "materialize", "risingwave"), "postgres"),
    **dict.fromkeys(("mysql", "doris", "starrocks"), "mysql"),
    **dict.fromkeys(("tsql", "fabric"), "tsql"),
    **dict.fromkeys(("presto", "trino", "athena", "dune"), "presto"),
    **dict.fromkeys(("oracle", "exasol"), "oracle"),
    **{name: name for name in ("duckdb", "sqlite", "redshift", "snowflake", "bigquery", "hive")},
    **dict.fromkeys(("spark", "spark2", "databricks"), "spark"),
}
FAMILIES = frozenset((*_FAMILY.values(), "other"))
#: SQL of this family is never translated.
OWN = ("spark",)

Rule = Callable[[exp.Expr, str], exp.Expr]


class Refused(Exception):
    """An expression cannot be translated; has the reason and what to write instead."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.hint = hint


def family_of(dialect: str | None) -> str:
    return _FAMILY.get((dialect or "spark").partition(",")[0].strip().lower(), "other")


def spark(text: str, **parts: exp.Expr) -> exp.Expr:
    """Parse a Spark expression and put parts of the query in for the column names in it."""
    tree = sqlglot.parse_one(text, read="spark")
    for column in list(tree.find_all(exp.Column)):
        if (part := parts.get(column.name)) is not None:
            alone = isinstance(part, exp.Column | exp.Literal | exp.Paren | exp.Func)
            column.replace(part.copy() if alone else exp.Paren(this=part.copy()))
    return exp.Paren(this=tree)


def refuse_unless(holds: bool, why: str, hint: str = "") -> None:
    if not holds:
        raise Refused(why, hint)


def at_least(node: exp.Expr | None, least: int) -> bool:
    """The expression is certainly a number of at least `least`, as a literal or a text position."""
    if isinstance(node, exp.Paren):
        return at_least(node.this, least)
    if isinstance(node, exp.Literal):
        return node.is_int and int(node.name) >= least
    if isinstance(node, exp.Add):
        return any(
            at_least(first, 0) and at_least(second, least)
            for first, second in ((node.left, node.right), (node.right, node.left))
        )
    return least <= 0 and isinstance(node, exp.StrPosition | exp.Length)


def is_number(node: exp.Expr) -> bool:
    """The expression is certainly a number and not a text."""
    if isinstance(node, exp.Paren | exp.Neg):
        return is_number(node.this)
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.NUMERIC_TYPES
    if isinstance(node, exp.Add | exp.Coalesce):
        return is_number(node.this)
    kinds = (exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Count, exp.Sum, exp.Avg, exp.Interval)
    return (isinstance(node, exp.Literal) and node.is_number) or isinstance(node, kinds)


def is_date(node: exp.Expr) -> bool:
    """The expression is certainly a day without a time."""
    if isinstance(node, exp.Paren):
        return is_date(node.this)
    if isinstance(node, exp.Cast):
        return bool(node.to.this == exp.DType.DATE)
    return isinstance(node, exp.CurrentDate | exp.Date | exp.TsOrDsToDate | exp.DateFromParts)


def unit_of(node: exp.Expr) -> str:
    unit = node.args.get("unit")
    named = isinstance(unit, exp.Var | exp.Literal | exp.Column)
    return "DAY" if unit is None else unit.name.upper() if named else ""
