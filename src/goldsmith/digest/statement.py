"""Read one statement: by its first words, by a parser, by its tokens; dynamic SQL is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldsmith.digest.alterations import Effect, read_alteration
from goldsmith.digest.cursor import Cursor
from goldsmith.digest.families import read_family
from goldsmith.digest.keywords import DATA_VERBS
from goldsmith.digest.ladder import parse
from goldsmith.digest.lexer import DOLLAR, STRING, Token
from goldsmith.digest.multi_insert import from_first
from goldsmith.digest.names import Naming
from goldsmith.digest.reading import StatementReading
from goldsmith.digest.relation import Relation
from goldsmith.digest.splitter import Piece, piece, split, without_variables
from goldsmith.digest.token_reader import read_tokens
from goldsmith.digest.values import EvidenceClass, StatementDigest
from goldsmith.digest.variables import INTO_VARIABLES
from goldsmith.digest.writes import Written, read_tree

#: An INSERT with more tokens is parsed with its first row only.
_LONG = 2_000


class Known:
    """What earlier statements and the catalog tell about tables."""

    __slots__ = ("naming", "shapes", "temps", "variables")

    def __init__(
        self,
        naming: Naming,
        shapes: dict[str, dict[str, Any]],
        temps: Mapping[str, Relation],
        variables: Mapping[str, str | None],
    ) -> None:
        self.naming = naming
        self.shapes = shapes
        self.temps = temps
        #: Texts kept in variables, for dynamic SQL.
        self.variables = variables


class Outcome:
    """A statement's digest with what it changes for the statements after it."""

    __slots__ = ("digest", "effect", "inner", "written")

    def __init__(
        self,
        digest: StatementDigest,
        effect: Effect | None = None,
        written: Written | None = None,
        inner: list[Piece] | None = None,
    ) -> None:
        self.digest = digest
        self.effect = effect
        self.written = written
        #: Statements found inside this one, to read instead of it.
        self.inner = inner


def read_statement(found: Piece, known: Known) -> Outcome:
    """What one statement does."""
    tokens, naming = found.tokens, known.naming
    if not tokens:
        return Outcome(StatementDigest())
    if naming.dialect in INTO_VARIABLES:
        found = without_variables(found)
        tokens = found.tokens
    alteration = read_alteration(tokens, naming)
    if alteration is not None:
        return Outcome(alteration[0], alteration[1])
    dynamic = _dynamic(tokens, naming.dialect, known.variables)
    if dynamic is not None:
        return dynamic
    several = from_first(found)
    if several is not None:
        return Outcome(StatementDigest(), inner=several)
    family = read_family(tokens, naming, lambda inside: _query(inside, found, known))
    if family is not None:
        return Outcome(family)
    return _parsed(found, known)


def _query(tokens: list[Token], found: Piece, known: Known) -> StatementDigest:
    """Read the query inside another statement."""
    if not tokens:
        return StatementDigest()
    inner = piece(tokens, found.text) if tokens[-1].end <= len(found.text) else None
    if inner is None or not inner.text.strip():
        return StatementDigest()
    if tokens[0].upper not in ("SELECT", "WITH", "(", "VALUES", "FROM"):
        # The tokens come from a string: read that text itself.
        return read_tokens(tokens, known.naming)
    return _parsed(inner, known).digest


def _shortened(found: Piece) -> Piece:
    """A long INSERT … VALUES with its first row only: rows of literals have no sources."""
    tokens = found.tokens
    if len(tokens) < _LONG or tokens[0].upper != "INSERT":
        return found
    cursor = Cursor(tokens)
    if not cursor.find("VALUES") or any(t.upper == "SELECT" for t in tokens[cursor.index :]):
        return found
    cursor.skip_group()
    kept = tokens[: cursor.index]
    return Piece(found.text[: kept[-1].end], kept, found.start)


