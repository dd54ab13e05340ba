"""Dialect rules for types, numbers and times: each rewrites or refuses one kind of expression."""

from __future__ import annotations

import re

from sqlglot import exp

from goldsmith.planning.dialect_terms import (
    Refused,
    Rule,
    at_least,
    is_date,
    is_number,
    refuse_unless,
    spark,
    unit_of,
)

_ISO_WEEKS = ("postgres", "duckdb", "redshift", "presto")
_INT = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)
_FLOAT = (exp.DType.FLOAT, exp.DType.DOUBLE)
_DECIMAL = (exp.DType.DECIMAL, exp.DType.BIGDECIMAL)


def _number_kept(node: exp.Expr, kind: str) -> exp.Expr:
    """A CAST that fails where it would change the number."""
    return spark(
        f"CASE WHEN CAST(CAST(x AS {kind}) AS DECIMAL(38, 18)) <> CAST(x AS DECIMAL(38, 18))"
        f" THEN raise_error('A number does not fit {kind}: say ROUND or FLOOR before CAST')"
        f" ELSE CAST(x AS {kind}) END",
        x=node,
    )


def _cast(node: exp.Expr, family: str) -> exp.Expr:
    to, value = node.args["to"], node.this
    kind = to.this
    if kind in _INT:
        return _to_int(node, value, to.sql("spark"), family)
    if kind in _DECIMAL:
        return _to_decimal(node, value, to, family)
    if kind in exp.DataType.TEXT_TYPES:
        return _to_text(node, value, to, family)
    if kind in _FLOAT and family == "sqlite":
        return node
    if kind == exp.DType.FLOAT and family == "tsql":
        return spark("CAST(x AS DOUBLE)", x=value)
    refuse_unless(family != "sqlite", "is a number in sqlite", "Say DATE(x).")
    hint = "Spark's DATE has no time of day."
    refuse_unless(family != "oracle" or kind != exp.DType.DATE, "keeps the time of day", hint)
    times = (*exp.DataType.TEMPORAL_TYPES, exp.DType.BOOLEAN)
    known = kind in _FLOAT or (kind in times and "TIME" != kind.name != "TIMETZ")
    refuse_unless(known, "is a type that is not known to be the same in Spark")
    return node


def _to_int(node: exp.Expr, value: exp.Expr, kind: str, family: str) -> exp.Expr:
    if family in ("tsql", "sqlite"):
        return node  # both drop the fraction, as Spark does
    tries = isinstance(node, exp.TryCast)
    refuse_unless(not tries, "is NULL in Spark for a text like '1.5'", "Say CAST(ROUND(…)).")
    if isinstance(value, exp.Literal) and (value.is_int or value.is_string):
        return node
    if family in ("postgres", "duckdb"):  # floats round half to even (C's rint), decimals half up
        return spark(
            "CASE WHEN typeof(x) IN ('float', 'double') THEN"
            f" CAST(bround(CAST(x AS DOUBLE), 0) AS {kind}) WHEN typeof(x) LIKE 'decimal%' THEN"
            f" CAST(round(CAST(x AS DECIMAL(38, 18)), 0) AS {kind}) ELSE CAST(x AS {kind}) END",
            x=value,
        )
    if family in ("snowflake", "bigquery"):
        return spark(
            "CASE WHEN typeof(x) IN ('float', 'double') OR typeof(x) LIKE 'decimal%' THEN"
            f" CAST(round(CAST(x AS DECIMAL(38, 18)), 0) AS {kind}) ELSE CAST(x AS {kind}) END",
            x=value,
        )
    return _number_kept(value, kind)


_BARE_DECIMAL = {
    "postgres": "DECIMAL(38, 18)",
    "redshift": "DECIMAL(18, 0)",
    "tsql": "DECIMAL(18, 0)",
    "mysql": "DECIMAL(10, 0)",
}


def _to_decimal(node: exp.Expr, value: exp.Expr, to: exp.DataType, family: str) -> exp.Expr:
    refuse_unless(family != "sqlite", "is no decimal in sqlite", "Say ROUND(x, digits).")
    kind = to.sql("spark") if to.expressions else _BARE_DECIMAL.get(family)
    hint = "Say its precision and scale: DECIMAL(18, 2)."
    refuse_unless(kind is not None, "has a precision that Spark does not share", hint)
    if family == "redshift":  # its setting enable_numeric_rounding decides: round or truncate
        return _number_kept(value, str(kind))
    return node if to.expressions else spark(f"CAST(x AS {kind})", x=value)


