"""Times in a `$PARAMETER` of Great Expectations: now(), datetime(…), timedelta(…), plus and minus.

The text is Python. It is parsed and never executed: only these calls, with numbers as arguments,
are understood.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any


@dataclass(frozen=True)
class _Now:
    """The time of the run, plus an offset."""

    since: timedelta = timedelta()

    def __add__(self, other: timedelta) -> _Now:
        return _Now(self.since + other)

    __radd__ = __add__

    def __sub__(self, other: timedelta) -> _Now:
        return _Now(self.since - other)


_CALLS: dict[str, Any] = {"datetime": datetime, "date": date, "timedelta": timedelta}


def time_of(text: str) -> str | dict[str, str] | None:
    """The time a text means, as a bound for a check; None if it means no time."""
    try:
        found = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    if isinstance(found, _Now):
        seconds = found.since.total_seconds()
        return {"sql": f"timestamp'{{{{ now }}}}' + INTERVAL '{seconds:.6f}' SECOND"}
    return found.isoformat(sep=" ") if isinstance(found, datetime) else None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            name = ast.unparse(func).removeprefix("datetime.")
            given = [_number(argument) for argument in args]
            named = {str(argument.arg): _number(argument.value) for argument in keywords}
            if name in ("now", "datetime.now") and not given and not named:
                return _Now()
            if name in _CALLS:
                made = _CALLS[name](*given, **named)
                whole = isinstance(made, date) and not isinstance(made, datetime)
                return datetime(made.year, made.month, made.day) if whole else made
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
    raise ValueError(ast.unparse(node))


def _number(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    raise ValueError(ast.unparse(node))
