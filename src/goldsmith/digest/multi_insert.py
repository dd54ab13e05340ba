"""Hive's `FROM src INSERT … SELECT … INSERT … SELECT …`: as several plain inserts."""

from __future__ import annotations

from goldsmith.digest.lexer import SYMBOL, Token, tokenize
from goldsmith.digest.splitter import Piece

_AFTER_SELECT = frozenset(
    (
        "WHERE",
        "GROUP",
        "HAVING",
        "ORDER",
        "SORT",
        "CLUSTER",
        "DISTRIBUTE",
        "LIMIT",
        "LATERAL",
        "WINDOW",
    )
)


def from_first(found: Piece) -> list[Piece] | None:
    """The plain inserts of a statement that begins with FROM (or WITH … FROM); else None."""
    tokens = found.tokens
    begin = _top_level(tokens, "FROM", 0)
    first = _top_level(tokens, "INSERT", 0)
    select = _top_level(tokens, "SELECT", 0)
    if begin is None or first is None or begin > first or (select is not None and select < begin):
        return None
    if tokens[0].upper not in ("FROM", "WITH"):
        return None
    text = found.text
    head = text[: tokens[begin].start]
    source = text[tokens[begin].start : tokens[first].start]
    starts = _all(tokens, "INSERT", first)
    done = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(tokens)
        part = tokens[start:end]
        select = _top_level(part, "SELECT", 0)
        if select is None:
            return None
        cut = next(
            (i for i in _levels(part, select + 1) if part[i].upper in _AFTER_SELECT), len(part)
        )
        insert = text[part[0].start : part[select].start]
        items = text[part[select].start : part[cut - 1].end]
        rest = text[part[cut].start : part[-1].end] if cut < len(part) else ""
        plain = f"{head} {insert} {items} {source} {rest}"
        done.append(Piece(plain, tokenize(plain), found.start))
    return done


def _levels(tokens: list[Token], start: int) -> list[int]:
    depth, found = 0, []
    for index in range(start, len(tokens)):
        token = tokens[index]
        if token.kind == SYMBOL and token.value in ("(", ")"):
            depth += 1 if token.value == "(" else -1
        elif depth == 0:
            found.append(index)
    return found


def _top_level(tokens: list[Token], upper: str, start: int) -> int | None:
    return next((i for i in _levels(tokens, start) if tokens[i].upper == upper), None)


def _all(tokens: list[Token], upper: str, start: int) -> list[int]:
    return [i for i in _levels(tokens, start) if tokens[i].upper == upper]
