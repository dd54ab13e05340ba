"""Checks that the clauses of a query suggest, each with the clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from goldsmith.digest.reading import StatementReading
    from goldsmith.digest.scope import Scope


def note_rules(query: exp.Select, scope: Scope, reading: StatementReading) -> None:
    """Note what a query suggests about its input."""
