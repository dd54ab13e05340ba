"""The lake's tables without Spark: which snapshot is the newest, through pyiceberg."""

from __future__ import annotations

from typing import Any

from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.places import Places
from goldsmith.planning.words import lake_name, layer_of


def current_snapshot(dataset: Dataset, places: Places) -> str | None:
    """The newest snapshot of a dataset's table; None where there is no table or no row."""
    catalog = places.lake()
    if catalog is None or not dataset.writers:
        return None
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    _lake, *name = _table(dataset).split(".")
    try:
        table: Any = catalog.load_table(tuple(name))
    except (NoSuchTableError, NoSuchNamespaceError):
        return None
    snapshot = table.current_snapshot()
    return None if snapshot is None else str(snapshot.snapshot_id)


def _table(dataset: Dataset) -> str:
    return lake_name(dataset.dataset_id, layer_of(dataset.writers[0]))