def _parsed(found: Piece, known: Known) -> Outcome:
    found = _shortened(found)
    first: Outcome | None = None
    for tree, evidence, text in parse(found.text, known.naming.dialect):
        reading = StatementReading(known.naming, known.shapes, known.temps, text)
        try:
            written = read_tree(tree, reading)
        except (
            RecursionError,
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            IndexError,
        ) as error:
            first = first or _by_tokens(found, known, f"{type(error).__name__}: {error}")
            continue
        if written is None:
            continue
        digest = written.digest
        digest.evidence = _evidence(evidence, reading)
        if known.naming.dialect == "tsql" and digest.downstream:
            for name in _output_tables(found.tokens, known.naming):
                if name not in digest.downstream:
                    digest.downstream.append(name)
                    digest.edges += [(up, name) for up in digest.upstream]
        outcome = Outcome(digest, None, written)
        if digest.upstream or digest.downstream or not _names_tables(found.tokens):
            return outcome
        first = first or outcome
    if first is not None and (first.digest.upstream or first.digest.downstream):
        return first
    return _by_tokens(found, known, None)


def _evidence(rung: EvidenceClass, reading: StatementReading) -> EvidenceClass:
    if rung is not EvidenceClass.UNAMBIGUOUS:
        return rung
    if reading.ambiguous:
        return EvidenceClass.AMBIGUOUS
    return EvidenceClass.UNAMBIGUOUS if reading.unknown_shape else EvidenceClass.ALL_SHAPES


def _names_tables(tokens: list[Token]) -> bool:
    """Whether a statement names a table that has to be in the answer."""
    return bool(read_tokens(tokens, Naming()).upstream)


def _by_tokens(found: Piece, known: Known, reason: str | None) -> Outcome:
    digest = read_tokens(found.tokens, known.naming)
    if tokens_only(found.tokens):
        digest.moves_data = True
        if not digest.upstream and not digest.downstream:
            digest.evidence = EvidenceClass.NONE
            digest.error = "no grammar reads the statement, and its words name no table"
        else:
            digest.notes.append(
                "read from its words: no grammar reads it, so columns are not known"
            )
    elif not digest.upstream and not digest.downstream:
        digest.evidence = EvidenceClass.NONE
        digest.error = f"'{found.tokens[0].value[:40]}' begins no statement that is known"
    if reason:
        digest.notes.append(reason)
    return Outcome(digest)


def tokens_only(tokens: list[Token]) -> bool:
    return tokens[0].upper in DATA_VERBS or tokens[0].value == "("


def _dynamic(
    tokens: list[Token], dialect: str, variables: Mapping[str, str | None]
) -> Outcome | None:
    """EXECUTE IMMEDIATE '…', EXEC('…'), sp_executesql N'…': the literal is read as SQL."""
    cursor = Cursor(tokens)
    if cursor.peek().upper == "PREPARE" and cursor.find("FROM") and cursor.peek().kind == STRING:
        return Outcome(StatementDigest(), inner=split(cursor.peek().value, dialect))
    if tokens[0].upper not in ("EXECUTE", "EXEC", "CALL"):
        return None
    head = cursor.next().upper
    cursor.accept("IMMEDIATE")
    name = cursor.peek().upper
    if name.endswith("SP_EXECUTESQL"):
        cursor.next()
    cursor.accept("(")
    if cursor.peek().kind in (STRING, DOLLAR) and head != "CALL":
        text = cursor.next().value
        whole = (
            cursor.over
            or cursor.peek().value in (")", ",", ";")
            or cursor.peek().upper in ("USING", "INTO", "WITH")
        )
        if whole and text.strip():
            return Outcome(StatementDigest(), inner=split(text, dialect))
    kept = variables.get(_variable(cursor)) if head != "CALL" else None
    if kept is not None:
        return Outcome(StatementDigest(), inner=split(kept, dialect))
    digest = StatementDigest(verb=head, evidence=EvidenceClass.TOKENS)
    computed = (
        cursor.peek().kind == STRING or cursor.peek().value[:1] in "@:" or name == "IMMEDIATE"
    )
    if computed and head != "CALL":
        digest.notes.append("dynamic SQL: the text is computed while it runs, so it is not known")
    return Outcome(digest)


def _variable(cursor: Cursor) -> str:
    """The variable named here, with its sign."""
    token = cursor.peek()
    if token.value in ("@", ":"):
        return f"{token.value}{cursor.peek(1).value}".lower()
    return token.value.lower()


def _output_tables(tokens: list[Token], naming: Naming) -> list[str]:
    """The tables that T-SQL's OUTPUT … INTO writes beside the target."""
    cursor = Cursor(tokens)
    found = []
    while cursor.find("OUTPUT"):
        if cursor.find("INTO") and cursor.peek().value[:1] != "@":
            parts = cursor.name()
            found += [naming.full(parts)] if parts else []
    return found
