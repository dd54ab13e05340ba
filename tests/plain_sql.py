"""The catalog's database as somebody with `sqlite3` or `psql` sees it: none of our code."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg

#: What either driver raises when its database says no.
REFUSED = (sqlite3.DatabaseError, psycopg.DatabaseError)


class PlainSql:
    """One plain connection; every statement is its own transaction unless it says otherwise."""

    def __init__(self, url: str) -> None:
        self.is_sqlite = url.startswith("sqlite:///")
        self._connection: Any
        if self.is_sqlite:
            file = url.removeprefix("sqlite:///")
            self._connection = sqlite3.connect(file, timeout=60, isolation_level=None)
        else:
            self._connection = psycopg.connect(url, autocommit=True)

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement whose values are written `?`; its rows, if it gives any."""
        sql = statement if self.is_sqlite else statement.replace("?", "%s")
        # psycopg looks for placeholders only where there are values.
        cursor = self._connection.execute(sql, values) if values else self._connection.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def value(self, statement: str, *values: Any) -> Any:
        """The one value a question has for an answer."""
        [(answer,)] = self.run(statement, *values)
        return answer

    def revision(self) -> int:
        return int(self.value("SELECT revision FROM catalog_revision"))

    def close(self) -> None:
        self._connection.close()
