"""The text of an unnamed select item, as it was written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goldsmith.digest.lexer import SYMBOL, WORD, Token, tokenize

if TYPE_CHECKING:
    from sqlglot import exp

    from goldsmith.digest.reading import StatementReading

_ENDS = frozenset(
    ("FROM", "INTO", "WHERE", "UNION", "GROUP", "ORDER", "LIMIT", "HAVING", "LATERAL")
)
_OPENS = frozenset(("SELECT", "DISTINCT", "ALL"))


def of(projection: exp.Expr, reading: StatementReading) -> str:
    """The written text in one line and lower case; sqlglot's where positions are missing."""
    from sqlglot import exp

    position = next(
        (
            node.meta["start"]
            for node in projection.find_all(exp.Identifier)
            if "start" in node.meta
        ),
        None,
    )
    if position is not None and reading.text:
        written = _around(reading.text, position, reading.dialect)
        if written:
            return written
    return re.sub(r"\s+", " ", projection.sql()).lower()


def _around(text: str, position: int, dialect: str) -> str:
    tokens = _tokens(text, dialect)
    at = next((i for i, token in enumerate(tokens) if token.end > position), None)
    if at is None:
        return ""
    begin, crossed = _begin(tokens, at)
    end = _end(tokens, at, crossed)
    if begin is None or end <= begin:
        return ""
    return re.sub(r"\s+", " ", text[tokens[begin].start : tokens[end - 1].end]).lower()


_LAST: list[tuple[str, str, list[Token]]] = []


def _tokens(text: str, dialect: str) -> list[Token]:
    if not _LAST or _LAST[0][0] is not text or _LAST[0][1] != dialect:
        _LAST[:] = [(text, dialect, tokenize(text, dialect))]
    return _LAST[0][2]


def _begin(tokens: list[Token], at: int) -> tuple[int | None, int]:
    """The first token of the item, and how many open parentheses lie between."""
    depth, crossed = 0, 0
    boundary: int | None = None
    for index in range(at - 1, -1, -1):
        token = tokens[index]
        if token.kind == SYMBOL and token.value == ")":
            depth += 1
        elif token.kind == SYMBOL and token.value == "(":
            if depth:
                depth -= 1
            else:
                crossed += 1
                boundary = None
        elif depth == 0:
            if token.value == "," and boundary is None:
                boundary = index + 1
            elif token.kind == WORD and token.upper in _OPENS:
                return (boundary if boundary is not None else index + 1), crossed
    return None, 0


def _end(tokens: list[Token], at: int, crossed: int) -> int:
    depth = crossed
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.kind == SYMBOL:
            if token.value == "(":
                depth += 1
            elif token.value == ")":
                depth -= 1
                if depth < 0:
                    return index
            elif token.value == "," and depth == 0:
                return index
        elif depth == 0 and token.kind == WORD and token.upper in _ENDS:
            return index
    return len(tokens)
