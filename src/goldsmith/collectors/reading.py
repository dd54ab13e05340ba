"""Read a warehouse: its schemas, tables, queries and edges as plain rows, a few at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from goldsmith.collectors.collector import Collector, SqlTexts, WarehouseRow

#: Rows fetched at once.
FETCH = 2_000
_HOLE = re.compile(r"\{(database|schema|start|end|limit)\}")


def schemas(collector: Collector, connection: Any) -> Iterator[WarehouseRow]:
    """The schemas: database, schema, and the problem if one may not be read."""
    if collector.functions.schemas is not None:
        yield from collector.functions.schemas(connection)
        return
    texts = _texts(collector)
    if not texts.databases:
        yield from rows_of(connection, texts, texts.schemas, {})
        return
    for found in list(rows_of(connection, texts, texts.databases, {})):
        database = str(found["name"])
        if database.lower() in texts.skipped_databases:
            continue
        try:
            yield from list(rows_of(connection, texts, texts.schemas, {"database": database}))
        except Exception as error:  # a driver's own: the database is a gap, the others go on
            if not still_open(connection):
                raise
            yield {"database": database, "schema": None, "problem": first_line(error)}


def tables(
    collector: Collector, connection: Any, database: str, schema: str, *, only_volume: bool
) -> Iterator[WarehouseRow]:
    """The tables of a schema, each with its columns unless only the volume is wanted."""
    if collector.functions.tables is not None:
        yield from collector.functions.tables(connection, database, schema, only_volume)
        return
    texts = _texts(collector)
    given = {"database": database, "schema": schema}

    def by_name(text: str) -> dict[str, WarehouseRow]:
        found = rows_of(connection, texts, text, given) if text else ()
        return {str(row["name"]): row for row in found}

    volumes = by_name(texts.volumes)
    if only_volume:
        for row in rows_of(connection, texts, texts.tables, given):
            yield {**row, **_known(volumes.get(str(row["name"]), {}))}
        return
    queries_of_views = by_name(texts.views)
    tags: dict[str, list[WarehouseRow]] = {}
    for row in rows_of(connection, texts, texts.tags, given) if texts.tags else ():
        tags.setdefault(str(row["name"]), []).append({"key": row["key"], "value": row["value"]})
    stream = rows_of(connection, texts, texts.columns, given)
    first = next(stream, None)
    about = {} if first is None or "kind" in first else by_name(texts.tables)
    for name, group in groupby(_chained(first, stream), key=lambda row: str(row["name"])):
        columns = list(group)
        row = about.pop(name, columns[0])
        yield {
            **row,
            **_known(volumes.get(name, {})),
            **_known(queries_of_views.get(name, {})),
            "columns": [_column(each) for each in columns if each["column_name"] is not None],
            "tags": tags.get(name, []),
        }
    for name, row in about.items():  # tables without any column
        yield {**row, **_known(volumes.get(name, {})), "columns": [], "tags": tags.get(name, [])}


def queries(
    collector: Collector, connection: Any, start: datetime, end: datetime, limit: int
) -> Iterator[WarehouseRow]:
    """The queries that started in a window, oldest first."""
    if collector.functions.queries is not None:
        yield from collector.functions.queries(connection, start, end, limit)
        return
    texts = _texts(collector)
    yield from rows_of(
        connection, texts, texts.queries, {"start": start, "end": end, "limit": limit}
    )


def edges(
    collector: Collector, connection: Any, start: datetime, end: datetime, limit: int
) -> Iterator[WarehouseRow]:
    """The edges that the warehouse itself records, if it records any."""
    if collector.sql is not None and collector.sql.edges:
        given = {"start": start, "end": end, "limit": limit}
        yield from rows_of(connection, collector.sql, collector.sql.edges, given)


def rows_of(
    connection: Any, texts: SqlTexts, text: str, given: Mapping[str, Any]
) -> Iterator[WarehouseRow]:
    """The rows of a query, fetched a few thousand at a time."""
    statement, values = filled(texts, text, given)
    with closing(_cursor(connection)) as cursor:
        cursor.execute(statement, values) if values else cursor.execute(statement)
        names: list[str] = []
        while found := cursor.fetchmany(FETCH):
            names = names or [str(column[0]).lower() for column in cursor.description]
            for row in found:
                yield dict(zip(names, row, strict=True))


def filled(texts: SqlTexts, text: str, given: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A query with its identifiers quoted and its parameters marked, and their values."""
    values: list[Any] = []

    def fill(hole: re.Match[str]) -> str:
        value = given[hole[1]]
        if hole[1] == "database":
            return texts.quote + str(value).replace(texts.quote, texts.quote * 2) + texts.quote
        if hole[1] == "limit":
            return str(int(value))
        if isinstance(value, datetime) and texts.naive_times:
            value = value.astimezone(UTC).replace(tzinfo=None)
        values.append(value)
        return texts.marker

    return _HOLE.sub(fill, text), values


def still_open(connection: Any) -> bool:
    """Whether a connection works after an error; an open transaction is rolled back."""
    with suppress(Exception):
        connection.rollback()
    closed = getattr(connection, "closed", False)
    return not (closed() if callable(closed) else closed)


def first_line(error: Exception) -> str:
    """The first line of a driver's error."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _cursor(connection: Any) -> Any:
    # psycopg reads all rows at once unless the cursor has a name, and so is the server's.
    if type(connection).__module__.partition(".")[0] == "psycopg":
        return connection.cursor(name="goldsmith_collect")
    return connection.cursor()


def _texts(collector: Collector) -> SqlTexts:
    assert collector.sql is not None
    return collector.sql


def _chained(first: WarehouseRow | None, others: Iterator[WarehouseRow]) -> Iterator[WarehouseRow]:
    if first is not None:
        yield first
        yield from others


def _known(row: WarehouseRow) -> WarehouseRow:
    return {name: value for name, value in row.items() if value is not None}


def _column(row: WarehouseRow) -> WarehouseRow:
    return {
        "name": row["column_name"],
        "type": row["column_type"],
        "description": row.get("column_description"),
    }
