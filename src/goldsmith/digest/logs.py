"""Query logs: one JSON object a line, with the query, its session and fallback tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from goldsmith.digest.digest import read_text
from goldsmith.digest.families import moved
from goldsmith.digest.fingerprint import fingerprint
from goldsmith.digest.names import Naming
from goldsmith.digest.session import SqlSession
from goldsmith.digest.values import EvidenceClass, StatementDigest

#: Statements that change names or defaults for those after them: never answered from memory.
_CHANGING = ("USE", "SET", "DATABASE", "DROP", "RENAME", "ALTER TABLE RENAME", "SWAP")
_QUERY_KEYS = ("query", "sql", "query_text", "statement", "text")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One query of a log."""

    sql: str
    line: int
    timestamp: str = ""
    user: str | None = None
    session: str | None = None
    upstream: tuple[str, ...] = ()
    downstream: tuple[str, ...] = ()
    error: str | None = None
    default_db: str | None = None
    default_schema: str | None = None


def is_log(text: str) -> bool:
    """Whether a text is a query log: its first line is a JSON object with a query."""
    first = text.lstrip("\ufeff \t\r\n").partition("\n")[0].strip()
    if not first.startswith("{"):
        return False
    try:
        found = json.loads(first)
    except ValueError:
        return any(f'"{key}"' in first for key in _QUERY_KEYS)
    return isinstance(found, dict) and any(key in found for key in _QUERY_KEYS)


def records(lines: Iterable[str]) -> Iterator[LogRecord]:
    """The queries of a log; a broken line gives a record with an error."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except ValueError as error:
            yield LogRecord("", number, error=f"the line is no JSON: {error}")
            continue
        query = (
            next((found[k] for k in _QUERY_KEYS if k in found), None)
            if isinstance(found, dict)
            else None
        )
        if not isinstance(query, str):
            yield LogRecord("", number, error="the line is no JSON object with a query")
            continue
        yield LogRecord(
            query,
            number,
            str(found.get("timestamp") or ""),
            found.get("user"),
            found.get("session_id") or found.get("session"),
            _names(found.get("upstream_tables")),
            _names(found.get("downstream_tables")),
        )


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return tuple(str(name) for name in value) if isinstance(value, list) else ()


class LogReader:
    """Reads the queries of a log; statements of a known shape are not parsed again."""

    def __init__(
        self,
        dialect: str,
        default_db: str | None = None,
        default_schema: str | None = None,
        schema: Mapping[str, Mapping[str, Any]] | None = None,
        known: tuple[str, ...] = (),
    ) -> None:
        self._options = (dialect, default_db, default_schema, schema, known)
        self._sessions: dict[str | None, SqlSession] = {}
        self._shapes: dict[str, KnownShape] = {}

    def read(self, record: LogRecord, file: str | None = None) -> list[StatementDigest]:
        """The digests of one record."""
        if record.error:
            wrong = StatementDigest(verb="LOG", error=record.error, line=record.line, file=file)
            return [wrong]
        session = self._sessions.get(record.session)
        if session is None:
            session = self._sessions[record.session] = SqlSession(*self._options)
        if record.default_db or record.default_schema:
            session.set_defaults(
                record.default_db or self._options[1], record.default_schema or self._options[2]
            )
        plain = not record.upstream and not record.downstream and not _names_temp(record, session)
        shape = fingerprint(record.sql) if plain else ""
        known = self._shapes.get(shape) if plain else None
        if known is not None and known.holds(session):
            return known.found
        found = read_text(record.sql, session, file=file)
        session.history.clear()
        for statement in found:
            statement.line, statement.file = record.line, file
            if "..." in record.sql:
                statement.notes.append("`...` stands for text that is not known")
        found = _witnessed(found, record)
        if plain and not any(s.verb in _CHANGING or s.temporary for s in found):
            self._shapes[shape] = KnownShape.of(found, session)
        return found

    def forget(self, session: str | None) -> None:
        """Forget a session that ended, with its temporary tables."""
        self._sessions.pop(session, None)


def _names_temp(record: LogRecord, session: SqlSession) -> bool:
    """Whether a query may read a temporary table of its session."""
    if not session.temps:
        return False
    text = record.sql.lower()
    return any(name.rpartition(".")[2] in text for name in session.temps)


class KnownShape(NamedTuple):
    """The answer to a shape, with the defaults and column lists it was found with."""

    found: list[StatementDigest]
    naming: Naming
    columns: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, found: list[StatementDigest], session: SqlSession) -> KnownShape:
        tables = {name.lower() for s in found for name in (*s.upstream, *s.downstream)}
        columns = tuple((name, session.shapes.get(name)) for name in sorted(tables))
        return cls(found, session.naming, columns)

    def holds(self, session: SqlSession) -> bool:
        """Whether the answer is the same in this session now."""
        mine, theirs = session.naming, self.naming
        if mine is not theirs and (mine.default_db, mine.default_schema) != (
            theirs.default_db,
            theirs.default_schema,
        ):
            return False
        shapes = session.shapes
        return not shapes or all(shapes.get(name) == known for name, known in self.columns)


def _witnessed(found: list[StatementDigest], record: LogRecord) -> list[StatementDigest]:
    """Compare with the tables the log declares; use those where parsing gave nothing."""
    if not record.upstream and not record.downstream:
        return found
    read = {name for s in found for name in s.upstream}
    wrote = {name for s in found for name in s.downstream}
    if not read and not wrote:
        declared = moved("LOG", list(record.upstream), list(record.downstream))
        declared.evidence = EvidenceClass.DECLARED
        declared.sql, declared.line = record.sql, record.line
        declared.notes = [s.error for s in found if s.error]
        return [declared]
    missing = sorted({*record.upstream, *record.downstream} - read - wrote)
    if missing and found:
        found[0].notes.append(f"the log also names {', '.join(missing)}")
    return found


def sorted_by_session(found: Iterable[LogRecord]) -> list[LogRecord]:
    """Records by session and time, so that late records do not lose a definition."""
    return sorted(found, key=lambda r: (r.session or "", r.timestamp, r.line))