def _to_text(node: exp.Expr, value: exp.Expr, to: exp.DataType, family: str) -> exp.Expr:
    text = f"CAST({value.sql('spark')} AS STRING)"
    bare = ("duckdb", "sqlite", "bigquery")  # they ignore a length
    if family not in bare:
        length = to.expressions[0].sql() if to.expressions else ""
        cut = ("postgres", "presto") if to.this == exp.DType.VARCHAR else ()
        endless = not length or length.upper() == "MAX"
        padded = to.this in (exp.DType.CHAR, exp.DType.NCHAR) and (length or family != "mysql")
        refuse_unless(not padded, "pads with spaces", f"Say RPAD({text}, n).")
        hint = f"Say LEFT({text}, {length or 30})."
        refuse_unless(endless or family in cut, "cuts the text, and Spark does not", hint)
        short = family == "tsql" and not length and to.this != exp.DType.TEXT
        refuse_unless(not short, "cuts the text at 30 characters", hint)
        if not endless:
            inner = exp.cast(value.copy(), "text", copy=False)
            return spark(f"LEFT(x, {length})", x=_to_text(inner, value, inner.to, family))
    if isinstance(value, exp.Literal) and value.is_string:
        return node
    others = "('string', 'tinyint', 'smallint', 'int', 'bigint')"
    odd = "typeof(x) IN ('float', 'double')"
    if family not in ("postgres", "duckdb", "redshift"):
        odd = f"typeof(x) NOT IN {others} AND NOT typeof(x) LIKE 'varchar%'"
    error = f"A CAST to text gives another text in {family}: use date_format or format_number"
    return spark(f"CASE WHEN {odd} THEN raise_error('{error}') ELSE CAST(x AS STRING) END", x=value)


_COUNTS_BOUNDARIES = ("duckdb", "redshift", "snowflake", "tsql", "bigquery")
_TIMES = ("HOUR", "MINUTE", "SECOND")
_BOUNDARIES = {
    "YEAR": "year(e) - year(s)",
    "QUARTER": "(year(e) - year(s)) * 4 + quarter(e) - quarter(s)",
    "MONTH": "(year(e) - year(s)) * 12 + month(e) - month(s)",
    "WEEK": "datediff(date_trunc('WEEK', e), date_trunc('WEEK', s)) DIV 7",
    "DAY": "datediff(CAST(e AS DATE), CAST(s AS DATE))",
    **{unit: f"timestampdiff({unit}, date_trunc('{unit}', s), date_trunc('{unit}', e))"
       for unit in _TIMES},
}  # fmt: skip


def _difference(node: exp.Expr, family: str) -> exp.Expr:
    unit = unit_of(node)
    dates = family == "mysql" and isinstance(node, exp.DateDiff)  # DATEDIFF(a, b), of days only
    moments = family in ("mysql", "bigquery") and isinstance(node, exp.TimestampDiff)
    if (moments or family == "presto") and unit in ("DAY", *_TIMES):
        return spark(f"timestampdiff({unit}, s, e)", e=node.this, s=node.expression)
    known = (family in _COUNTS_BOUNDARIES and not moments) or dates
    weeks = unit != "WEEK" or family == "duckdb"
    hint = "Spark's TIMESTAMPDIFF(unit, a, b) counts whole units, DATEDIFF(b, a) counts midnights."
    refuse_unless(known and weeks and unit in _BOUNDARIES, "counts otherwise in Spark", hint)
    return spark(_BOUNDARIES[unit], e=node.this, s=node.expression)


def _moved(node: exp.Expr, family: str) -> exp.Expr:
    """Rewrite date arithmetic as `x + INTERVAL`: sqlglot's DATE_ADD would drop the time of day."""
    hint = "Say x + INTERVAL '1' MONTH."
    count, unit = node.expression, unit_of(node)
    # sqlglot parses Redshift's ADD_MONTHS, which keeps the end of a month, as DATEADD.
    months = family == "redshift" and unit == "MONTH"
    refuse_unless(not months, "may move the end of a month otherwise in Spark", hint)
    if isinstance(count, exp.Interval):
        count, unit = count.this, unit_of(count)
    known = unit in ("YEAR", "MONTH", "WEEK", "DAY", *_TIMES)
    refuse_unless(known, "moves by a unit that Spark does not know", hint)
    sign = "-" if isinstance(node, exp.DateSub | exp.TimestampSub | exp.DatetimeSub) else "+"
    number = f"-{count.this.name}" if isinstance(count, exp.Neg) else count.name
    if re.fullmatch(r"-?\d+", number):
        return spark(f"x {sign} INTERVAL '{number}' {unit}", x=node.this)
    kept = _number_kept(count, "BIGINT")
    return spark(f"x {sign} n * INTERVAL '1' {unit}", x=node.this, n=kept)


