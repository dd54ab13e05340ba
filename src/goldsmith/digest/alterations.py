"""ALTER, RENAME, SWAP, DROP and USE: what they change about names, and what they move."""

from __future__ import annotations

from dataclasses import dataclass, field

from goldsmith.digest.cursor import Cursor
from goldsmith.digest.families import moved
from goldsmith.digest.lexer import STRING, SYMBOL, Token
from goldsmith.digest.names import Naming
from goldsmith.digest.values import EvidenceClass, StatementDigest


@dataclass(slots=True)
class Effect:
    """What a statement changes about the names of the session."""

    renames: list[tuple[str, str]] = field(default_factory=list)
    swap: tuple[str, str] | None = None
    drops: list[str] = field(default_factory=list)
    use: list[str] | None = None


def read_alteration(tokens: list[Token], naming: Naming) -> tuple[StatementDigest, Effect] | None:
    """What an alteration does; None for other statements."""
    head = tokens[0].upper
    cursor = Cursor(tokens, 1)
    if head == "ALTER":
        return _alter(cursor, naming)
    if head == "RENAME":
        return _rename(cursor, naming)
    if head == "EXCHANGE" and cursor.accept("TABLES"):
        first = cursor.name()
        cursor.accept("AND")
        second = cursor.name()
        if first and second:
            return _swapped(naming.full(first), naming.full(second))
    if head == "DROP":
        return _drop(cursor, naming)
    if head in ("USE", "DATABASE") or (head == "SET" and cursor.peek().upper == "SEARCH_PATH"):
        return _use(head, cursor)
    if head in ("EXEC", "EXECUTE") and cursor.peek().upper == "SP_RENAME":
        return _sp_rename(cursor, naming)
    return None


def _quiet(verb: str) -> StatementDigest:
    return StatementDigest(verb=verb, evidence=EvidenceClass.TOKENS)


def _alter(cursor: Cursor, naming: Naming) -> tuple[StatementDigest, Effect] | None:
    effect = Effect()
    cursor.accept("EXTERNAL", "ICEBERG", "MATERIALIZED")
    if not cursor.accept("TABLE", "VIEW"):
        return _quiet("ALTER"), effect
    cursor.sequence("IF EXISTS")
    cursor.accept("ONLY")
    parts = cursor.name()
    if not parts:
        return None
    table = naming.full(parts)
    if cursor.sequence("RENAME TO") or cursor.sequence("RENAME AS"):
        new = cursor.name()
        if new:
            if len(new) == 1 and len(parts) > 1:
                new = [*parts[:-1], *new]
            effect.renames.append((table, naming.full(new)))
        return _quiet("ALTER TABLE RENAME"), effect
    if cursor.sequence("SWAP WITH"):
        other = cursor.name()
        if other:
            return _swapped(table, naming.full(other))
    if cursor.sequence("APPEND FROM"):
        other = cursor.name()
        if other:
            return moved("ALTER TABLE APPEND", [naming.full(other)], [table]), effect
    if any(
        token.upper in ("EXCHANGE", "SWITCH", "REPLACE")
        for token in cursor.tokens[cursor.index : cursor.index + 2]
    ):
        switch = any(token.upper == "SWITCH" for token in cursor.tokens)
        if cursor.find("WITH", "TO", "FROM"):
            cursor.accept("TABLE")
            other = cursor.name()
            if other:
                pair = (table, naming.full(other)) if switch else (naming.full(other), table)
                return moved("ALTER TABLE EXCHANGE", [pair[0]], [pair[1]]), effect
    if cursor.sequence("ATTACH PARTITION"):
        other = cursor.name()
        if other:
            return moved("ALTER TABLE ATTACH", [naming.full(other)], [table]), effect
    cursor.skip_group()
    if cursor.peek().upper == "AS":  # ALTER VIEW … AS SELECT
        return None
    return _quiet("ALTER TABLE"), effect


def _swapped(first: str, second: str) -> tuple[StatementDigest, Effect]:
    digest = moved("SWAP", [second], [first], "overwrite")
    return digest, Effect(swap=(first, second))


def _rename(cursor: Cursor, naming: Naming) -> tuple[StatementDigest, Effect]:
    effect = Effect()
    cursor.accept("TABLE")
    while not cursor.over:
        old = cursor.name()
        if not old or not cursor.accept("TO"):
            break
        new = cursor.name()
        if new:
            effect.renames.append((naming.full(old), naming.full(new)))
        if not (cursor.peek().value == "," and cursor.peek().kind == SYMBOL):
            break
        cursor.next()
    return _quiet("RENAME"), effect


def _sp_rename(cursor: Cursor, naming: Naming) -> tuple[StatementDigest, Effect]:
    strings = [token.value for token in cursor.tokens if token.kind == STRING]
    effect = Effect()
    if len(strings) >= 2:
        old = [(part, False) for part in strings[0].split(".")]
        effect.renames.append((naming.full(old), naming.full([*old[:-1], (strings[1], False)])))
    return _quiet("RENAME"), effect


def _drop(cursor: Cursor, naming: Naming) -> tuple[StatementDigest, Effect]:
    effect = Effect()
    cursor.accept("TEMPORARY", "EXTERNAL", "MATERIALIZED", "DYNAMIC", "ICEBERG")
    if cursor.accept("TABLE", "VIEW"):
        cursor.sequence("IF EXISTS")
        while not cursor.over:
            parts = cursor.name()
            if not parts:
                break
            effect.drops.append(naming.full(parts))
            if cursor.peek().value != ",":
                break
            cursor.next()
    return _quiet("DROP"), effect


def _use(head: str, cursor: Cursor) -> tuple[StatementDigest, Effect]:
    kind = cursor.peek().upper
    if kind in ("ROLE", "WAREHOUSE", "SECONDARY"):
        return _quiet("USE"), Effect()
    if kind == "SEARCH_PATH":
        cursor.next()
        cursor.accept("TO", "=")
    cursor.accept("DATABASE", "SCHEMA", "CATALOG")
    parts = cursor.name()
    names = [text if quoted else text.lower() for text, quoted in parts or ()]
    if kind == "CATALOG" and len(names) == 1:
        names = [*names, ""]
    if kind == "SCHEMA" or kind == "SEARCH_PATH":
        names = ["", *names] if len(names) == 1 else names
    return _quiet(head), Effect(use=names or None)
