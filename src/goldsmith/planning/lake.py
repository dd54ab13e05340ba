"""The lake's tables without Spark: which snapshot is the newest, through pyiceberg."""

from __future__ import annotations

from typing import Any

from goldsmith.planning.neighbourhood import Dataset
from goldsmith.planning.places import Places
from goldsmith.planning.words import lake_name, layer_of


def load_table(dataset: Dataset, places: Places) -> Any | None:
    """A dataset's table as pyiceberg sees it; None where there is none."""
    catalog = places.lake()
    if catalog is None or not dataset.writers:
        return None
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from sqlalchemy.exc import OperationalError, ProgrammingError

    _lake, *name = lake_name(dataset.dataset_id, layer_of(dataset.writers[0])).split(".")
    try:
        return catalog.load_table(tuple(name))
    except (NoSuchTableError, NoSuchNamespaceError):
        return None
    except (OperationalError, ProgrammingError) as error:
        # Spark makes the list's own tables with the first table of the lake.
        if "iceberg_tables" in str(error.orig):
            return None
        raise


def current_snapshot(dataset: Dataset, places: Places) -> str | None:
    """The newest snapshot of a dataset's table; None where there is no table or no row."""
    table = load_table(dataset, places)
    snapshot = None if table is None else table.current_snapshot()
    return None if snapshot is None else str(snapshot.snapshot_id)
