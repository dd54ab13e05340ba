"""Collect one flow of a warehouse into a manifest, item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from goldsmith.assets import items, manifest
from goldsmith.assets.items import Flow, Item
from goldsmith.collectors import reading
from goldsmith.collectors.collector import WAREHOUSES, Collector, WarehouseRow
from goldsmith.collectors.errors import (
    BadConnectionSetting,
    CollectionLost,
    FlowNotCollected,
    WarehouseRefused,
)
from goldsmith.collectors.memory import memory_warning
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.collectors.query_lineage import QueryLineage, TableNames
from goldsmith.credentials import LibraryMissing, Secrets, is_reference

LOOK_BACK = timedelta(hours=24)
#: One query of the history covers at most this span.
WINDOW = timedelta(hours=6)
LIMIT = 50_000
#: Dialects whose unquoted names are in lower case, as the digest has them.
_LOWER_CASE = ("postgres", "redshift", "hive")


@dataclass(frozen=True, kw_only=True)
class CollectRequest:
    """A request to collect a flow of a warehouse."""

    warehouse: str
    flow: Flow
    resource_uuid: str
    #: Settings of the connection; secrets are references.
    settings: Mapping[str, str]
    resource_type: str | None = None
    patterns: TablePatterns = field(default_factory=TablePatterns)
    only_volume: bool = False
    look_back: timedelta = LOOK_BACK
    until: datetime | None = None
    limit: int = LIMIT


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """The result of a collection."""

    items: int
    gaps: tuple[Mapping[str, str], ...]


def _quiet(_text: str) -> None:
    """Print nothing."""


def collect(
    request: CollectRequest,
    file: Path,
    secrets: Secrets,
    *,
    now: datetime,
    tell: Callable[[str], None] = _quiet,
    connection: Any = None,
) -> Collected:
    """Collect a flow and write its manifest; the file appears only when it is complete.

    A given `connection` is used instead of a new one. An object that may not be read is a gap of
    the manifest. If the connection breaks, the collection fails.
    """
    collector = WAREHOUSES.get(request.warehouse)
    kind = kind_of(collector, request.warehouse, request.flow)
    if request.resource_type and request.flow is not Flow.QUERY_LOGS:
        kind = request.resource_type
    settings: Mapping[str, str] = {}
    if connection is None:
        settings = resolved(request.warehouse, collector, request.settings, secrets)
    if (warning := memory_warning()) is not None:
        tell(f"WARNING: {warning}")
    if request.flow is not Flow.METADATA and collector.logs_hint is not None:
        tell(collector.logs_hint(settings))
    with ExitStack() as stack:
        lineage = None
        if request.flow is Flow.LINEAGE:
            names = TableNames(
                upper_case=collector.upper_case, two_levels=collector.dialect == "hive"
            )
            lineage = stack.enter_context(QueryLineage(collector.dialect, names))
        if connection is None:
            connection = connected(request.warehouse, collector, settings, secrets)
        stack.callback(_closed, connection)
        work = _Collection(collector, connection, request, secrets, now, tell, lineage)
        number = manifest.write(
            file,
            work.items(),
            flow=request.flow,
            resource_uuid=request.resource_uuid,
            kind=kind,
            collected_at=now,
            gaps=work.gaps,
        )
    return Collected(items=number, gaps=tuple(work.gaps))


def _closed(connection: Any) -> None:
    with suppress(Exception):  # the connection may be gone already
        connection.close()


def resolved(
    warehouse: str, collector: Collector, given: Mapping[str, str], secrets: Secrets
) -> dict[str, str]:
    """The settings of a connection with their secrets; raises BadConnectionSetting."""
    check_given(warehouse, collector, given)
    found: dict[str, str] = {}
    for setting in collector.settings:
        text = given.get(setting.name, setting.default)
        if text is not None:
            found[setting.name] = secrets.resolve(text).reveal() if setting.secret else text
        elif setting.required:
            raise _bad_setting(warehouse, collector, setting.name, "is missing")
    return found


def check_given(warehouse: str, collector: Collector, given: Mapping[str, str]) -> None:
    """Raise BadConnectionSetting for a setting that is unknown or shows a secret."""
    known = {setting.name: setting for setting in collector.settings}
    for name, value in given.items():
        problem = None
        if name not in known:
            problem = "does not exist"
        elif known[name].secret and not is_reference(value):
            problem = "is a secret in plain text; it takes a reference"
        elif not known[name].secret and _has_password(value):
            problem = "holds a password in plain text; give it as a reference"
        if problem is not None:
            raise _bad_setting(warehouse, collector, name, problem)


def _bad_setting(
    warehouse: str, collector: Collector, name: str, problem: str
) -> BadConnectionSetting:
    known = tuple(setting.name for setting in collector.settings)
    return BadConnectionSetting(warehouse=warehouse, setting=name, problem=problem, known=known)


def _has_password(text: str) -> bool:
    try:
        return "://" in text and bool(urlsplit(text).password)
    except ValueError:
        return False


def connected(
    warehouse: str, collector: Collector, settings: Mapping[str, str], secrets: Secrets
) -> Any:
    """An open connection; raises LibraryMissing or WarehouseRefused."""
    try:
        return collector.connect(settings)
    except ModuleNotFoundError as error:
        raise LibraryMissing(library=str(error.name), extra=collector.extra) from None
    except Exception as error:
        # Raise without `from`: errors of drivers may show the password.
        because = secrets.redact(reading.first_line(error))
        raise WarehouseRefused(warehouse=warehouse, because=because) from None


def kind_of(collector: Collector, warehouse: str, flow: Flow) -> str:
    """The resource_type or log_type of the manifest; raises FlowNotCollected."""
    if flow is not Flow.QUERY_LOGS:
        return collector.resource_type
    if not collector.has_queries:
        reason = "it has no query history that can be read"
    elif collector.log_type is None:
        reason = "receivers know no log_type for it"
    else:
        return items.check_log_type(collector.log_type)
    raise FlowNotCollected(warehouse=warehouse, flow=flow, reason=reason)


class _Collection:
    """One collection that is running: its items, its gaps and its progress."""

    def __init__(
        self,
        collector: Collector,
        connection: Any,
        request: CollectRequest,
        secrets: Secrets,
        now: datetime,
        tell: Callable[[str], None],
        lineage: QueryLineage | None,
    ) -> None:
        self._collector, self._connection = collector, connection
        self._request, self._secrets, self._tell = request, secrets, tell
        self._end = request.until or now
        self._found = lineage
        self.gaps: list[dict[str, str]] = []
        self._number = 0

    def items(self) -> Iterator[Item]:
        """The items of the flow, one at a time."""
        found = {
            Flow.METADATA: self._metadata,
            Flow.LINEAGE: self._lineage,
            Flow.QUERY_LOGS: self._query_logs,
        }[self._request.flow]()
        for item in found:
            self._number += 1
            if self._number % 1_000 == 0:
                self._tell(f"{self._number:,} {self._request.flow} items")
            yield item

    def _metadata(self) -> Iterator[Item]:
        for database, schema in self._schemas():
            before = self._number
            for row in self._read_schema(database, schema, self._request.only_volume):
                yield _table_item(database, schema, row)
            self._tell(f"{database}.{schema}: {self._number - before:,} tables")

    def _schemas(self) -> Iterator[tuple[str, str]]:
        # All are read first: a second cursor would end the one of this query.
        for found in list(
            self._guarded(lambda: reading.schemas(self._collector, self._connection))
        ):
            database, schema = str(found["database"]), found.get("schema")
            if found.get("problem"):
                self._gap(database, str(schema or "*"), str(found["problem"]))
            elif not self._request.patterns.wants_none_of(database, str(schema)):
                yield database, str(schema)

    def _read_schema(self, database: str, schema: str, only_volume: bool) -> Iterator[WarehouseRow]:
        try:
            for row in reading.tables(
                self._collector, self._connection, database, schema, only_volume=only_volume
            ):
                if row.get("problem"):
                    self._gap(database, f"{schema}.{row['name']}", str(row["problem"]))
                elif self._request.patterns.wants(database, schema, str(row["name"])):
                    yield row
        except Exception as error:  # a driver's own
            self._gap_or_raise(database, schema, error)

    def _lineage(self) -> Iterator[Item]:
        found = self._found
        assert found is not None
        records_edges = self._collector.sql is not None and bool(self._collector.sql.edges)
        views: list[tuple[str, str, WarehouseRow]] = []
        for database, schema in self._schemas():
            for row in self._read_schema(database, schema, False):
                found.names.add(database, schema, str(row["name"]))
                if row.get("view_query") and not records_edges:
                    views.append((database, schema, row))
        start = self._end - self._request.look_back
        for database, schema, row in views:
            found.add_view(database, schema, str(row["name"]), str(row["view_query"]))
        del views
        has_history = self._collector.has_queries and not records_edges
        if has_history and getattr(self._connection, "log_file", "") is None:
            has_history = False  # Hive without a copy of its log
            self.gaps.append({"query": "all", "because": "the setting log_file is missing"})
        if has_history:
            for row in self._queries(start):
                if not row.get("error_text") and not row.get("error_code"):
                    found.add_query(row)
        for row in self._guarded(
            lambda: reading.edges(
                self._collector, self._connection, start, self._end, self._request.limit
            )
        ):
            found.add_edge(row)
        if self._collector.dialect not in _LOWER_CASE and not records_edges:
            self._restore_case(found)
        for destination, sources, columns in found.edges():
            if self._request.patterns.wants(*destination):
                yield items.edge(destination, sources, columns)
        for name, problem in found.problems():
            self.gaps.append({"query": name, "because": self._secrets.redact(problem)})

    def _restore_case(self, found: QueryLineage) -> None:
        """Spell the names of columns as their tables do; a statement may spell them otherwise."""
        involved = found.tables_with_columns()
        for database, schema in sorted({table[:2] for table in involved}):
            for row in self._read_schema(database, schema, False):
                table = (database, schema, str(row["name"]))
                if table in involved:
                    found.set_columns(table, [str(each["name"]) for each in row["columns"]])

    def _query_logs(self) -> Iterator[Item]:
        for row in self._queries(self._end - self._request.look_back):
            yield items.log_entry(
                started=row["started"],
                ended=row.get("ended") or row["started"],
                text=str(row["text"]),
                query_id=row.get("query_id"),
                user=row.get("user"),
                error_code=row.get("error_code"),
                error_text=row.get("error_text"),
                rows=row.get("rows"),
                extra={name[2:]: value for name, value in row.items() if name.startswith("x_")},
            )

    def _queries(self, start: datetime) -> Iterator[WarehouseRow]:
        left, at = self._request.limit, start
        while at < self._end and left > 0:
            until, most = min(at + WINDOW, self._end), left
            for row in self._guarded(
                lambda at=at, until=until, most=most: reading.queries(  # type: ignore[misc]
                    self._collector, self._connection, at, until, most
                )
            ):
                if not row.get("text") or row.get("started") is None:
                    continue
                left -= 1
                yield row
            at = until
        if left <= 0:
            self.gaps.append(
                {
                    "queries": f"until {at.astimezone(UTC).isoformat()} and later",
                    "because": f"the limit of {self._request.limit:,} queries was reached",
                }
            )

    def _guarded(self, read: Callable[[], Iterator[WarehouseRow]]) -> Iterator[WarehouseRow]:
        try:
            yield from read()
        except Exception as error:  # a driver's own
            self._gap_or_raise("*", "*", error)

    def _gap_or_raise(self, database: str, schema: str, error: Exception) -> None:
        because = self._secrets.redact(reading.first_line(error))
        if isinstance(error, GeneratorExit) or not reading.still_open(self._connection):
            raise CollectionLost(
                warehouse=self._request.warehouse, collected=self._number, because=because
            ) from None
        if (database, schema) == ("*", "*"):
            raise WarehouseRefused(warehouse=self._request.warehouse, because=because) from None
        self._gap(database, schema, because)

    def _gap(self, database: str, schema: str, because: str) -> None:
        self.gaps.append(
            {"database": database, "schema": schema, "because": self._secrets.redact(because)}
        )
        self._tell(f"{database}.{schema} is left out: {self._secrets.redact(because)}")


def _table_item(database: str, schema: str, row: WarehouseRow) -> Item:
    return items.table(
        database=database,
        schema=schema,
        name=str(row["name"]),
        kind=row.get("kind"),
        description=row.get("description"),
        view_query=row.get("view_query"),
        created_on=row.get("created_on"),
        columns=row.get("columns") or (),
        tags=row.get("tags") or (),
        rows=row.get("rows"),
        size=row.get("size"),
        updated=row.get("updated"),
    )
