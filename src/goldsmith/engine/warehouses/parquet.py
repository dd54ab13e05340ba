"""Write the rows of a warehouse table as Parquet, for a stage that reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goldsmith.engine.warehouses.staged import file_system
from goldsmith.storage import staging
from goldsmith.storage.storage import Storage


def write(storage: Storage, folder: str, schema: Any, batches: Iterable[Any]) -> None:
    """Write one file into a folder and remove everything else there."""
    import pyarrow.parquet as pq

    # Files of an earlier attempt would be read as rows of this one.
    staging.remove(storage, folder)
    system, root = file_system(storage, folder)
    system.create_dir(root, recursive=True)
    with (
        system.open_output_stream(f"{root}/part-00000.parquet") as file,
        pq.ParquetWriter(file, schema) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
