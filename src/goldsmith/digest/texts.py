"""Digest one file: a script statement by statement, or a log record by record."""

from __future__ import annotations

from typing import NamedTuple

from goldsmith.digest.dialects import dialect_name
from goldsmith.digest.digest import read_text
from goldsmith.digest.logs import LogReader, is_log, records, sorted_by_session
from goldsmith.digest.session import SqlSession, combine
from goldsmith.digest.values import StatementDigest


class DigestRequest(NamedTuple):
    """One file to digest."""

    text: str
    file: str
    dialect: str | None = None
    default_db: str | None = None
    default_schema: str | None = None
    #: Ids of the catalog: an unqualified name matches one before the defaults apply.
    known: tuple[str, ...] = ()


def digest_text(request: DigestRequest) -> tuple[list[StatementDigest], int]:
    """The statements of a file, and how many queries it holds."""
    name = dialect_name(request.dialect)
    if is_log(request.text):
        reader = LogReader(name, request.default_db, request.default_schema, None, request.known)
        found: dict[int, StatementDigest] = {}
        queries = 0
        for record in sorted_by_session(records(request.text.splitlines())):
            queries += not record.error
            for statement in reader.read(record, request.file):
                found.setdefault(id(statement), statement)
        return [_portable(s) for s in found.values()], queries
    session = SqlSession(name, request.default_db, request.default_schema, None, request.known)
    statements = read_text(request.text, session, file=request.file)
    if session.dropped:
        _hide_dropped(statements, session)
    moving = [s for s in statements if s.upstream or s.downstream or s.error]
    return [_portable(s) for s in statements], len(moving)


def _hide_dropped(statements: list[StatementDigest], session: SqlSession) -> None:
    """Mark work tables that the script drops again, so that they are looked through."""
    for statement in statements:
        if any(name.lower() in session.dropped for name in statement.downstream):
            statement.temporary = True
    combine(statements, session)


def _portable(statement: StatementDigest) -> StatementDigest:
    """The statement with printed expressions: trees do not travel between processes."""
    from goldsmith.digest.describe import expression_text

    for edge in statement.columns:
        edge.expression = expression_text(edge)
    return statement
