"""Lineage from the definitions of views and from a query history; temporary tables are looked
through. Each query is read in a process of its own, because a hostile one could take for ever."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

from goldsmith.collectors.collector import WarehouseRow
from goldsmith.digest.guard import Guard, StatementKilled
from goldsmith.digest.logs import LogReader, LogRecord

#: Database, schema and name of a table.
TableName = tuple[str, str, str]
_MOST_PROBLEMS = 200


class TableNames:
    """The tables of a warehouse, found by the names that statements give them."""

    def __init__(self, *, upper_case: bool = False, two_levels: bool = False) -> None:
        self.upper_case = upper_case
        #: The schema is the database as well, and names have two parts.
        self._two_levels = two_levels
        self._exact: dict[str, TableName] = {}
        #: By lower case; None where two tables differ in case alone.
        self._folded: dict[str, TableName | None] = {}

    def add(self, database: str, schema: str, name: str) -> None:
        table = (database, schema, name)
        joined = ".".join(table[1:] if self._two_levels else table)
        self._exact[joined] = table
        folded = joined.lower()
        self._folded[folded] = None if folded in self._folded else table

    def find(self, joined: str) -> TableName | None:
        """The table of a name; a table that is gone is split at its dots, if it has two."""
        if (found := self._exact.get(joined)) is not None:
            return found
        if (found := self._folded.get(joined.lower())) is not None:
            return found
        parts = (joined.upper() if self.upper_case else joined).split(".")
        if self._two_levels:
            return (parts[0], parts[0], parts[1]) if len(parts) == 2 and all(parts) else None
        return (parts[0], parts[1], parts[2]) if len(parts) == 3 and all(parts) else None


class QueryLineage:
    """Collects the edges of tables and columns that queries create."""

    def __init__(self, dialect: str, names: TableNames) -> None:
        self.names = names
        self._guard = Guard(_Reader(dialect), seconds=20)
        #: Destination → source → nothing; and destination → column → origins.
        self._edges: dict[TableName, dict[TableName, None]] = {}
        self._columns: dict[TableName, dict[str, dict[tuple[TableName, str], None]]] = {}
        self._real_names: dict[TableName, dict[str, str]] = {}
        self._problems: dict[str, str] = {}

    def __enter__(self) -> QueryLineage:
        # The process is forked here, before a driver has threads.
        self._guard.call(("", None, None, None))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._guard.__exit__(kind, error, trace)

    def add_view(self, database: str, schema: str, name: str, query: str) -> None:
        """The edges of a view; its definition may be the query alone or the whole statement."""
        text = query.strip().rstrip(";")
        if not text[:6].upper().startswith("CREATE"):
            text = f'CREATE VIEW "goldsmith_view" AS {text}'
        view = (database, schema, name)
        self._read(f"view {'.'.join(view)}", text, None, database, schema, view)

    def add_query(self, row: WarehouseRow) -> None:
        """The edges of one query of the history."""
        session = row.get("session")
        self._read(
            f"query {row.get('query_id') or row.get('started')}",
            str(row["text"]),
            None if session is None else str(session),
            _text(row.get("database")),
            _text(row.get("schema")),
            None,
        )

    def add_edge(self, row: WarehouseRow) -> None:
        """An edge that the warehouse records itself."""
        destination = self.names.find(str(row["to_table"]))
        source = self.names.find(str(row["from_table"]))
        if destination is None or source is None:
            self._problem(f"edge to {row['to_table']}", "a name has no three parts")
            return
        self._edges.setdefault(destination, {})[source] = None
        if row.get("to_column") and row.get("from_column"):
            columns = self._columns.setdefault(destination, {})
            columns.setdefault(str(row["to_column"]), {})[source, str(row["from_column"])] = None

    def tables_with_columns(self) -> set[TableName]:
        """The tables whose columns are named."""
        found = {table for table, columns in self._columns.items() if columns}
        for columns in self._columns.values():
            found |= {table for origins in columns.values() for table, _ in origins}
        return found

    def set_columns(self, table: TableName, columns: list[str]) -> None:
        """The columns of a table, with their case."""
        self._real_names[table] = {
            folded: names[0]
            for folded in {name.lower() for name in columns}
            if len(names := [name for name in columns if name.lower() == folded]) == 1
        }

    def _real_name(self, table: TableName, column: str) -> str:
        if table in self._real_names or not self.names.upper_case:
            return self._real_names.get(table, {}).get(column.lower(), column)
        return column.upper() if column.islower() else column

    def edges(
        self,
    ) -> Iterator[tuple[TableName, list[TableName], dict[str, list[tuple[TableName, str]]]]]:
        """The destination, the sources, and the source columns of each column."""
        for destination, sources in self._edges.items():
            columns = {
                self._real_name(destination, name): [
                    (table, self._real_name(table, column)) for table, column in origins
                ]
                for name, origins in self._columns.get(destination, {}).items()
                if origins
            }
            yield destination, list(sources), columns

    def problems(self) -> Iterator[tuple[str, str]]:
        """The objects that could not be read, and why."""
        yield from self._problems.items()

    def _read(
        self,
        label: str,
        text: str,
        session: str | None,
        database: str | None,
        schema: str | None,
        view: TableName | None,
    ) -> None:
        try:
            found = self._guard.call((text, session, database, schema))
        except StatementKilled as killed:
            self._problem(label, str(killed))
            return
        for error in found["errors"]:
            self._problem(label, error)
        for source, destination in found["edges"]:
            to, origin = view or self.names.find(destination), self.names.find(source)
            if to is None or origin is None:
                self._problem(label, f"'{source}' → '{destination}' is not of three names")
            elif to != origin:
                self._edges.setdefault(to, {})[origin] = None
        for destination, column, sources in found["columns"]:
            to = view or self.names.find(destination)
            for table, name in sources:
                origin = self.names.find(table)
                if to is None or origin is None or "*" in (column, name) or to == origin:
                    continue
                self._edges.setdefault(to, {})[origin] = None
                self._columns.setdefault(to, {}).setdefault(column, {})[origin, name] = None

    def _problem(self, label: str, problem: str) -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.setdefault(label, problem.splitlines()[0][:300])


class _Reader:
    """Reads one query in the guarded process; remembers the temporary tables of sessions."""

    def __init__(self, dialect: str) -> None:
        self._reader = LogReader(dialect)
        self._number = 0

    def __call__(self, request: Any) -> dict[str, Any]:
        text, session, database, schema = request
        self._number += 1
        record = LogRecord(
            text,
            self._number,
            session=session or f"query {self._number}",
            default_db=database,
            default_schema=schema,
        )
        found = self._reader.read(record)
        if session is None:
            self._reader.forget(record.session)
        return {
            "errors": [statement.error for statement in found if statement.error],
            "edges": [
                edge
                for statement in found
                if not statement.temporary and not statement.structure_only
                for edge in statement.edges
            ],
            "columns": [
                (edge.table, edge.column, [(root.table, root.column) for root in edge.sources])
                for statement in found
                if not statement.temporary and not statement.structure_only
                for edge in statement.columns
                if edge.table is not None
            ],
        }


def _text(value: Any) -> str | None:
    return None if value is None else str(value).strip() or None
