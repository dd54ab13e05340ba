"""Dialect rules for texts: how they are compared, matched, cut, joined and formatted."""

from __future__ import annotations

import re

from sqlglot import exp

from goldsmith.planning.dialect_terms import Refused, Rule, at_least, is_number, refuse_unless

#: These dialects compare texts without regard to case.
_ANY_CASE = ("mysql", "tsql")
_LETTER = re.compile(r"[^\W\d_]")
#: A pattern that every regular expression engine reads alike.
_PLAIN_PATTERN = re.compile(r"\^?(?:(?:[\w ,:;@#/%=<>~!-]|\[\^?[\w ,:;@#/%=.-]+\])[+*?]?)+")
_PLAIN_FORMAT = re.compile(r"(?:%[YmdHMS]|[-/:., ])+")


def _compared(node: exp.Expr, family: str) -> exp.Expr:
    sides = [node.this, *node.expressions, node.args.get("expression")]
    if isinstance(node, exp.Case):
        sides = [node.this, *(branch.this for branch in node.args["ifs"])] if node.this else []
    folded = any(isinstance(side, exp.Lower | exp.Upper) for side in sides)
    texts = [side.name for side in sides if isinstance(side, exp.Literal) and side.is_string]
    if family in _ANY_CASE and not folded and any(map(_LETTER.search, texts)):
        hint = "Say LOWER(x) = 'text in small letters'."
        raise Refused("disregards case by default, and Spark does not", hint)
    return node


def _like(node: exp.Expr, family: str) -> exp.Expr:
    pattern = node.expression
    text = pattern.name if isinstance(pattern, exp.Literal) else None
    hint = "Say LOWER(x) LIKE 'text in small letters%'."
    cased = text is None or (bool(_LETTER.search(text)) and not isinstance(node.this, exp.Lower))
    small = family in (*_ANY_CASE, "sqlite") and cased
    refuse_unless(not small, "disregards case by default, and Spark does not", hint)
    escapes = family in ("postgres", "redshift", "mysql", "bigquery")
    plain = text is not None and "\\" not in text and (family != "tsql" or "[" not in text)
    hint = "Spark's LIKE has % and _, and \\ before either."
    refuse_unless(escapes or plain, "has a pattern that Spark reads otherwise", hint)
    return node


def _matched(node: exp.Expr, family: str) -> exp.Expr:
    pattern, replaced = node.expression, isinstance(node, exp.RegexpReplace)
    known = family in ("postgres", "duckdb", "redshift", "presto", "bigquery")
    known = known or (family == "snowflake" and replaced)
    plain = isinstance(pattern, exp.Literal) and _PLAIN_PATTERN.fullmatch(pattern.name)
    hint = "Spark has regexp_replace, which replaces every match, and RLIKE, which finds a part."
    refuse_unless(bool(known and plain), "may match otherwise in Spark", hint)
    if replaced:
        first = family in ("postgres", "duckdb") and node.text("modifiers") != "g"
        with_ = node.args.get("replacement")
        quiet = isinstance(with_, exp.Literal) and not re.search(r"[\\$]", with_.name)
        more = any(map(node.args.get, ("position", "occurrence")))
        known = quiet and not first and not more and node.text("modifiers") in ("", "g")
        refuse_unless(known, "replaces otherwise in Spark", hint)
    else:
        refuse_unless(not node.args.get("flag"), "may match otherwise in Spark", hint)
    return node


def _substring(node: exp.Expr, family: str) -> exp.Expr:
    start = node.args.get("start")
    backwards = family == "duckdb" and isinstance(start, exp.Neg) and at_least(start.this, 1)
    known = at_least(start, 1) or backwards
    hint = "A start below 1 counts from the end in Spark."
    refuse_unless(known, "may start before the text, where Spark differs", hint)
    return _no_empty_text(node, family)


def _end_of_text(node: exp.Expr, family: str) -> exp.Expr:
    hint = "LEFT and RIGHT of fewer than 0 characters are empty in Spark."
    refuse_unless(at_least(node.expression, 0), "may take fewer than no characters", hint)
    return _no_empty_text(node, family)


def _no_empty_text(node: exp.Expr, family: str) -> exp.Expr:
    """Refuse where an empty text may be NULL: in Oracle, and perhaps in unknown dialects."""
    hint = "An empty text is not NULL in Spark."
    refuse_unless(family not in ("oracle", "other"), "takes an empty text for NULL", hint)
    return node


def _position(node: exp.Expr, family: str) -> exp.Expr:
    more = node.args.get("position") or node.args.get("occurrence")
    refuse_unless(not more, "is not known to be the same in Spark", "See Spark's LOCATE.")
    return _cased(node, family)


def _cased(node: exp.Expr, family: str) -> exp.Expr:
    refuse_unless(family not in _ANY_CASE, "disregards case, and Spark does not", "Say LOWER(x).")
    return _no_empty_text(node, family)


def _length(node: exp.Expr, family: str) -> exp.Expr:
    if family == "mysql" and not node.args.get("binary"):
        return node  # CHAR_LENGTH
    hint = "Spark has char_length, which counts spaces, and octet_length."
    refuse_unless(family not in ("mysql", "tsql"), "counts otherwise in Spark", hint)
    return _no_empty_text(node, family)


def _concatenated(node: exp.Expr, family: str) -> exp.Expr:
    if family == "redshift":
        node.set("coalesce", False)  # NULL gives NULL, unlike in PostgreSQL
    return _no_empty_text(node, family)


def _added(node: exp.Expr, family: str) -> exp.Expr:
    known = family != "tsql" or is_number(node.this) or is_number(node.expression)
    refuse_unless(known, "joins texts in tsql", "Say CONCAT(a, b), or CAST one to a number.")
    return node


def _formatted(node: exp.Expr, family: str) -> exp.Expr:
    form = node.args.get("format")
    known = isinstance(form, exp.Literal) and _PLAIN_FORMAT.fullmatch(form.name)
    hint = "Spark's patterns: yyyy-MM-dd HH:mm:ss, in date_format, to_date and to_timestamp."
    timed = isinstance(node, exp.StrToDate) and re.search("%[HMS]", node.text("format"))
    refuse_unless(
        bool(known and not timed), "has a pattern that is not known to mean the same", hint
    )
    return node


def _literal(node: exp.Expr, family: str) -> exp.Expr:
    hint = "An empty text is not NULL in Spark."
    empty = family == "oracle" and node.is_string and not node.name
    refuse_unless(not empty, "is NULL in oracle", hint)
    return node


RULES: dict[type[exp.Expr], Rule] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _compared),
    **dict.fromkeys((exp.In, exp.Case), _compared),
    **dict.fromkeys((exp.RegexpLike, exp.RegexpReplace), _matched),
    **dict.fromkeys((exp.Left, exp.Right), _end_of_text),
    **dict.fromkeys((exp.Concat, exp.DPipe), _concatenated),
    **dict.fromkeys((exp.Upper, exp.Lower, exp.Trim), _no_empty_text),
    **dict.fromkeys((exp.TimeToStr, exp.StrToTime, exp.StrToDate), _formatted),
    exp.Like: _like,
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.Replace: _cased,
    exp.Length: _length,
    exp.Add: _added,
    exp.Literal: _literal,
}
