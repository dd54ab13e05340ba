"""Texts that a script keeps in variables, for the dynamic SQL that runs them."""

from __future__ import annotations

from goldsmith.digest.lexer import DOLLAR, STRING, WORD, Token

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
