"""Split scripts into statements; open procedures and blocks, and cut T-SQL without semicolons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from goldsmith.digest.cursor import Cursor
from goldsmith.digest.keywords import CONTINUING, CONTROL, DATA_VERBS, FRESH_VERBS
from goldsmith.digest.lexer import DOLLAR, STRING, SYMBOL, WORD, Token, read_lazily
from goldsmith.digest.variables import keeps_text, variables_filled

_OPENED = frozenset(("PROCEDURE", "PROC", "TRIGGER", "PACKAGE", "TASK", "EVENT"))


class Piece(NamedTuple):
    """One statement: its text, its tokens, and where it begins."""

    text: str
    tokens: list[Token]
    start: int


def split(text: str, dialect: str = "") -> list[Piece]:
    """The statements of a script."""
    return list(split_lazily(text, dialect))


def split_lazily(text: str, dialect: str = "") -> Iterator[Piece]:
    """The statements one after another: of a long script, only one is held."""
    for tokens in _runs(read_lazily(text, dialect), text):
        yield from _opened(tokens, text, dialect)


def _runs(tokens: Iterator[Token], text: str) -> Iterator[list[Token]]:
    """Tokens between semicolons; `GO` alone on a line separates too."""
    run: list[Token] = []
    depth = 0
    for token, following in pairwise(chain(tokens, (None,))):
        if token is None:
            break
        if token.kind == SYMBOL:
            if token.value == "(":
                depth += 1
            elif token.value == ")":
                depth = max(0, depth - 1)
            elif token.value == ";" and (depth == 0 or _begins_statement(following)):
                depth = 0
                if run:
                    yield run
                run = []
                continue
        elif token.upper == "GO" and token.kind == WORD and _alone(token, text):
            if run:
                yield run
            run, depth = [], 0
            continue
        run.append(token)
    if run:
        yield run


def _begins_statement(following: Token | None) -> bool:
    """After a semicolon inside parentheses that never close: does a statement begin?"""
    return following is not None and following.upper in DATA_VERBS


def _alone(token: Token, text: str) -> bool:
    before = text.rfind("\n", 0, token.start) + 1
    after = text.find("\n", token.end)
    line = text[before : after if after >= 0 else len(text)]
    return bool(re.fullmatch(r"\s*go(\s+\d+)?\s*", line, re.IGNORECASE))


def piece(tokens: list[Token], text: str) -> Piece:
    start, end = tokens[0].start, tokens[-1].end
    return Piece(
        text[start:end],
        [t._replace(start=t.start - start, end=t.end - start) for t in tokens] if start else tokens,
        start,
    )


def without_variables(found: Piece) -> Piece:
    """A query without the variables it fills: they are no table."""
    span = variables_filled(found.tokens) if found.tokens else None
    if span is None:
        return found
    begin, end = found.tokens[span[0]].start, found.tokens[span[1] - 1].end
    text = found.text[:begin] + " " * (end - begin) + found.text[end:]
    return Piece(text, found.tokens[: span[0]] + found.tokens[span[1] :], found.start)


def _opened(tokens: list[Token], text: str, dialect: str) -> Iterator[Piece]:
    """The statements inside a procedure or block; other statements as they are."""
    cursor = Cursor(tokens)
    head = cursor.peek().upper
    if head in ("CREATE", "ALTER"):
        kind = _created_kind(tokens)
        if kind in _OPENED or kind == "FUNCTION":
            yield from _body(tokens, text, dialect, function=kind == "FUNCTION")
            return
    if head == "DO" or (
        head == "EXECUTE" and cursor.peek(1).upper == "IMMEDIATE" and cursor.peek(2).kind == DOLLAR
    ):
        for token in tokens:
            if token.kind == DOLLAR:
                yield from map(without_variables, split(token.value, dialect))
        return
    if (
        head == "BEGIN"
        and len(tokens) > 1
        and cursor.peek(1).upper not in ("TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ")
    ):
        yield from _steps(tokens, text, dialect)
        return
    if head == "DECLARE" and (dialect == "tsql" or keeps_text(tokens)):
        yield from _fresh_lines(tokens, text)
        return
    if (head in CONTROL and head not in ("SET",)) or head == "EXPLAIN":
        yield from _steps(tokens, text, dialect)
        return
    if dialect == "tsql":
        yield from _fresh_lines(tokens, text)
        return
    yield piece(tokens, text)


def _created_kind(tokens: list[Token]) -> str:
    for token in tokens[1:8]:
        if token.kind == WORD and token.upper not in (
            [
                "OR",
                "REPLACE",
                "ALTER",
                "EDITIONABLE",
                "NONEDITIONABLE",
                "SECURE",
                "TEMP",
                "TEMPORARY",
                "IF",
                "NOT",
                "EXISTS",
                "DEFINER",
            ]
        ):
            return token.upper
    return ""


def _body(tokens: list[Token], text: str, dialect: str, *, function: bool) -> Iterator[Piece]:
    """The statements of a procedure's first run of tokens, or of its quoted body."""
    for index, token in enumerate(tokens):
        if token.kind in (DOLLAR, STRING) and index and tokens[index - 1].upper == "AS":
            if not _foreign(tokens):
                pieces = map(without_variables, split(token.value, dialect))
                yield from (p for p in pieces if not function or _writes(p.tokens))
            return
    begin = _body_start(tokens)
    if begin is None:
        return
    inner = tokens[begin:]
    if function and not _writes(inner):
        return
    yield from _steps(inner, text, dialect)


