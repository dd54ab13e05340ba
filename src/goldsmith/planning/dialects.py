"""Translate SQL of another dialect to Spark, or refuse it.

sqlglot translates by name: `DATEDIFF(hour, a, b)` counts hour boundaries in Redshift and whole
hours in Spark, and both parse. So every function and operator is looked up here. A kind of
expression in `_EVERYWHERE` or `_SAME` is known to mean the same in Spark. A kind with a rule in
`dialect_rules` or `dialect_texts` is rewritten or refused by its rule. Everything else is refused
before anything runs.
"""

from __future__ import annotations

from sqlglot import exp

from goldsmith.planning import dialect_rules, dialect_texts
from goldsmith.planning.dialect_terms import FAMILIES, OWN, Refused, family_of

_EVERYWHERE: tuple[type[exp.Expr], ...] = (
    *(exp.Column, exp.Null, exp.Boolean, exp.Paren, exp.Dot, exp.Unnest),
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.Exists, exp.Between),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Neg, exp.Mul, exp.Mod, exp.IntDiv),
    *(exp.If, exp.Coalesce, exp.Nullif, exp.Abs, exp.Sign, exp.Exp, exp.Ln, exp.Pow),
    *(exp.Count, exp.CountIf, exp.Sum, exp.Min, exp.Max, exp.Window, exp.Filter),
    *(exp.StddevSamp, exp.StddevPop, exp.Stddev, exp.Variance, exp.VariancePop),
    *(exp.LogicalAnd, exp.LogicalOr, exp.ApproxDistinct),
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.PercentRank, exp.CumeDist),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.IgnoreNulls),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Grouping, exp.AnyValue),
    *(exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfYear, exp.Quarter),
    *(exp.Hour, exp.Minute, exp.Date, exp.DateFromParts, exp.TsOrDsToTimestamp),
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.Localtimestamp),
)
#: The same in Spark, except in dialects where an empty text is NULL.
_TEXT: tuple[type[exp.Expr], ...] = (
    *(exp.Upper, exp.Lower, exp.Concat, exp.DPipe, exp.Length, exp.Trim, exp.Replace),
    *(exp.StrPosition, exp.Substring, exp.Left, exp.Right, exp.ILike, exp.Escape),
)
_POSTGRES = (
    *(exp.BitwiseNot, exp.ConcatWs, exp.Translate, exp.Reverse, exp.Repeat, exp.Pad, exp.Overlay),
    *(exp.SplitPart, exp.StartsWith, exp.MD5, exp.Ascii, exp.Chr, exp.GroupConcat, exp.ByteString),
    *(exp.Corr, exp.CovarPop, exp.CovarSamp, exp.RegrSlope, exp.Sqrt, exp.Cbrt, exp.Pi),
    *(exp.Degrees, exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.Array, exp.ArraySize, exp.Explode),
    exp.Rand,
)
#: Kinds of expression that mean the same in Spark, by family. Tests compare the first three
#: families with the real engines; the others have not been compared.
_SAME: dict[str, tuple[type[exp.Expr], ...]] = {
    "postgres": (*_TEXT, *_POSTGRES),
    "duckdb": (*_TEXT, *_POSTGRES, exp.Contains, exp.LastDay, exp.Median, exp.SHA2),
    "sqlite": _TEXT,
    "redshift": (*_TEXT, exp.SplitPart, exp.MD5, exp.Median, exp.LastDay, exp.Sqrt, exp.Rand),
    "snowflake": (*_TEXT, exp.ConcatWs, exp.SplitPart, exp.StartsWith, exp.LastDay, exp.Sqrt),
    "bigquery": (*_TEXT, exp.StartsWith, exp.LastDay, exp.SafeDivide, exp.TsOrDsToDate),
    "mysql": (*_TEXT, exp.ConcatWs, exp.DayOfWeek, exp.LastDay, exp.TsOrDsToDate),
    "tsql": (*_TEXT, exp.LastDay, exp.TsOrDsToDate, exp.TimeStrToTime),
    "presto": (*_TEXT, exp.StartsWith, exp.WeekOfYear, exp.Sqrt, exp.TsOrDsToDate),
}
_MEANT = {family: frozenset((*_EVERYWHERE, *_SAME.get(family, ()))) for family in FAMILIES}
_RULES = {**dialect_rules.RULES, **dialect_texts.RULES}
_WHOLE = exp.DataType.INTEGER_TYPES
_SPARK_SQL = "Write it in Spark SQL: a stage without transform_dialect is run as it is written."


class NotTranslated(ValueError):
    """A part of the SQL for which no Spark SQL of the same meaning is known."""

    def __init__(self, message: str, hint: str, line: int) -> None:
        super().__init__(message)
        self.hint, self.line = hint, line


def translate(query: exp.Query, dialect: str | None) -> exp.Query:
    """Rewrite the query so that every expression means in Spark what it means in the dialect.

    Raises NotTranslated for the first expression that cannot be translated.
    """
    family = family_of(dialect)
    if family in OWN:
        return query
    query = query.copy()
    for divided in list(query.find_all(exp.Div)):
        if divided.args.get("typed") and all(
            side.is_type(*_WHOLE) for side in divided.unnest_operands()
        ):
            divided.replace(exp.IntDiv(this=divided.left, expression=divided.right))
    # Children first, so that the replacement of a child is not translated again.
    for node in reversed(list(query.walk(bfs=True))):
        try:
            meant = _meant(node, family)
        except Refused as refused:
            raise not_translated(node, str(dialect), refused) from refused
        if meant is not node:
            shown = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
            name = node.output_name or node.sql("spark")
            node.replace(exp.alias_(meant, name, quoted=True, copy=False) if shown else meant)
    return query


def _meant(node: exp.Expr, family: str) -> exp.Expr:
    if family == "hive" and not isinstance(node, exp.Greatest | exp.Least):
        return node  # Spark took its functions from Hive; only these two treat NULL differently
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node, family)
    if isinstance(node, exp.Condition) and type(node) not in _MEANT[family]:
        raise Refused("is not known to mean the same in Spark")
    return node


def not_translated(node: exp.Expr, dialect: str, refused: Refused) -> NotTranslated:
    line = next((inner.meta["line"] for inner in node.walk() if "line" in inner.meta), 1)
    sql = node.sql(dialect)
    sql = sql if len(sql) <= 80 else f"{sql[:77]}..."
    hint = f"{refused.hint} {_SPARK_SQL}" if refused.hint else _SPARK_SQL
    return NotTranslated(f"'{sql}' {refused}", hint, line)
