"""Parquet written for a stage that reads a warehouse table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goldsmith.engine import staging
from goldsmith.engine.warehouses.staged import file_system
from goldsmith.planning.places import Places


def write(places: Places, folder: str, schema: Any, batches: Iterable[Any]) -> None:
    """One file in a folder that holds nothing else."""
    import pyarrow.parquet as pq

    # Files of an earlier try would be read as rows of this one.
    staging.remove(places, folder)
    system, root = file_system(places, folder)
    system.create_dir(root, recursive=True)
    with (
        system.open_output_stream(f"{root}/part-00000.parquet") as file,
        pq.ParquetWriter(file, schema) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
