"""Query logs: one JSON object a line, with the query, its session and fallback tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.digest.digest import read_text
from goldsmith.digest.families import moved
from goldsmith.digest.fingerprint import fingerprint
from goldsmith.digest.session import SqlSession
from goldsmith.digest.values import EvidenceClass, StatementDigest

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
        self._shapes: dict[str, list[StatementDigest]] = {}

    def read(self, record: LogRecord, file: str | None = None) -> list[StatementDigest]:
        """The digests of one record."""
        if record.error:
            wrong = StatementDigest(verb="LOG", error=record.error, line=record.line, file=file)
            return [wrong]
        shape = fingerprint(record.sql)
        known = self._shapes.get(shape)
        if known is not None:
            return known
        session = self._sessions.get(record.session)
        if session is None:
            session = self._sessions[record.session] = SqlSession(*self._options)
        before = (len(session.shapes), len(session.temps), session.naming)
        found = read_text(record.sql, session, file=file)
        session.history.clear()
        for statement in found:
            statement.line, statement.file = record.line, file
            if "..." in record.sql:
                statement.notes.append("`...` stands for text that is not known")
        found = _witnessed(found, record)
        if (
            len(session.shapes),
            len(session.temps),
            session.naming,
        ) == before and not session.temps:
            self._shapes[shape] = found
        return found


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