def _foreign(tokens: list[Token]) -> bool:
    """Whether a body is written in another language."""
    for index, token in enumerate(tokens[:-1]):
        if token.upper == "LANGUAGE":
            return tokens[index + 1].upper in (
                "JAVASCRIPT",
                "PYTHON",
                "JAVA",
                "SCALA",
                "JS",
                "PLPYTHONU",
                "PLPERL",
                "C",
            )
    return False


def _writes(tokens: list[Token]) -> bool:
    return any(t.upper in ("INSERT", "UPDATE", "DELETE", "MERGE") for t in tokens)


def _body_start(tokens: list[Token]) -> int | None:
    """The index behind the head of a procedure or trigger."""
    depth = 0
    for index, token in enumerate(tokens):
        if token.kind == SYMBOL and token.value in ("(", ")"):
            depth += 1 if token.value == "(" else -1
        elif depth == 0 and token.kind == WORD:
            if token.upper in ("BEGIN", "DECLARE"):
                return index
            following = tokens[index + 1].upper if index + 1 < len(tokens) else ""
            if token.upper in ("AS", "IS") and (
                following in DATA_VERBS or following in ("BEGIN", "DECLARE", "SET", "IF")
            ):
                return index + 1
            if (
                token.upper in ("AS", "IS")
                and index + 1 < len(tokens)
                and following not in ("CALLER", "OWNER")
            ):
                rest = [t.upper for t in tokens[index + 1 :]]
                if "BEGIN" in rest:
                    return index + 1 + rest.index("BEGIN")
            if token.upper == "ROW" and following in DATA_VERBS:
                return index + 1
    return None


def _steps(tokens: list[Token], text: str, dialect: str) -> Iterator[Piece]:
    """Strip control uppers from the front, then cut where a new line begins a new statement."""
    index, depth = 0, 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == SYMBOL and token.value == "(":
            depth += 1
        elif token.kind == SYMBOL and token.value == ")":
            depth -= 1
        elif depth <= 0 and token.kind == WORD and token.upper in DATA_VERBS:
            before = tokens[index - 1].upper if index else ""
            if not (before == "FOR" and token.upper != "SELECT") and before not in (
                "CURSOR",
                "END",
            ):
                break
        elif (
            depth > 0
            and token.upper == "SELECT"
            and tokens[index - 1].value == "("
            and _in_loop(tokens, index)
        ):
            # `FOR row IN (SELECT …) LOOP`, `IF EXISTS (SELECT …)`: a query of its own.
            cursor = Cursor(tokens, index - 1)
            inside = cursor.skip_group()
            if inside:
                yield piece(inside, text)
                index = cursor.index
                depth -= 1
                continue
        index += 1
    rest = tokens[index:]
    if rest:
        yield from _fresh_lines(rest, text)


