"""Describe a dataset without starting Spark: its schema, snapshots, size and a sample of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.lake import ROUTE_PROPERTY, load_table, name_of
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.stage_context import Dataset, dataset_of
from goldsmith.storage.files import list_files
from goldsmith.storage.lake_tables import readable
from goldsmith.storage.storage import Storage


@dataclass(eq=False, kw_only=True)
class UnknownDataset(GoldsmithError):
    """No row of `sources` or `targets` has this id."""

    dataset_id: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"There is no dataset '{self.dataset_id}'."

    @property
    def hint(self) -> str:
        guess = nearest(self.dataset_id, self.known)
        return (f"Did you mean '{guess}'? " if guess else "") + f"Known: {one_of(self.known)}."


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetInfo:
    """What a dataset holds right now."""

    dataset_id: str
    #: files, table or warehouse.
    kind: str
    location: str | None
    #: There are no files, or no published snapshot.
    empty: bool
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    snapshots: tuple[Mapping[str, Any], ...] = ()

    def as_plain(self) -> dict[str, Any]:
        return {
            "dataset_id": self.dataset_id,
            "kind": self.kind,
            "location": self.location,
            "empty": self.empty,
            "rows": self.rows,
            "bytes": self.bytes,
            "files": self.files,
            "columns": dict(self.columns),
            "snapshots": [dict(snapshot) for snapshot in self.snapshots],
        }


def find(rows: CatalogRows, dataset_id: str) -> Dataset:
    """A dataset by its id."""
    if dataset_id not in rows.dataset_ids:
        raise UnknownDataset(dataset_id=dataset_id, known=tuple(sorted(rows.dataset_ids)))
    return dataset_of(dataset_id, rows)


def dataset_info(dataset: Dataset, storage: Storage) -> DatasetInfo:
    """What a dataset holds right now."""
    match dataset_kind(dataset):
        case "files":
            return _of_files(dataset, storage)
        case "table":
            return _of_table(dataset, storage)
        case kind:
            return DatasetInfo(
                dataset_id=dataset.dataset_id, kind=kind, location=dataset.location, empty=False
            )


def _of_files(dataset: Dataset, storage: Storage) -> DatasetInfo:
    files = list_files(dataset.location or "", storage)
    return DatasetInfo(
        dataset_id=dataset.dataset_id,
        kind="files",
        location=dataset.location,
        empty=not files,
        bytes=sum(file.size for file in files),
        files=len(files),
    )


def _of_table(dataset: Dataset, storage: Storage) -> DatasetInfo:
    table = load_table(dataset, storage)
    current = None if table is None else table.current_snapshot()
    if table is None or current is None:
        return DatasetInfo(
            dataset_id=dataset.dataset_id, kind="table", location=dataset.location, empty=True
        )
    summary = current.summary
    return DatasetInfo(
        dataset_id=dataset.dataset_id,
        kind="table",
        location=dataset.location,
        empty=False,
        rows=_number(summary, "total-records"),
        bytes=_number(summary, "total-files-size"),
        files=_number(summary, "total-data-files"),
        columns={f.name: str(f.field_type) for f in table.schema().fields},
        snapshots=tuple(_snapshot(snapshot) for snapshot in _history(table)),
    )


def _number(summary: Any, name: str) -> int | None:
    value = summary[name] if summary is not None else None
    return None if value is None else int(value)


def _history(table: Any) -> list[Any]:
    """The snapshots of the main branch, newest first."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in table.snapshots()}
    found = []
    current = table.current_snapshot()
    while current is not None:
        found.append(current)
        current = by_id.get(current.parent_snapshot_id)
    return found


def _snapshot(snapshot: Any) -> dict[str, Any]:
    summary = snapshot.summary
    when = datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC)
    properties = dict(summary.additional_properties) if summary is not None else {}
    return {
        "snapshot": str(snapshot.snapshot_id),
        "at": when.isoformat(),
        "operation": summary.operation.value if summary is not None else None,
        "added_rows": _number(summary, "added-records"),
        "total_rows": _number(summary, "total-records"),
        "stage_run_id": properties.get("goldsmith-run-id"),
        "route": properties.get(ROUTE_PROPERTY),
    }


def overview(catalog_index: CatalogIndex, dataset_id: str) -> dict[str, Any]:
    """Where a dataset is, and which stages write and read it."""
    dataset = dataset_of(dataset_id, catalog_index.rows)
    writers = [stage_id(stage) for stage in dataset.writers]
    around = catalog_index.dependents.get(("dataset", dataset_id), ())
    return {
        "dataset_id": dataset_id,
        "kind": dataset_kind(dataset),
        "location": dataset.location,
        "written_by": writers,
        "read_by": [stage for stage in around if stage not in writers],
    }


def sample(dataset: Dataset, storage: Storage, most: int) -> list[dict[str, Any]]:
    """Some published rows of a lake table."""
    table = load_table(dataset, storage)
    if table is None or table.current_snapshot() is None:
        return []
    with readable(name_of(dataset) or ()):
        rows: list[dict[str, Any]] = table.scan(limit=most).to_arrow().to_pylist()
    return rows
