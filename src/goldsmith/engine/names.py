"""Names and values in SQL, quoted by sqlglot, never pasted."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache, lru_cache

from sqlglot import Generator, exp
from sqlglot.dialects.dialect import Dialect

_LOCK = threading.Lock()


@lru_cache(maxsize=4096)
def name(*parts: str, dialect: str = "spark") -> str:
    """A dotted name with every part quoted."""
    return ".".join(_quoted(part, dialect) for part in parts)


@lru_cache(maxsize=4096)
def _quoted(part: str, dialect: str) -> str:
    return _sql(exp.to_identifier(part, quoted=True), dialect)


def names(columns: Iterable[str], *, dialect: str = "spark", of: str | None = None) -> str:
    """A list of columns, each quoted, of a table's alias where one is given."""
    head = () if of is None else (of,)
    return ", ".join(name(*head, column, dialect=dialect) for column in columns)


def literal(value: str | int, dialect: str = "spark") -> str:
    """A value as SQL writes it."""
    if isinstance(value, int):
        return str(value)
    return _text(value, dialect)


@lru_cache(maxsize=4096)
def _text(value: str, dialect: str) -> str:
    return _sql(exp.Literal.string(value), dialect)


def _sql(expression: exp.Expression, dialect: str) -> str:
    """What sqlglot writes. Every branch has a new name, and to make a generator takes longest."""
    with _LOCK:
        return _generator(dialect).generate(expression)


@cache
def _generator(dialect: str) -> Generator:
    return Dialect.get_or_raise(dialect).generator()
