"""Select the tables to collect by patterns of `database.schema.table`."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from re import Pattern, compile


@dataclass(frozen=True)
class TablePatterns:
    """Patterns with `*` and `?`; one with fewer parts selects everything below it.

    `sales` is a schema of any database or a whole database, `sales.orders` a table of a schema or
    a schema of a database; upper and lower case do not matter.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def wants(self, database: str, schema: str, table: str) -> bool:
        """Whether a table is collected."""
        names = _names(database, schema, table)
        if any(pattern.fullmatch(name) for pattern in self._excluding for name in names):
            return False
        return not self._including or any(
            pattern.fullmatch(name) for pattern in self._including for name in names
        )

    def wants_none_of(self, database: str, schema: str) -> bool:
        """Whether an exclude pattern covers the whole schema."""
        names = (f"{database}.{schema}".lower(), schema.lower(), database.lower())
        return any(pattern.fullmatch(name) for pattern in self._excluding for name in names)

    @cached_property
    def _including(self) -> list[Pattern[str]]:
        return [compile(translate(pattern.lower())) for pattern in self.include]

    @cached_property
    def _excluding(self) -> list[Pattern[str]]:
        return [compile(translate(pattern.lower())) for pattern in self.exclude]


def _names(database: str, schema: str, table: str) -> tuple[str, ...]:
    whole = f"{database}.{schema}.{table}".lower()
    return (
        whole,
        f"{schema}.{table}".lower(),
        f"{database}.{schema}".lower(),
        schema.lower(),
        database.lower(),
    )
