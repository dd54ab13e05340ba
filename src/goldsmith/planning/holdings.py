"""What a dataset holds, without starting Spark: its schema, snapshots, size and some rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from goldsmith.catalog.snapshot import Snapshot
from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.planning.explain import dataset_kind
from goldsmith.planning.files import list_files
from goldsmith.planning.lake import load_table
from goldsmith.planning.neighbourhood import Dataset, dataset_of
from goldsmith.planning.places import Places


@dataclass(eq=False, kw_only=True)
class UnknownDataset(GoldsmithError):
    """No row of sources or targets has this id."""

    dataset_id: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"There is no dataset '{self.dataset_id}'."

    @property
    def hint(self) -> str:
        guess = nearest(self.dataset_id, self.known)
        return (f"Did you mean '{guess}'? " if guess else "") + f"Known: {one_of(self.known)}."


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """What a dataset holds right now."""

    dataset_id: str
    #: files, table or warehouse.
    kind: str
    location: str | None
    #: Nothing was ever written there.
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


def find(rows: Snapshot, dataset_id: str) -> Dataset:
    """A dataset by its id."""
    if dataset_id not in rows.dataset_ids:
        raise UnknownDataset(dataset_id=dataset_id, known=tuple(sorted(rows.dataset_ids)))
    return dataset_of(dataset_id, rows)


def holding(dataset: Dataset, places: Places) -> Holding:
    """What a dataset holds right now."""
    match dataset_kind(dataset):
        case "files":
            return _of_files(dataset, places)
        case "table":
            return _of_table(dataset, places)
        case kind:
            return Holding(
                dataset_id=dataset.dataset_id, kind=kind, location=dataset.location, empty=False
            )


def _of_files(dataset: Dataset, places: Places) -> Holding:
    files = list_files(dataset.location or "", places)
    return Holding(
        dataset_id=dataset.dataset_id,
        kind="files",
        location=dataset.location,
        empty=not files,
        bytes=sum(file.size for file in files),
        files=len(files),
    )


def _of_table(dataset: Dataset, places: Places) -> Holding:
    table = load_table(dataset, places)
    current = None if table is None else table.current_snapshot()
    if table is None or current is None:
        return Holding(
            dataset_id=dataset.dataset_id, kind="table", location=dataset.location, empty=True
        )
    summary = current.summary
    return Holding(
        dataset_id=dataset.dataset_id,
        kind="table",
        location=dataset.location,
        empty=False,
        rows=_number(summary, "total-records"),
        bytes=_number(summary, "total-files-size"),
        files=_number(summary, "total-data-files"),
        columns={f.name: str(f.field_type) for f in table.schema().fields},
        snapshots=tuple(_snapshot(one) for one in _history(table)),
    )


def _number(summary: Any, name: str) -> int | None:
    said = summary[name] if summary is not None else None
    return None if said is None else int(said)


def _history(table: Any) -> list[Any]:
    """The snapshots of main, newest first."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in table.snapshots()}
    found = []
    current = table.current_snapshot()
    while current is not None:
        found.append(current)
        current = by_id.get(current.parent_snapshot_id)
    return found


def _snapshot(snapshot: Any) -> dict[str, Any]:
    said = snapshot.summary
    when = datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC)
    properties = dict(said.additional_properties) if said is not None else {}
    return {
        "snapshot": str(snapshot.snapshot_id),
        "at": when.isoformat(),
        "operation": said.operation.value if said is not None else None,
        "added_rows": _number(said, "added-records"),
        "total_rows": _number(said, "total-records"),
        "stage_run_id": properties.get("goldsmith-run-id"),
    }


def sample(dataset: Dataset, places: Places, most: int) -> list[dict[str, Any]]:
    """Some rows of a lake table, as they are published."""
    table = load_table(dataset, places)
    if table is None or table.current_snapshot() is None:
        return []
    rows: list[dict[str, Any]] = table.scan(limit=most).to_arrow().to_pylist()
    return rows