#: In these dialects the difference of two dates is a number of days; in Spark it is an interval.
_COUNTS_DAYS = ("postgres", "duckdb", "redshift", "snowflake")
#: In these it is an interval, too.
_GIVES_INTERVALS = ("bigquery", "presto")


def _subtracted(node: exp.Expr, family: str) -> exp.Expr:
    left, right = node.this, node.expression
    if is_number(left) or isinstance(right, exp.Interval):
        return node
    if family in _GIVES_INTERVALS or (family in _COUNTS_DAYS and is_number(right)):
        return node
    if family in _COUNTS_DAYS and is_date(left) and is_date(right):
        return spark("datediff(e, s)", e=left, s=right)
    # Types of columns are known to Spark only: the query fails where both are dates.
    times = "('date', 'timestamp', 'timestamp_ntz')"
    wrong = f"typeof(e) IN {times}"
    if family in _COUNTS_DAYS:
        wrong = "typeof(e) = 'date' AND typeof(s) = 'date'"
    error = f"The difference of times is another value in {family}: write DATEDIFF or an INTERVAL"
    return spark(f"CASE WHEN {wrong} THEN raise_error('{error}') ELSE e - s END", e=left, s=right)


def _extracted(node: exp.Expr, family: str) -> exp.Expr:
    unit, value = node.this.name.upper(), node.expression
    if unit in ("YEAR", "MONTH", "DAY", "QUARTER", "HOUR", "MINUTE", "DOY"):
        return node
    if unit == "WEEK" and family in _ISO_WEEKS:
        return node
    if unit == "SECOND" and family == "postgres":
        return node
    if unit in ("DOW", "DAYOFWEEK") and family in ("postgres", "duckdb", "redshift"):
        return spark("dayofweek(x) - 1", x=value)
    if unit == "DAYOFWEEK" and family == "bigquery":
        return spark("dayofweek(x)", x=value)
    if unit == "ISODOW" and family in ("postgres", "duckdb"):
        return spark("weekday(x) + 1", x=value)
    hint = "dayofweek(d) is 1 on Sunday, weekday(d) is 0 on Monday, weekofyear(d) is ISO's week."
    raise Refused("is not known to be the same in Spark", hint)


def _day_of_week(node: exp.Expr, family: str) -> exp.Expr:
    if isinstance(node, exp.DayOfWeekIso):
        refuse_unless(family in ("duckdb", "presto", "snowflake"), "is not known", "")
        return spark("weekday(x) + 1", x=node.this)
    if family == "duckdb":
        return spark("dayofweek(x) - 1", x=node.this)
    hint = "dayofweek(d) is 1 on Sunday, weekday(d) is 0 on Monday."
    refuse_unless(family == "mysql", "counts the days of a week otherwise", hint)
    return node


def _truncated(node: exp.Expr, family: str) -> exp.Expr:
    unit = unit_of(node)
    known = unit in ("YEAR", "QUARTER", "MONTH", "DAY", *_TIMES)
    known = known or (unit == "WEEK" and family in _ISO_WEEKS)
    hint = "Spark's DATE_TRUNC('WEEK', d) is the Monday before."
    refuse_unless(known, "is not known to be the same in Spark", hint)
    hint = "Say DATE_TRUNC, or CAST(… AS DATE)."
    refuse_unless(family != "oracle", "is not known to be the same in Spark", hint)
    return node


def _log(node: exp.Expr, family: str) -> exp.Expr:
    tens = family in ("postgres", "redshift", "duckdb", "sqlite")
    if tens and node.expression is None:
        return exp.Anonymous(this="LOG10", expressions=[node.this.copy()])  # LOG(10, 1000) < 3
    known = family in ("postgres", "duckdb", "snowflake")
    refuse_unless(known, "has its base elsewhere", "Spark has ln(x), log10(x), log(base, x).")
    return node


def _rounded(node: exp.Expr, family: str) -> exp.Expr:
    digits = node.args.get("decimals")
    refuse_unless(not node.args.get("truncate"), "does not round", "Say FLOOR, or CAST.")
    if family == "postgres" and digits is None:
        return spark(
            "CASE WHEN typeof(x) IN ('float', 'double') THEN bround(x, 0) ELSE round(x, 0) END",
            x=node.this,
        )
    exact = isinstance(node.this, exp.Cast) and node.this.to.this in _DECIMAL
    known = exact or (family != "mysql" and (digits is not None or family != "redshift"))
    hint = "Say ROUND(CAST(x AS DECIMAL(18, 6)))."
    refuse_unless(known, "rounds halves of floating numbers otherwise", hint)
    return node