def _in_loop(tokens: list[Token], index: int) -> bool:
    return any(t.upper in ("FOR", "EXISTS", "WHILE", "IF", "CURSOR") for t in tokens[:index])


def _fresh_lines(tokens: list[Token], text: str) -> Iterator[Piece]:
    """Cut where a line begins with a verb and the statement before it is complete."""
    begin, depth = 0, 0
    for index in range(len(tokens)):
        token = tokens[index]
        if token.kind == SYMBOL:
            depth += 1 if token.value == "(" else -1 if token.value == ")" else 0
        if index == begin or depth > 0 or token.kind != WORD or token.upper not in FRESH_VERBS:
            continue
        if _continues(tokens, begin, index) or not _new_line(tokens, index, text):
            continue
        yield from _stripped(tokens[begin:index], text)
        begin = index
    yield from _stripped(tokens[begin:], text)


def _stripped(tokens: list[Token], text: str) -> Iterator[Piece]:
    if not tokens:
        return
    head = tokens[0].upper
    if head == "DECLARE" and keeps_text(tokens):
        yield piece(tokens, text)
        return
    if head == "DECLARE" and any(token.upper == "TABLE" for token in tokens[1:4]):
        return  # A table variable, known by the rows inserted into it.
    if head in CONTROL and head != "SET":
        rest = list(tokens)
        while rest and rest[0].upper not in DATA_VERBS:
            rest.pop(0)
        if rest:
            yield piece(rest, text)
        return
    while (
        len(tokens) > 1
        and tokens[-1].upper in ("END", "BEGIN", "ELSE", "TRY", "CATCH")
        and not _has_case(tokens)
    ):
        tokens = tokens[:-1]
    yield piece(tokens, text)


def _has_case(tokens: list[Token]) -> bool:
    cases = sum(t.upper == "CASE" for t in tokens)
    return cases >= sum(t.upper == "END" for t in tokens) > 0


def _new_line(tokens: list[Token], index: int, text: str) -> bool:
    gap = text[tokens[index - 1].end : tokens[index].start]
    return "\n" in gap or tokens[index - 1].upper in ("END", "BEGIN", "TRY", "CATCH")


def _continues(tokens: list[Token], begin: int, index: int) -> bool:
    """Whether the verb at an index belongs to the statement that began before."""
    upper, before = tokens[index].upper, tokens[index - 1].upper
    if before in CONTINUING or tokens[index - 1].value in ("(", ",", "="):
        return True
    head = tokens[begin].upper
    uppers = {t.upper for t in tokens[begin:index]}
    if upper == "END":
        return "CASE" in uppers
    if upper == "SELECT":
        if head == "INSERT":
            return not uppers & {"SELECT", "VALUES", "EXEC", "EXECUTE"} or (
                "WITH" in uppers and "SELECT" not in _flat(tokens[begin:index])
            )
        if head == "WITH":
            return not (
                {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"} & _flat(tokens[begin:index])
            )
        return head in ("CREATE", "DECLARE") and "SELECT" not in uppers
    if upper in ("INSERT", "UPDATE", "DELETE", "MERGE"):
        if head == "WITH":
            return not (
                {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"} & _flat(tokens[begin:index])
            )
        return head == "MERGE" and before in ("THEN",)
    if upper == "SET":
        flat = _flat(tokens[begin:index])
        return bool({"UPDATE", "MERGE", "ALTER"} & flat) and "SET" not in flat
    if upper == "WITH":
        return head in ("CREATE", "INSERT", "ALTER", "BULK", "COPY") and "SELECT" not in uppers
    if upper in ("EXEC", "EXECUTE"):
        return head == "INSERT" and "SELECT" not in uppers
    if upper in ("DROP", "ALTER"):
        return head == "ALTER"
    return False


def _flat(tokens: list[Token]) -> set[str]:
    """The uppers outside parentheses."""
    depth, uppers = 0, set[str]()
    for token in tokens:
        if token.kind == SYMBOL:
            depth += 1 if token.value == "(" else -1 if token.value == ")" else 0
        elif depth == 0:
            uppers.add(token.upper)
    return uppers
