"""Which extraction runs the raw tables hold: their records by typename, and how far they reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from goldsmith.catalog.catalog import Catalog
from goldsmith.errors import GoldsmithError
from goldsmith.lakehouse import applications
from goldsmith.lakehouse.raw_tables import find_table
from goldsmith.storage.storage import Storage

_COLUMNS = (
    "tenant_id",
    "connection_qualified_name",
    "workflow_id",
    "workflow_run_id",
    "typename",
    "extracted_at",
)
_COUNT = """
SELECT tenant_id, connection_qualified_name, workflow_id, workflow_run_id, typename, count(*),
       min(extracted_at), max(extracted_at)
FROM records GROUP BY ALL ORDER BY ALL
"""


@dataclass(eq=False, kw_only=True)
class NoRawTable(GoldsmithError):
    """An application has no table of raw records."""

    name: str

    def __str__(self) -> str:
        return f"The application '{self.name}' has no table of raw records."

    @property
    def hint(self) -> str:
        return "`goldsmith raw coverage` lists the applications and what their tables hold."


@dataclass(kw_only=True)
class ExtractionRun:
    """The records of one run of one workflow over one connection."""

    tenant_id: str
    connection: str
    workflow_id: str
    run_id: str
    #: Records by typename.
    counts: dict[str, int] = field(default_factory=dict)
    first_millis: int
    last_millis: int

    def as_plain(self) -> dict[str, Any]:
        return {
            "tenant_id": self.tenant_id,
            "connection_qualified_name": self.connection,
            "workflow_id": self.workflow_id,
            "workflow_run_id": self.run_id,
            "records": sum(self.counts.values()),
            "typenames": self.counts,
            "first_extracted_at": moment_of(self.first_millis).isoformat(),
            "last_extracted_at": moment_of(self.last_millis).isoformat(),
        }


def moment_of(millis: int) -> datetime:
    """The time of an `extracted_at`."""
    return datetime.fromtimestamp(millis / 1000, UTC)


def runs_of(storage: Storage, application: str) -> list[ExtractionRun]:
    """The runs in the table of an application, newest first; raises NoRawTable."""
    table = find_table(storage, application)
    if table is None:
        raise NoRawTable(name=application)
    found: dict[tuple[str, ...], ExtractionRun] = {}
    for *key, typename, records, first, last in _counted(table):
        tenant_id, connection, workflow_id, run_id = key
        run = found.setdefault(
            tuple(key),
            ExtractionRun(
                tenant_id=tenant_id,
                connection=connection,
                workflow_id=workflow_id,
                run_id=run_id,
                first_millis=first,
                last_millis=last,
            ),
        )
        run.counts[typename] = records
        run.first_millis = min(run.first_millis, first)
        run.last_millis = max(run.last_millis, last)
    return sorted(found.values(), key=lambda run: run.last_millis, reverse=True)


def coverage(catalog: Catalog, storage: Storage) -> list[Mapping[str, Any]]:
    """Of every application: its runs, records by typename, oldest, newest and longest gap."""
    return [
        {"application": row.name, "status": row.status, **_coverage(storage, row.name)}
        for row in applications.listed(catalog)
    ]


def _coverage(storage: Storage, application: str) -> dict[str, Any]:
    try:
        runs = runs_of(storage, application)
    except NoRawTable:
        return {"table": False, "runs": 0, "records": 0, "typenames": {}}
    counts: dict[str, int] = {}
    for run in runs:
        for typename, records in run.counts.items():
            counts[typename] = counts.get(typename, 0) + records
    gap: float | None = None
    by_connection: dict[tuple[str, str], list[ExtractionRun]] = {}
    for run in reversed(runs):
        by_connection.setdefault((run.tenant_id, run.connection), []).append(run)
    for same in by_connection.values():
        for earlier, later in pairwise(same):
            gap = max(gap or 0.0, (later.last_millis - earlier.last_millis) / 1000)
    return {
        "table": True,
        "runs": len(runs),
        "connections": len(by_connection),
        "records": sum(counts.values()),
        "typenames": dict(sorted(counts.items())),
        "oldest": moment_of(min(run.first_millis for run in runs)).isoformat() if runs else None,
        "newest": moment_of(max(run.last_millis for run in runs)).isoformat() if runs else None,
        "longest_gap_seconds": gap,
    }


def _counted(table: Any) -> Iterator[tuple[Any, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("records", table.scan(selected_fields=_COLUMNS).to_arrow_batch_reader())
        yield from connection.execute(_COUNT).fetchall()
