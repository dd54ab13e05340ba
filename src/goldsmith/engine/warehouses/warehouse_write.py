"""What a write mode is given to write staged rows to a warehouse table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from goldsmith.engine.warehouses import statements
from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.landing import Landing, WarehouseTable


class Session(Protocol):
    """An open connection to a warehouse that raises only Goldsmith errors."""

    dialect: WarehouseDialect

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement with bound values; return its rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WarehouseWrite:
    """The rows of a staging table to write to the target, in an open transaction.

    If the load starts from scratch, the target is empty by now.
    """

    session: Session
    landing: Landing
    #: The columns of the target, in their order.
    table_columns: Sequence[str]

    def run(self, changes: Iterable[str]) -> None:
        """Run statements, one after another."""
        for sql in changes:
            self.session.run(sql)

    def count(self, table: WarehouseTable) -> int:
        return int(self.session.run(statements.count(table))[0][0])

    def key_patterns(self) -> list[statements.KeyPattern]:
        """The combinations of NULL keys among the staged rows; none if there are no rows."""
        found = self.session.run(statements.key_patterns(self.landing))
        return [tuple(bool(is_null) for is_null in row) for row in found]
