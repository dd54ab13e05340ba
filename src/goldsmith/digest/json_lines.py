"""The machine interface: one JSON object in, one JSON object out, line by line and in order."""

from __future__ import annotations

import json
from typing import Any

from goldsmith.digest.digest import SessionStatement, digest, digest_statements
from goldsmith.digest.values import ColumnEdge, Digest
from goldsmith.errors import GoldsmithError


def answer_line(line: str) -> dict[str, Any]:
    """The answer to one line; an unreadable line gives an answer with an error."""
    try:
        order = json.loads(line)
    except ValueError as error:
        return _answer(None, None, f"the line is no JSON object: {error}")
    if not isinstance(order, dict):
        return _answer(None, None, "the line is no JSON object")
    return answer(order)


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """The answer to one object."""
    identity = order.get("id")
    options = {
        "dialect": order.get("dialect"),
        "default_db": order.get("default_db"),
        "default_schema": order.get("default_schema"),
        "schema": order.get("schema"),
    }
    try:
        statements = order.get("statements")
        if isinstance(statements, list):
            found = digest_statements((_statement(item) for item in statements), **options)
        elif isinstance(order.get("sql"), str):
            found = digest(order["sql"], **options)
        else:
            return _answer(identity, None, "the object has neither sql nor statements")
    except GoldsmithError as error:
        return _answer(identity, None, f"{error} {error.hint}")
    problems = [f"line {s.line}: {s.error}" for s in found.errors]
    return _answer(identity, found, "; ".join(problems) or None)


def _statement(item: Any) -> SessionStatement:
    if isinstance(item, str):
        return SessionStatement(item)
    return SessionStatement(
        str(item.get("sql", "")),
        item.get("session"),
        item.get("default_db"),
        item.get("default_schema"),
    )


def _answer(identity: Any, found: Digest | None, error: str | None) -> dict[str, Any]:
    if found is None:
        found = Digest([], [], [], [], [])
    return {
        "id": identity,
        "upstream": found.upstream,
        "downstream": found.downstream,
        "edges": [list(edge) for edge in found.edges],
        "columns": [plain_column(edge) for edge in found.columns],
        "error": error,
    }


def plain_column(edge: ColumnEdge) -> dict[str, Any]:
    return {
        "table": edge.table,
        "column": edge.column,
        "sources": [{"table": root.table, "column": root.column} for root in edge.sources],
    }
