"""The way in: digest a SQL text, or several statements with their sessions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from goldsmith.digest.dialects import dialect_name
from goldsmith.digest.guard import begin_statement, end_statements
from goldsmith.digest.holes import Holes, has_holes
from goldsmith.digest.session import SqlSession, combine
from goldsmith.digest.splitter import split_lazily
from goldsmith.digest.values import Digest, EvidenceClass, StatementDigest

#: The error of a statement that was left out because its worker was ended.
TOO_MUCH = "it used more CPU time than one statement may"
#: Nested queries recurse in sqlglot's parser.
_DEPTH = 20_000


class SessionStatement(NamedTuple):
    """One statement of a log: its text, its session and its defaults."""

    sql: str
    session: str | None = None
    default_db: str | None = None
    default_schema: str | None = None


def digest(
    sql: str,
    *,
    dialect: str | None = None,
    default_db: str | None = None,
    default_schema: str | None = None,
    schema: Mapping[str, Mapping[str, Any]] | None = None,
    file: str | None = None,
) -> Digest:
    """What a script reads and writes, column by column."""
    session = SqlSession(dialect_name(dialect), default_db, default_schema, schema)
    session.history = []
    statements = read_text(sql, session, file=file)
    return combine(statements, session)


def digest_statements(
    statements: Iterable[SessionStatement],
    *,
    dialect: str | None = None,
    default_db: str | None = None,
    default_schema: str | None = None,
    schema: Mapping[str, Mapping[str, Any]] | None = None,
) -> Digest:
    """What statements of several sessions read and write; each session has its own temporaries."""
    name = dialect_name(dialect)
    sessions: dict[str | None, SqlSession] = {}
    done: list[StatementDigest] = []
    for found in statements:
        session = sessions.get(found.session)
        if session is None:
            session = SqlSession(name, default_db, default_schema, schema)
            session.history = done
            sessions[found.session] = session
        if found.default_db or found.default_schema:
            session.set_defaults(
                found.default_db or default_db, found.default_schema or default_schema
            )
        read_text(found.sql, session)
    combined = combine(done)
    for session in sessions.values():
        if session.dropped:
            combined = combine(done, session)
    return combined


def read_text(sql: str, session: SqlSession, *, file: str | None = None) -> list[StatementDigest]:
    """The digests of the statements of a text, in order."""
    if sys.getrecursionlimit() < _DEPTH:
        sys.setrecursionlimit(_DEPTH)
    holes: Holes | None = None
    if has_holes(sql):
        holes = Holes()
        sql = holes.fill(sql)
    found: list[StatementDigest] = []
    line, counted = 1, 0
    for piece in split_lazily(sql, session.dialect):
        # Counted on from the last piece: from the beginning, a long script takes quadratic time.
        line += sql.count("\n", counted, piece.start) if piece.start >= counted else 0
        counted = max(counted, piece.start)
        if not begin_statement():
            killed = StatementDigest(verb="KILLED", evidence=EvidenceClass.NONE, error=TOO_MUCH)
            killed.line, killed.file = line, file
            found.append(killed)
            continue
        for statement in session.read(piece):
            statement.line = line
            statement.file = file
            if holes is not None:
                _restore(statement, holes)
            found.append(statement)
            session.history.append(statement)
    end_statements()
    if holes is not None and holes.error:
        found.append(
            StatementDigest(
                verb="TEMPLATE",
                evidence=EvidenceClass.NONE,
                error=holes.error,
                line=holes.line,
                file=file,
            )
        )
    return found


def _restore(statement: StatementDigest, holes: Holes) -> None:
    """Put the template text back into names."""
    from goldsmith.digest.values import Root

    back = holes.restored
    statement.upstream = [back(name) for name in statement.upstream]
    statement.downstream = [back(name) for name in statement.downstream]
    statement.edges = [(back(up), back(down)) for up, down in statement.edges]
    for edge in statement.columns:
        edge.table = back(edge.table) if edge.table else None
        edge.column = back(edge.column)
        edge.sources = {
            Root(back(root.table), back(root.column)): kind for root, kind in edge.sources.items()
        }
