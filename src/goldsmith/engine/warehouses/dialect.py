"""What the SQL of a load needs to know of one warehouse: its types, names and statements."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from goldsmith.engine.warehouses.types import NameTooLong, TypeNotLoadable, base_type

if TYPE_CHECKING:
    from goldsmith.engine.warehouses.landing import Landing, WarehouseColumn, WarehouseTable

#: Runs a statement with bound values; returns its rows.
Run = Callable[..., list[tuple[Any, ...]]]

_LENGTH = re.compile(r"(?:var)?char\((\d+)\)")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


class WarehouseDialect(ABC):
    """The SQL of one warehouse, where it differs from the others; has no state."""

    #: The kind in the settings, and sqlglot's dialect that quotes names and values.
    name: ClassVar[str]
    #: Spark's type names → the warehouse's types; None where a type cannot be loaded.
    types: ClassVar[Mapping[str, str | None]]
    #: The longest name, in bytes of UTF-8.
    longest_name: ClassVar[int | None] = None
    #: Columns whose names differ only by case are different columns.
    tells_case_apart: ClassVar[bool] = False
    #: The schema of a location without one.
    default_schema: ClassVar[str] = "public"
    #: Whether staging tables are temporary; else they are in Goldsmith's schema.
    has_temporary_staging: ClassVar[bool] = False
    #: The start of the statement that creates a staging table.
    creates_staging: ClassVar[str] = "CREATE TABLE"
    #: The placeholder of a bound value.
    mark: ClassVar[str] = "%s"
    #: The expression for the current time.
    now: ClassVar[str] = "CURRENT_TIMESTAMP"
    #: The types of texts and times in the ledger.
    ledger_text: ClassVar[str] = "text"
    ledger_moment: ClassVar[str] = "TIMESTAMP WITH TIME ZONE"

    def type_of(self, column: str, type_: str) -> str:
        """The warehouse's type for a Spark type."""
        found = self._found(type_)
        if found is None:
            raise TypeNotLoadable(column=column, type=type_, warehouse=self.name)
        return found

    def _found(self, type_: str) -> str | None:
        if length := _LENGTH.fullmatch(type_):
            return self.text_of(int(length[1]))
        if decimal := _DECIMAL.fullmatch(type_):
            pattern = self.types["decimal(p,s)"]
            return pattern and pattern.replace("(p,s)", f"({decimal[1]},{decimal[2]})")
        # `string collate UTF8_LCASE` is a string, `time(6)` a time.
        return self.types.get(base_type(type_))

    def text_of(self, length: int) -> str:
        """The type of a text of at most so many characters."""
        return f"varchar({length})"

    def spelt(self, name: str) -> str:
        """A name as the warehouse stores it; raises if the warehouse would cut it."""
        spelling = self.folded(name)
        size, most = len(spelling.encode()), self.longest_name
        if most is not None and size > most:
            raise NameTooLong(name=name, warehouse=self.name, bytes=size, most=most)
        return spelling

    def folded(self, name: str) -> str:
        """A quoted name in the case in which the warehouse stores it."""
        return name

    def staged_type(self, column: str, type_: str, value: str) -> tuple[str, str]:
        """The type of a column in the staging table, and SQL that gives its value from there."""
        return self.type_of(column, type_), value

    def comparable(self, nested: str, *, has_map: bool) -> str:
        """SQL for a nested value that `=` can compare.

        Without maps, a field that is NULL is as good as a field that is not there: rows from
        before a field was added to a struct do not have it.
        """
        del has_map
        return nested

    def layout(self, landing: Landing, *, sorted_too: bool) -> str:
        """What follows the columns in CREATE TABLE, from the target's options."""
        del landing, sorted_too
        return ""

    def encoding(self, landing: Landing, column: WarehouseColumn) -> str:
        """What follows a column's type in CREATE TABLE, from the target's options."""
        del landing, column
        return ""

    @property
    @abstractmethod
    def columns_of(self) -> str:
        """The query for a table's column names and types; takes schema and table."""

    @abstractmethod
    def move_to_schema(self, old: WarehouseTable, new: WarehouseTable) -> Iterator[str]:
        """The statements that move a table into another schema; its rows and columns stay."""

    @abstractmethod
    def table_id(self, run: Run, table: WarehouseTable) -> str | None:
        """The id of a table, which a table created again does not share; None if it has none."""

    def ensure_table_id(self, run: Run, table: WarehouseTable) -> str | None:
        """The id of a table; gives it one where it has none, inside an open transaction."""
        return self.table_id(run, table)

    def carry_table_id(
        self, run: Run, old: WarehouseTable, new: WarehouseTable
    ) -> Callable[[], None]:
        """Read what a move could lose of a table; the result writes it to the moved table."""
        del run, old, new
        return lambda: None

    @abstractmethod
    def maintenance(self, table: WarehouseTable) -> list[str]:
        """The statements that vacuum and analyze a table, each outside a transaction."""