def _whole(node: exp.Expr, family: str) -> exp.Expr:
    digits = node.args.get("decimals") or node.args.get("to")
    refuse_unless(not digits, "is not known to be the same in Spark", "Say ROUND.")
    known = not isinstance(node, exp.Trunc) or family in ("postgres", "duckdb")
    refuse_unless(known, "is not known to be the same in Spark", "Say CAST(x AS BIGINT).")
    return node


def _average(node: exp.Expr, family: str) -> exp.Expr:
    kinds = (*_FLOAT, *_DECIMAL)
    is_cast = any(cast.to.this in kinds for cast in node.find_all(exp.Cast))
    hint = "Say AVG(CAST(x AS DECIMAL(18, 6)))."
    drops = family in ("tsql", "redshift") and not is_cast
    refuse_unless(not drops, "drops the fraction where whole numbers are averaged", hint)
    return node


def _largest(node: exp.Expr, family: str) -> exp.Expr:
    if family in ("postgres", "redshift", "duckdb", "tsql"):
        return node  # these skip NULL, as Spark does
    values = [node.this, *node.expressions]
    any_null = exp.or_(*(value.copy().is_(exp.null()) for value in values))
    return exp.Paren(
        this=exp.Case(ifs=[exp.If(this=any_null, true=exp.null())], default=node.copy())
    )


def _indexed(node: exp.Expr, family: str) -> exp.Expr:
    known = family in ("postgres", "duckdb") and len(node.expressions) == 1
    index = node.expressions[0]
    hint = "Spark has element_at(array, 1), and a[0]."
    refuse_unless(known and at_least(index, 0), "may count otherwise", hint)
    return node


def _limited(node: exp.Expr, family: str) -> exp.Expr:
    options = node.args.get("limit_options")
    extra = options is not None and (options.args.get("with_ties") or options.args.get("percent"))
    refuse_unless(not extra, "is not done by Spark", "Say RANK() OVER (…) and a WHERE.")
    return node


def _percentile(node: exp.Expr, family: str) -> exp.Expr:
    """Keep the exact percentile: sqlglot prints Spark's approximate one."""
    percentile = node.this
    if not isinstance(percentile, exp.PercentileCont | exp.PercentileDisc):
        return node
    named = exp.Anonymous(this=percentile.sql_name(), expressions=[percentile.this.copy()])
    return exp.WithinGroup(this=named, expression=node.expression.copy())


def _bare_percentile(node: exp.Expr, family: str) -> exp.Expr:
    hint = "Say PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."
    grouped = isinstance(node.parent, exp.WithinGroup)
    refuse_unless(grouped, "is not known to be the same in Spark", hint)
    return node


def _zoned(node: exp.Expr, family: str) -> exp.Expr:
    hint = "Spark has from_utc_timestamp and to_utc_timestamp; its sessions are in UTC."
    raise Refused("means one of two things, by the type of the time", hint)


def _same(node: exp.Expr, family: str) -> exp.Expr:
    return node


RULES: dict[type[exp.Expr], Rule] = {
    **dict.fromkeys((exp.Cast, exp.TryCast), _cast),
    **dict.fromkeys((exp.DateDiff, exp.TsOrDsDiff), _difference),
    **dict.fromkeys((exp.TimestampDiff, exp.DatetimeDiff), _difference),
    **dict.fromkeys((exp.DateAdd, exp.DateSub, exp.TsOrDsAdd), _moved),
    **dict.fromkeys((exp.TimestampAdd, exp.TimestampSub), _moved),
    **dict.fromkeys((exp.DatetimeAdd, exp.DatetimeSub), _moved),
    **dict.fromkeys((exp.DayOfWeek, exp.DayOfWeekIso), _day_of_week),
    **dict.fromkeys((exp.TimestampTrunc, exp.DateTrunc, exp.DatetimeTrunc), _truncated),
    **dict.fromkeys((exp.Ceil, exp.Floor, exp.Trunc), _whole),
    **dict.fromkeys((exp.Greatest, exp.Least), _largest),
    **dict.fromkeys((exp.Limit, exp.Fetch), _limited),
    **dict.fromkeys((exp.PercentileCont, exp.PercentileDisc), _bare_percentile),
    exp.WithinGroup: _percentile,
    exp.Div: _same,
    exp.Sub: _subtracted,
    exp.WeekStart: _same,
    exp.AtTimeZone: _zoned,
    exp.Extract: _extracted,
    exp.Log: _log,
    exp.Round: _rounded,
    exp.Avg: _average,
    exp.Bracket: _indexed,
}
