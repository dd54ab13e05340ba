"""The last fallback: find tables by the keywords before their names if no grammar applies."""

from __future__ import annotations

from goldsmith.digest.cursor import Cursor
from goldsmith.digest.families import moved
from goldsmith.digest.keywords import NO_TABLE
from goldsmith.digest.lexer import QUOTED, STRING, SYMBOL, WORD, Token
from goldsmith.digest.names import Naming, is_location
from goldsmith.digest.values import EvidenceClass, StatementDigest

_READ = frozenset(("FROM", "JOIN", "USING"))
_FUNCTIONS = frozenset(
    ("EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION", "DATE_PART", "DISTINCT")
)


def read_tokens(tokens: list[Token], naming: Naming) -> StatementDigest:
    """The tables named after FROM, JOIN, USING, INTO, TABLE and UPDATE, without those of WITH."""
    ctes = _cte_names(tokens)
    upstream: list[str] = []
    downstream: list[str] = []
    aliases: dict[str, str] = {}
    cursor = Cursor(tokens)
    verb = _verb(tokens)
    groups: list[str] = []
    while not cursor.over:
        token = cursor.next()
        if token.kind == SYMBOL and token.value == "(":
            before = cursor.tokens[cursor.index - 2].upper if cursor.index > 1 else ""
            groups.append(before)
        elif token.kind == SYMBOL and token.value == ")" and groups:
            groups.pop()
        if token.kind != WORD:
            continue
        if token.upper in _READ and not (groups and groups[-1] in _FUNCTIONS):
            if (
                token.upper == "USING"
                and cursor.peek().value == "("
                and cursor.peek(1).upper != "SELECT"
            ):
                continue
            target = token.upper == "FROM" and verb == "DELETE" and not downstream
            _names(cursor, naming, ctes, downstream if target else upstream, aliases)
        elif token.upper in ("INTO", "OVERWRITE") or (
            token.upper in ("UPDATE", "MERGE") and cursor.index == 1
        ):
            cursor.accept("INTO")
            cursor.accept("TABLE")
            if cursor.peek().upper not in ("SET", "VALUES"):
                _names(cursor, naming, frozenset(), downstream, aliases, single=True)
        elif (
            token.upper in ("TABLE", "VIEW")
            and tokens[0].upper in ("CREATE", "REPLACE", "INSERT")
            and not downstream
        ):
            cursor.sequence("IF NOT EXISTS")
            _names(cursor, naming, frozenset(), downstream, {}, single=True)
    downstream = [aliases.get(name, name) for name in downstream]
    if verb in ("UPDATE", "DELETE", "MERGE"):
        upstream = [name for name in upstream if name not in downstream]
    digest = moved(verb, upstream, downstream)
    digest.evidence = EvidenceClass.TOKENS
    return digest


def _verb(tokens: list[Token]) -> str:
    depth = 0
    for token in tokens:
        if token.kind == SYMBOL and token.value in ("(", ")"):
            depth += 1 if token.value == "(" else -1
        elif depth == 0 and token.upper in (
            "INSERT",
            "UPDATE",
            "DELETE",
            "MERGE",
            "CREATE",
            "SELECT",
        ):
            return token.upper
    return tokens[0].upper


def _cte_names(tokens: list[Token]) -> frozenset[str]:
    found = set()
    if any(token.upper == "WITH" for token in tokens):
        for index in range(len(tokens) - 2):
            token = tokens[index]
            if token.kind in (WORD, QUOTED) and tokens[index - 1].upper in (
                "WITH",
                ",",
                "RECURSIVE",
            ):
                cursor = Cursor(tokens, index + 1)
                if cursor.peek().value == "(":
                    cursor.skip_group()
                if (
                    cursor.accept("AS")
                    and (cursor.accept("MATERIALIZED") or True)
                    and cursor.peek().value == "("
                ):
                    found.add(token.value.lower())
    return frozenset(found)


def _names(
    cursor: Cursor,
    naming: Naming,
    ctes: frozenset[str],
    found: list[str],
    aliases: dict[str, str],
    *,
    single: bool = False,
) -> None:
    """One name, or several separated by commas, with their aliases."""
    while True:
        token = cursor.peek()
        if token.kind == STRING and is_location(token.value):
            cursor.next()
            found.append(token.value)
            return
        if token.kind not in (WORD, QUOTED) or (token.kind == WORD and token.upper in NO_TABLE):
            return
        begin = cursor.index
        parts = cursor.name()
        if not parts:
            return
        if cursor.peek().value == "(" and not single:
            cursor.index = begin + 1
            return
        if not (len(parts) == 1 and parts[0][0].lower() in ctes):
            name = naming.full(parts)
            if name not in found:
                found.append(name)
            cursor.accept("AS")
            alias = cursor.peek()
            if alias.kind in (WORD, QUOTED):
                aliases[naming.full([(alias.value, alias.kind == QUOTED)])] = name
        else:
            cursor.accept("AS")
        if single:
            return
        if cursor.peek().kind in (WORD, QUOTED) and cursor.peek(1).value == ",":
            cursor.next()
        if cursor.peek().value != "," or cursor.peek().kind != SYMBOL:
            return
        if cursor.peek(1).kind not in (WORD, QUOTED):
            return
        cursor.next()
