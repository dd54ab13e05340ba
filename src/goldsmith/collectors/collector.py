"""The declaration of a warehouse to collect from: settings, connection, queries or functions.

The functions return plain rows. `connect` and the functions of warehouses without SQL import their
driver themselves and use nothing of ours, because generated scripts contain their source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from goldsmith.registry import Registry

#: One row of a warehouse: values by name.
WarehouseRow = dict[str, Any]
ConnectionSettings = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectionSetting:
    """One setting of a warehouse's connection."""

    name: str
    doc: str
    required: bool = False
    #: The value is given as a reference, never as text.
    secret: bool = False
    default: str | None = None


@dataclass(frozen=True, kw_only=True)
class SqlTexts:
    """The queries of a warehouse with SQL. Each names its columns as the collection reads them.

    `{database}` becomes a quoted identifier; `{schema}`, `{start}`, `{end}` become parameters and
    `{limit}` a number.
    """

    #: name, of databases; empty: the schemas name their database.
    databases: str = ""
    #: Databases that are the warehouse's own, in lower case.
    skipped_databases: tuple[str, ...] = ()
    #: database, schema, problem (why it may not be read, or NULL).
    schemas: str
    #: name, kind, description, rows, size, updated, created_on, view_query.
    tables: str
    #: name, column_name, column_type, column_description; sorted by name and position. If it has
    #: `kind` as well, it has all that `tables` has.
    columns: str
    #: name, rows, size, updated: where `tables` does not have them.
    volumes: str = ""
    #: name, view_query.
    views: str = ""
    #: name, key, value.
    tags: str = ""
    #: started, ended, text, query_id, user, error_code, error_text, rows, database, schema,
    #: session; a column x_NAME becomes NAME in `extra`.
    queries: str = ""
    #: to_table, from_table (three names each, or one in parts), to_column, from_column.
    edges: str = ""
    marker: str = "%s"
    #: The quote of identifiers.
    quote: str = '"'
    #: Times are given to the driver without a zone, in UTC.
    naive_times: bool = False


@dataclass(frozen=True, kw_only=True)
class WarehouseFunctions:
    """Functions that read a warehouse for which SQL is not enough."""

    #: (connection): rows with database, schema, problem.
    schemas: Callable[[Any], Iterable[WarehouseRow]] | None = None
    #: (connection, database, schema, only_volume): rows as `SqlTexts.tables`, with `columns`, a
    #: list of name, type and description, and `tags`.
    tables: Callable[[Any, str, str, bool], Iterable[WarehouseRow]] | None = None
    #: (connection, start, end, limit): rows as `SqlTexts.queries`.
    queries: Callable[[Any, datetime, datetime, int], Iterable[WarehouseRow]] | None = None


@dataclass(frozen=True, kw_only=True)
class Collector:
    """A warehouse that can be collected from."""

    #: The resource_type of pushes; the log_type of query logs, if receivers know one.
    resource_type: str
    log_type: str | None = None
    #: The dialect of its queries, for the digest.
    dialect: str = "ansi"
    #: The extra that installs the driver; empty: nothing further is needed.
    extra: str = ""
    #: The packages a generated script needs.
    packages: tuple[str, ...] = ()
    settings: tuple[ConnectionSetting, ...]
    connect: Callable[[ConnectionSettings], Any]
    sql: SqlTexts | None = None
    functions: WarehouseFunctions = field(default_factory=WarehouseFunctions)
    #: Names that are not quoted are in upper case.
    upper_case: bool = False
    #: What cannot be had from this warehouse, for the documentation.
    lacks: str = ""
    #: A hint that is printed before its query logs are read.
    logs_hint: Callable[[ConnectionSettings], str] | None = None

    @property
    def has_queries(self) -> bool:
        """Whether it has a query history."""
        return self.functions.queries is not None or bool(self.sql and self.sql.queries)


WAREHOUSES = Registry("warehouse", package="goldsmith.collectors.warehouses", kind=Collector)
