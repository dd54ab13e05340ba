"""Great Expectations' row conditions as SQL: col("a") > 5, or the objects of its newer releases."""

from __future__ import annotations

import re
from typing import Any

_NOT_NULL = re.compile(r"""col\(\s*["']([^"']+)["']\s*\)\.notNull\(\)""")
_NULL = re.compile(r"""col\(\s*["']([^"']+)["']\s*\)\.isNull\(\)""")
_COLUMN = re.compile(r"""col\(\s*["']([^"']+)["']\s*\)""")
_DATE = re.compile(r"""date\(\s*["']([^"']+)["']\s*\)""")


def as_sql(condition: Any) -> str:
    """The condition as Spark SQL."""
    if isinstance(condition, dict):
        return _of_object(condition)
    text = _NOT_NULL.sub(lambda match: f"{_quoted(match[1])} IS NOT NULL", str(condition))
    text = _NULL.sub(lambda match: f"{_quoted(match[1])} IS NULL", text)
    text = _COLUMN.sub(lambda match: _quoted(match[1]), text)
    return _DATE.sub(lambda match: f"DATE '{match[1]}'", text)


def _of_object(condition: dict[str, Any]) -> str:
    kind = condition.get("type")
    if kind in ("and", "or"):
        return f" {kind.upper()} ".join(f"({as_sql(item)})" for item in condition["conditions"])
    if kind == "pass_through":
        return str(condition["pass_through_filter"])
    column = _quoted(str(condition["column"]["name"]))
    if kind == "nullity":
        return f"{column} IS {'' if condition.get('is_null') else 'NOT '}NULL"
    value, operator = condition.get("parameter"), str(condition["operator"])
    if operator in ("in", "not in", "IN", "NOT_IN", "NOT IN"):
        listed = ", ".join(_literal(item) for item in value or ())
        return f"{column} {operator.upper().replace('_', ' ')} ({listed})"
    return f"{column} {operator} {_literal(value)}"


def _quoted(name: str) -> str:
    return ".".join(f"`{part}`" for part in name.replace("`", "").split("."))


def _literal(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).upper() if value is not None else "NULL"
    if isinstance(value, int | float):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"
