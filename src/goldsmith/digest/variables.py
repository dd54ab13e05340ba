"""Texts that a script keeps in variables, for the dynamic SQL that runs them."""

from __future__ import annotations

from goldsmith.digest.cursor import Cursor
from goldsmith.digest.lexer import DOLLAR, STRING, WORD, Token

#: Dialects where SELECT … INTO fills variables and never makes a table.
INTO_VARIABLES = frozenset(("oracle", "mysql", "snowflake", "bigquery", "databricks"))
_ASSIGNS = frozenset(("=", "DEFAULT"))


def keeps_text(tokens: list[Token]) -> bool:
    """Whether a statement gives a variable a literal text, and does nothing else."""
    kept = assigned_text(tokens)
    return kept is not None and kept[1] is not None


def assigned_text(tokens: list[Token]) -> tuple[str, str | None] | None:
    """The variable that DECLARE, SET or LET gives a literal text; None as text if computed."""
    if tokens[0].upper not in ("DECLARE", "SET", "LET") or len(tokens) < 4:
        return None
    if tokens[1].kind != WORD and tokens[1].value != "@":
        return None
    name = tokens[1].value if tokens[1].kind == WORD else f"@{tokens[2].value}"
    for index, token in enumerate(tokens[2:], 2):
        if token.upper in _ASSIGNS:
            rest = [t for t in tokens[index + 1 :] if not (t.kind == WORD and t.upper == "N")]
            literal = len(rest) == 1 and rest[0].kind in (STRING, DOLLAR)
            return name.lower(), rest[0].value if literal else None
    return None


def variables_filled(tokens: list[Token]) -> tuple[int, int] | None:
    """Where a query says which variables it fills: `[BULK COLLECT] INTO a, b`, as two indexes."""
    cursor = Cursor(tokens)
    if cursor.peek().upper not in ("SELECT", "WITH") or not cursor.find("INTO"):
        return None
    begin = cursor.index - 1
    if begin >= 2 and tokens[begin - 1].upper == "COLLECT":
        begin -= 2
    if cursor.peek().upper in ("OUTFILE", "DUMPFILE"):
        return None
    cursor.accept("STRICT")
    while True:
        while cursor.peek().value in (":", "@"):
            cursor.next()
        if not cursor.name():
            return None
        if cursor.peek().value != ",":
            return begin, cursor.index
        cursor.next()
